import type { CalendarDay } from '../../domain/zone.ts';
import {
  ago,
  countOf,
  type Grain,
  grained,
  later,
  NUMBER_WORDS,
  overlaps,
  type Span,
  type Stretch,
  weekdayOf,
  weekend,
} from './periods.ts';

const ANY_NUMBER = `(?:\\d{1,3}|an?|${NUMBER_WORDS.join('|')})`;
const NUMBER = `(${ANY_NUMBER})`;

/** The library reads "2–3 weeks ago" as 3 weeks ago. */
const ONE_OR_OTHER_AGO = new RegExp(
  `(?<![\\w.,/–—-])${NUMBER}(?:\\s{0,3}[-–—]\\s{0,3}|\\s{1,3}(?:or|to|(?<=\\bbetween\\s{1,3}${ANY_NUMBER}\\s{1,3})and)\\s{1,3})${NUMBER}\\s{1,3}(day|week|month|year)s?\\s{1,3}ago\\b`,
  'gi',
);
/** "A week or two ago" and "a week or so ago", of which the library reads nothing. */
const OR_SO_AGO = new RegExp(
  `(?<![\\w.,/–—-])${NUMBER}\\s{1,3}(day|week|month|year)s?\\s{1,3}or\\s{1,3}(so|${ANY_NUMBER})\\s{1,3}ago\\b`,
  'gi',
);
/** "Half a year ago", "a year and a half ago", "two and a half weeks ago" and "1.5 years ago": the library reads other units. */
const HALF_AGO = new RegExp(
  `(?<![\\w.,/–—-])(?:(half)\\s{1,3}an?\\s{1,3}(year|month)|${NUMBER}\\s{1,3}(day|week|month|year)s?\\s{1,3}and\\s{1,3}a\\s{1,3}half|` +
    `(?:(\\d{1,2})(?:[.,]5|\\s?½)|${NUMBER}\\s{1,3}and\\s{1,3}a\\s{1,3}half)\\s{1,3}(day|week|month|year)s?)\\s{1,3}ago\\b`,
  'gi',
);
/** Units that the library does not know. */
const OTHER_UNIT_AGO = new RegExp(
  `(?<![\\w.,/–—-])(?<!\\b(?:or|to|and|than)\\s{1,3})${NUMBER}\\s{1,3}(weekend|fortnight)s?\\s{1,3}ago\\b`,
  'gi',
);
const LAST_FORTNIGHT = /\bthe\s{1,3}(?:last|past)\s{1,3}fortnight\b/gi;

/** Finds periods that are counted back from today, where the library reads nothing or the wrong one. */
export function countedBack(text: string, today: CalendarDay): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/\bago\b|\bfortnight\b/i.test(text)) return [];
  const ranges = [...text.matchAll(ONE_OR_OTHER_AGO)].flatMap(
    ({ index, 0: words, 1: one, 2: other, 3: unit }): Span[] => {
      const [less, more] = [numberOf(one!), numberOf(other!)];
      return less < more
        ? between(less, more, unit!, today).map((period) => ({ index, text: words, ...period }))
        : [];
    },
  );
  const about = [...text.matchAll(OR_SO_AGO)].flatMap(
    ({ index, 0: words, 1: one, 2: unit, 3: other }): Span[] => {
      const less = numberOf(one!);
      const more = other!.toLowerCase() === 'so' ? less : numberOf(other!);
      return less <= more
        ? between(less, more, unit!, today).map((period) => ({ index, text: words, ...period }))
        : [];
    },
  );
  const halves = [...text.matchAll(HALF_AGO)].flatMap(({ index, 0: words, 1: half, ...match }): Span[] => {
    const count = half ? 0 : numberOf((match[3] ?? match[5] ?? match[6])!);
    const unit = (match[2] ?? match[4] ?? match[7])!.toLowerCase();
    return halfMore(count, unit, today).map((period) => ({ index, text: words, ...period }));
  });
  const others = [...text.matchAll(OTHER_UNIT_AGO)].flatMap(
    ({ index, 0: words, 1: number, 2: unit }): Span[] => {
      const count = numberOf(number!);
      if (count < 1) return [];
      const isFortnight = unit!.toLowerCase() === 'fortnight';
      const period = isFortnight ? ago(2 * count, 'week', today) : weekendsAgo(count, today);
      return [{ index, text: words, ...period }];
    },
  );
  const fortnights = [...text.matchAll(LAST_FORTNIGHT)].map(({ index, 0: words }): Span => {
    return { index, text: words, first: ago(2, 'week', today).first, after: later(today, 'day') };
  });
  return [...ranges, ...about, ...halves, ...others, ...fortnights];
}

/** "A week" and "an hour" are one. */
function numberOf(word: string): number {
  return countOf(word.toLowerCase()) ?? 1;
}

function between(less: number, more: number, unit: string, today: CalendarDay): readonly Stretch[] {
  if (less < 1) return [];
  const [begin, end] = [more, less].map((count) => ago(count, unit.toLowerCase() as Grain, today));
  return [{ first: begin!.first, after: end!.after }];
}

/** Months around half a year, and around a number of years and a half: the longer ago, the rougher the memory of it. */
const AROUND_HALF_YEAR = 1;
const AROUND_YEARS = 3;

/** Returns the period that lies a number of units and a half back. */
function halfMore(count: number, unit: string, today: CalendarDay): readonly Stretch[] {
  if (unit === 'year') {
    const months = 12 * count + 6;
    const around = count === 0 ? AROUND_HALF_YEAR : AROUND_YEARS;
    return between(months - around, months + around, 'month', today);
  }
  return count === 0 ? [ago(2, 'week', today)] : between(count, count + 1, unit, today);
}

function weekendsAgo(count: number, today: CalendarDay): Stretch {
  const { first, after } = weekend('last', today);
  const days = 7 * (count - 1);
  return { first: { ...first, day: first.day - days }, after: { ...after, day: after.day - days } };
}

/** "Week 19 of 2026" and "2026-W19". */
const NUMBERED_WEEK =
  /\b(?:(?:calendar\s{1,3})?week\s{1,3}(\d{1,2})(?:,?\s{1,3}(?:of\s{1,3}|in\s{1,3})?)((?:19|20)\d{2})|((?:19|20)\d{2})-?W(\d{2}))\b(?![-/.:]\d)/gi;

/** Finds the weeks of ISO 8601: they begin on Monday, and the first one of a year has its 4 January. */
export function numberedWeeks(text: string): readonly Span[] {
  if (!/\bweek\s{1,3}\d|\dw\d|-w\d/i.test(text)) return [];
  return [...text.matchAll(NUMBERED_WEEK)].flatMap((match): Span[] => {
    const { index, 0: words } = match;
    const number = Number(match[1] ?? match[4]);
    const year = Number(match[2] ?? match[3]);
    const { first } = grained({ year, month: 1, day: 4 }, 'week');
    if (number < 1 || number > weeksIn(year)) return [];
    return [{ index, text: words, ...grained(later(first, 'week', number - 1), 'week') }];
  });
}

/** A year has 53 weeks if it begins or ends on a Thursday. */
function weeksIn(year: number): number {
  const ends = [weekdayOf({ year, month: 1, day: 1 }), weekdayOf({ year, month: 12, day: 31 })];
  return ends.includes(4) ? 53 : 52;
}

/** In "2020 people", the number is no year. */
const FURTHER_YEAR =
  /^(?:,\s{0,3}|,?\s{1,3}(?:and|or)\s{1,3})(?:in\s{1,3})?((?:19|20)\d{2})\b(?![-–—/.:,%]\d|[%€$£]|['’\w]|\s{1,3}(?!(?:in|on|at|by|and|or|to|with|for|from|about|until|till|through|did|was|were)\b)[a-z])/;
const BEFORE_YEARS = /^(?:in|during|throughout)\b/i;

/** Finds the years after the first one in "in 2019, 2020 and 2021". */
export function furtherYears(text: string, years: readonly Span[], known: readonly Span[]): readonly Span[] {
  return years
    .filter(({ text: words }) => BEFORE_YEARS.test(words))
    .flatMap(({ index, text: words }) => {
      const found: Span[] = [];
      for (let at = index + words.length; ; ) {
        const match = FURTHER_YEAR.exec(text.slice(at, at + 60));
        if (!match) return found;
        const [, year = ''] = match;
        at += match[0].length;
        const span = { index: at - year.length, text: year };
        if ([...known, ...years].some((other) => overlaps(other, span))) return found;
        found.push({ ...span, ...grained({ year: Number(year), month: 1, day: 1 }, 'year') });
      }
    });
}
