import { type Instant, MILLISECONDS_PER_DAY } from './time.ts';

/** A day of a calendar. Months count from 1; both may lie outside of their year or month, and then roll over. */
export interface CalendarDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The day that a time zone's calendar shows at a moment. The zone of the process plays no part. */
export function calendarDay(at: Instant, timeZone: string): CalendarDay {
  const local = new Date(at + offsetAt(at, timeZone));
  return { year: local.getUTCFullYear(), month: local.getUTCMonth() + 1, day: local.getUTCDate() };
}

/** The first moment of a day in a time zone, also where a change of the clocks leaves midnight out. */
export function startOfDay({ year, month, day }: CalendarDay, timeZone: string): Instant {
  const wall = Date.UTC(year, month - 1, day);
  // The clocks may change between a moment and its offset: the earliest that shows this day is the one.
  const candidates = [wall - MILLISECONDS_PER_DAY, wall, wall + MILLISECONDS_PER_DAY]
    .map((near) => wall - offsetAt(near, timeZone))
    .filter((at) => at + offsetAt(at, timeZone) >= wall);
  return Math.min(...candidates);
}

/** Milliseconds that the clocks of a zone are ahead of UTC at a moment. */
function offsetAt(at: Instant, timeZone: string): number {
  if (timeZone === 'UTC') return 0;
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
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
