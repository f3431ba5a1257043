import { invalidArgument } from './check.ts';
import { describe } from './describe.ts';
import { type Instant, LATEST, MILLISECONDS_PER_DAY, parseInstant } from './time.ts';

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: MILLISECONDS_PER_DAY,
  w: 7 * MILLISECONDS_PER_DAY,
};

const short = /^(\d+(?:\.\d+)?)\s*([smhdw])$/i;
const iso = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i;

/**
 * Parses a time to live and returns when it ends. `value` is a duration from `from` on ("7d", "24h", "90m", or ISO 8601
 * such as "P1Y2M10DT2H"; calendar months and years, in UTC) or an instant. Throws `invalid_argument` naming `field` for
 * anything else, and for an end that is not after `from`.
 */
export function parseTimeToLive(value: string | Date, from: Instant, field = 'ttl'): Instant {
  const until = typeof value === 'string' ? (afterDuration(value.trim(), from) ?? at(value)) : at(value);
  if (until !== undefined && until > from && until <= LATEST) return until;
  throw invalidArgument(field, whatIsWrong(value, until, from));
}

function whatIsWrong(value: string | Date, until: Instant | undefined, from: Instant): string {
  if (until === undefined)
    return `${describe(value)} is not a duration; write "7d", "24h", ISO 8601 such as "P7D", or a time to come`;
  return until <= from
    ? 'it would end before it began; give a duration above 0 or a time in the future'
    : 'it would end after the year 9999; leave it out for what never ends';
}

function afterDuration(text: string, from: Instant): Instant | undefined {
  const simple = short.exec(text);
  if (simple) return from + Math.round(Number(simple[1]) * (units[simple[2]!.toLowerCase()] as number));
  const match = iso.exec(text);
  if (!match || match.slice(1).every((part) => part === undefined) || /T$/i.test(text)) return undefined;
  const [years, months, weeks, days, hours, minutes, seconds] = match
    .slice(1)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number, number];
  const date = new Date(from);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCFullYear(date.getUTCFullYear() + years, date.getUTCMonth() + months);
  // A month after 31 January is the last day of February.
  date.setUTCDate(Math.min(day, daysInMonth(date)));
  const time = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  return date.getTime() + (weeks * 7 + days) * MILLISECONDS_PER_DAY + time;
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}

function at(value: string | Date): Instant | undefined {
  try {
    return parseInstant(value);
  } catch {
    return undefined;
  }
}
