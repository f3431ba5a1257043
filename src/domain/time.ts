import { describe } from './describe.ts';
import { SalienceError, thrownBy } from './errors.ts';

/** A moment: milliseconds since 1970-01-01T00:00:00Z, a whole number. */
export type Instant = number;

/** Returns the current time. The core never reads the system clock; `openMemory` passes it in. */
export type Clock = () => Instant;

export const MILLISECONDS_PER_DAY = 86_400_000;

/** The range of ISO 8601 with four-digit years. */
const EARLIEST: Instant = Date.parse('0000-01-01T00:00:00Z');
export const LATEST: Instant = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether a value is an instant that every time field and format can represent. */
export function isInstant(value: unknown): value is Instant {
  return Number.isInteger(value) && (value as number) >= EARLIEST && (value as number) <= LATEST;
}

/** Wraps a clock so that it throws `invalid_argument` for a time that cannot be stored, and when it fails. */
export function checkedClock(clock: Clock): Clock {
  const read = (): unknown => {
    try {
      return clock();
    } catch (cause) {
      throw thrownBy('clock', cause);
    }
  };
  return () => {
    const at = read();
    if (isInstant(at)) return at;
    throw new SalienceError(
      'invalid_argument',
      `clock: returned ${String(at)}; expected whole milliseconds since 1970, within the years 0 to 9999`,
      { details: { field: 'clock' } },
    );
  };
}

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Parses an ISO 8601 date or date-time, or a `Date`, in the years 0 to 9999. Converts offsets to UTC; a time without an
 * offset is UTC. Throws `invalid_time` naming `field`.
 */
export function parseInstant(value: string | Date, field = 'time'): Instant {
  if (value instanceof Date) {
    const at = value.getTime();
    if (isInstant(at)) return at;
    throw Number.isFinite(at) ? outOfRange(value.toISOString(), field) : invalidTime(String(value), field);
  }
  const match = typeof value === 'string' ? iso.exec(value.trim()) : null;
  if (!match) throw invalidTime(value, field);
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  // Not Date.UTC, which takes the years 0 to 99 for those of the 20th century.
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, '0')));
  const offset = offsetMinutes(zone);
  // `Date` rolls over values out of range (31 February becomes March). Treat those as invalid.
  if (
    date.getUTCMonth() + 1 !== Number(month) ||
    date.getUTCDate() !== Number(day) ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59 ||
    offset === undefined
  ) {
    throw invalidTime(value, field);
  }
  const at = date.getTime() - offset * 60_000;
  if (!isInstant(at)) throw outOfRange(value, field);
  return at;
}

/** The instant as ISO 8601 in UTC with milliseconds. */
export function formatInstant(at: Instant): string {
  return new Date(at).toISOString();
}

/** Days from `at` to `now`, never negative: a future time counts as now. */
export function ageInDays(at: Instant, now: Instant): number {
  return Math.max(0, now - at) / MILLISECONDS_PER_DAY;
}

/** `undefined` if the hours exceed 23 or the minutes 59. */
function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2) || 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function outOfRange(value: unknown, field: string): SalienceError {
  return new SalienceError('invalid_time', `${field}: ${describe(value)} is not within the years 0 to 9999`, {
    details: { field },
  });
}

function invalidTime(value: unknown, field: string): SalienceError {
  return new SalienceError(
    'invalid_time',
    `${field}: ${describe(value)} is not a time; write ISO 8601, for example 2026-04-20T09:30:00Z`,
    { details: { field } },
  );
}
