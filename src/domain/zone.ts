import { type Instant, MILLISECONDS_PER_DAY } from './time.ts';

/** A day of a calendar. Months count from 1; both may lie outside of their year or month, and then roll over. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Midnight of a day by UTC. `Date.UTC` takes the years 0 to 99 for those of the 20th century. */
export function midnightOf({ year, month, day }: CalendarDay): Instant {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

/** The day that a time zone's calendar shows at a moment. The zone of the process plays no part. */
export function calendarDay(at: Instant, timeZone: string): CalendarDay {
  const local = new Date(at + offsetAt(at, timeZone));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** The first moment of a day in a time zone, also where a change of the clocks leaves midnight out. */
export function startOfDay(day: CalendarDay, timeZone: string): Instant {
  const wall = midnightOf(day);
  // The clocks may change between a moment and its offset: the earliest that shows this day is the one.
  const candidates = [wall - MILLISECONDS_PER_DAY, wall, wall + MILLISECONDS_PER_DAY]
    .map((near) => wall - offsetAt(near, timeZone))
    .filter((at) => at + offsetAt(at, timeZone) >= wall);
  return Math.min(...candidates);
}

/** Before it a formatted year may be one before Christ, and does not say so. No zone had changed its clocks yet. */
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
