import { type Instant, MILLISECONDS_PER_DAY } from './time.ts';

/** A calendar day. Months count from 1. A month or day out of range rolls over to the next or previous year or month. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Midnight of a day in UTC. Does not use `Date.UTC`, which maps the years 0 to 99 to the 20th century. */
export function midnightOf({ year, month, day }: CalendarDay): Instant {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** The calendar day of an instant in a time zone. Independent of the time zone of the process. */
export function calendarDay(at: Instant, timeZone: string): CalendarDay {
  const local = new Date(at + offsetAt(at, timeZone));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** The first instant of a day in a time zone, even if a clock change skips midnight. */
export function startOfDay(day: CalendarDay, timeZone: string): Instant {
  const wall = midnightOf(day);
  // The offset may change near midnight. Try the offsets around it, and take the earliest instant of this day.
  const candidates = [wall - MILLISECONDS_PER_DAY, wall, wall + MILLISECONDS_PER_DAY]
    .map((near) => wall - offsetAt(near, timeZone))
    .filter((at) => at + offsetAt(at, timeZone) >= wall);
  return Math.min(...candidates);
}

/** Earlier formatted years may be BC without saying so. No zone had changed its clocks before this time. */
const FIRST_KNOWN = midnightOf({ year: 2, month: 1, day: 1 });

/** Milliseconds that the clocks of a zone are ahead of UTC at a moment. */
function offsetAt(at: Instant, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const known = Math.max(at, FIRST_KNOWN);
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(known)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const seconds = (hour * 60 + minute) * 60 + second;
  return midnightOf({ year, month, day }) + (seconds - Math.floor(known / 1000)) * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timeZone, format);
  }
  return format;
}
