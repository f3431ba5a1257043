import { SalienceError } from './errors.ts';

/** A moment: milliseconds since 1970-01-01T00:00:00Z, a whole number. */
export type Instant = number;

/** A source of the present moment. The core never reads the system clock; this is how the edge hands it in. */
export type Clock = () => Instant;

export const MILLISECONDS_PER_DAY = 86_400_000;

const iso =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Reads an ISO 8601 date or date-time, or a `Date`. Offsets are converted to UTC, a time without an offset is UTC.
 * Throws `invalid_time` naming `field`.
 */
export function parseInstant(value: string | Date, field = 'time'): Instant {
  if (value instanceof Date) {
    const at = value.getTime();
    if (Number.isFinite(at)) return at;
    throw invalidTime(String(value), field);
  }
  const match = typeof value === 'string' ? iso.exec(value.trim()) : null;
  if (!match) throw invalidTime(value, field);
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const at = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.slice(0, 3).padEnd(3, '0')),
  );
  // Date.UTC rolls over what is out of range (31 February becomes March); a rolled-over date was a mistake.
  const back = new Date(at);
  if (
    back.getUTCMonth() + 1 !== Number(month) ||
    back.getUTCDate() !== Number(day) ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59
  ) {
    throw invalidTime(value, field);
  }
  return at - offsetMinutes(zone) * 60_000;
}

/** The instant as ISO 8601 in UTC with milliseconds. */
export function formatInstant(at: Instant): string {
  return new Date(at).toISOString();
}

/** Days from `at` to `now`, never negative: a future time counts as now. */
export function ageInDays(at: Instant, now: Instant): number {
  return Math.max(0, now - at) / MILLISECONDS_PER_DAY;
}

function offsetMinutes(zone: string): number {
  if (zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replace(':', '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith('-') ? -minutes : minutes;
}

function invalidTime(value: unknown, field: string): SalienceError {
  return new SalienceError(
    'invalid_time',
    `${field}: ${JSON.stringify(value)} is not a time; write ISO 8601, for example 2026-04-20T09:30:00Z`,
    { details: { field } },
  );
}
