import { type CalendarDay, midnightOf } from '../../domain/zone.ts';

/** A period from `first` to before `after`. */
export interface Stretch {
  readonly first: CalendarDay;
  readonly after: CalendarDay;
  /** The same period in a given year; set if the text did not name the year. */
  readonly inYear?: ((year: number) => Stretch) | undefined;
}

export interface Span extends Stretch {
  readonly index: number;
  readonly text: string;
  /** The year that the text names. The winter of 2023 begins in 2022. */
  readonly year?: number | undefined;
  /** Whether it names both ends of a range. */
  readonly isRange?: boolean | undefined;
  /** Whether it names a date only as one end of a range, as the year in "to 2023". */
  readonly isLone?: boolean | undefined;
  /** Whether it is a day of the week without a date. */
  readonly isWeekday?: boolean | undefined;
}

/** The words that count are the last ones before a date. To search all that precedes each date would be slow in long texts. */
export const LOOKED_BACK = 60;

export const NUMBER_WORDS = [
  ...['one', 'two', 'three', 'four', 'five', 'six'],
  ...['seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
];

/** Returns the number of digits or of a word in lower case; `undefined` if it is neither. */
export function countOf(word: string): number | undefined {
  return /^\d/.test(word) ? Number(word) : NUMBER_WORDS.indexOf(word) + 1 || undefined;
}

/** The days of the week from Sunday on, and the weekend. */
export const WEEKDAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'weekend',
] as const;

export type Grain = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** Returns the period from the first day of the earlier one to the last day of the later one. */
export function between(begin: Stretch, end: Stretch): Stretch {
  const [from, to] = inYearsOf(begin, end);
  const [a, b] = isBefore(to.first, from.first) ? [to, from] : [from, to];
  const yearOfEnd = begin.inYear && end.inYear;
  const inYear = yearOfEnd && ((year: number) => between(begin, yearOfEnd(year)));
  return { first: a.first, after: b.after, inYear };
}

/** Moves a weekday that would be before `begin` on by a week: "from Monday to Friday", said on a Wednesday, is not over. */
export function notBefore({ first }: Stretch, end: Stretch): Stretch {
  return isBefore(end.first, first) ? grained({ ...end.first, day: end.first.day + 7 }, 'day') : end;
}

/** Gives both ends of a range a year, where at most one names it. */
function inYearsOf(begin: Stretch, end: Stretch): readonly [begin: Stretch, end: Stretch] {
  if (end.inYear) return [begin, afterBegin(end.inYear, begin)];
  return [begin.inYear ? beforeEnd(begin.inYear, end) : begin, end];
}

/** In "from November to February 2023", the first month is of the year before. */
function beforeEnd(inYear: (year: number) => Stretch, { first }: Stretch): Stretch {
  const begin = inYear(first.year);
  return isBefore(first, begin.first) ? inYear(first.year - 1) : begin;
}

/** In "from June to August", said in July, the end is still to come. */
function afterBegin(inYear: (year: number) => Stretch, { first }: Stretch): Stretch {
  const end = inYear(first.year);
  return isBefore(end.first, first) ? inYear(first.year + 1) : end;
}

export function monthOf(name: string): number {
  return 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
}

export const LEAP_YEAR = 2024;

export function daysIn(month: number, year: number): number {
  return new Date(midnightOf({ year, month: month + 1, day: 0 })).getUTCDate();
}

/**
 * Returns the latest Saturday and Sunday that have begun. With "last", those of the week before; with "next", the
 * coming ones.
 */
export function weekend(words: string, today: CalendarDay): Stretch {
  const back = (weekdayOf(today) + 1) % 7;
  const isRunning = back <= 1;
  const shift = /\bnext\b/i.test(words) ? 7 : /\blast\b/i.test(words) && isRunning ? -7 : 0;
  const first = { ...today, day: today.day - back + shift };
  return { first, after: { ...first, day: first.day + 2 } };
}

/** Returns the latest of yearly periods that began on or before a day. */
export function latest(of: (year: number) => Stretch, today: CalendarDay): Stretch {
  const found = [today.year + 1, today.year, today.year - 1].map(of);
  return found.find(({ first }) => !isBefore(today, first)) ?? found[2]!;
}

/** Returns a day, or an empty period if its month has no such day in that year. */
export function dayOf(day: CalendarDay): Stretch {
  return day.day > daysIn(day.month, day.year) ? { first: day, after: day } : grained(day, 'day');
}

/** Returns the latest 29 February on or before a day. */
export function latestLeapDay(today: CalendarDay): Stretch {
  let first = { year: today.year, month: 2, day: 29 };
  while (isBefore(today, first) || daysIn(2, first.year) < 29) first = { ...first, year: first.year - 1 };
  return grained(first, 'day');
}

/** Returns the same period with `inYear`, because the text may still name the year. */
export function yearly(inYear: (year: number) => Stretch, today: CalendarDay): Stretch {
  return { ...latest(inYear, today), inYear };
}

export function grained(at: CalendarDay, grain: Grain): Stretch {
  const first =
    grain === 'year'
      ? { ...at, month: 1, day: 1 }
      : grain === 'quarter'
        ? { ...at, month: at.month - ((at.month - 1) % 3), day: 1 }
        : grain === 'month'
          ? { ...at, day: 1 }
          : grain === 'week'
            ? { ...at, day: at.day - ((weekdayOf(at) + 6) % 7) }
            : at;
  return { first, after: later(first, grain) };
}

/** Returns the period that lies a number of units before the current one. */
export function ago(units: number, grain: Grain, today: CalendarDay): Stretch {
  const first = later(grained(today, grain).first, grain, -units);
  return { first, after: later(first, grain) };
}

export function later({ year, month, day }: CalendarDay, grain: Grain, units = 1): CalendarDay {
  if (grain === 'year') return { year: year + units, month, day };
  if (grain === 'quarter') return { year, month: month + 3 * units, day };
  if (grain === 'month') return { year, month: month + units, day };
  return { year, month, day: day + (grain === 'week' ? 7 : 1) * units };
}

/** 0 for Sunday. */
export function weekdayOf(day: CalendarDay): number {
  return new Date(midnightOf(day)).getUTCDay();
}

export function isBefore(a: CalendarDay, b: CalendarDay): boolean {
  return midnightOf(a) < midnightOf(b);
}

export function overlaps(
  a: { readonly index: number; readonly text: string },
  b: { readonly index: number; readonly text: string },
): boolean {
  return a.index < b.index + b.text.length && b.index < a.index + a.text.length;
}
