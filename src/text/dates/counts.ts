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

const NUMBER = `(?:\\d{1,3}|an?|${NUMBER_WORDS.join('|')})`;
const UNIT = '(?<unit>day|week|month|year)s?';
const AGO = '\\s{1,3}ago\\b';

/** A way to count back from today: the words, and the period that their named parts mean. */
interface Form {
  readonly pattern: RegExp;
  /** Returns nothing for a number that makes no sense. */
  read(parts: Readonly<Record<string, string>>, today: CalendarDay): Stretch | undefined;
}

/** The words do not begin within a number or a list of numbers. */
function form(words: string, read: Form['read']): Form {
  return { pattern: new RegExp(`(?<![\\w.,/–—-])${words}`, 'gi'), read };
}

/** Months around half a year, and around a number of years and a half: the longer ago, the rougher the memory of it. */
const AROUND_HALF_YEAR = 1;
const AROUND_YEARS = 3;

const half: Form['read'] = ({ count, unit }, today) => {
  const units = count === undefined ? 0 : numberOf(count);
  if (unit === 'year') {
    const months = 12 * units + 6;
    const around = units === 0 ? AROUND_HALF_YEAR : AROUND_YEARS;
    return between(months - around, months + around, 'month', today);
  }
  return units === 0 ? ago(2, 'week', today) : between(units, units + 1, unit!, today);
};

/** Where the library reads nothing, or the wrong period: "2–3 weeks ago" as 3 weeks ago, "half a year ago" as this year. */
const FORMS: readonly Form[] = [
  // "2–3 weeks ago", "two or three weeks ago"
  form(
    `(?<less>${NUMBER})(?:\\s{0,3}[-–—]\\s{0,3}|\\s{1,3}(?:or|to|(?<=\\bbetween\\s{1,3}${NUMBER}\\s{1,3})and)\\s{1,3})(?<more>${NUMBER})\\s{1,3}${UNIT}${AGO}`,
    ({ less, more, unit }, today) =>
      numberOf(less!) < numberOf(more!) ? between(numberOf(less!), numberOf(more!), unit!, today) : undefined,
  ),
  // "a week or two ago", "a week or so ago"
  form(
    `(?<less>${NUMBER})\\s{1,3}${UNIT}\\s{1,3}or\\s{1,3}(?<more>so|${NUMBER})${AGO}`,
    ({ less, more, unit }, today) =>
      between(numberOf(less!), numberOf(more === 'so' ? less! : more!), unit!, today),
  ),
  // "half a year ago"
  form(`half\\s{1,3}an?\\s{1,3}(?<unit>year|month)${AGO}`, half),
  // "a year and a half ago"
  form(`(?<count>${NUMBER})\\s{1,3}${UNIT}\\s{1,3}and\\s{1,3}a\\s{1,3}half${AGO}`, half),
  // "1.5 years ago", "two and a half weeks ago"
  form(`(?<count>${NUMBER})(?:[.,]5|\\s?½|\\s{1,3}and\\s{1,3}a\\s{1,3}half)\\s{1,3}${UNIT}${AGO}`, half),
  // "two weekends ago"
  form(`(?<!\\b(?:or|to|and|than)\\s{1,3})(?<count>${NUMBER})\\s{1,3}weekends?${AGO}`, ({ count }, today) =>
    numberOf(count!) < 1 ? undefined : weekendsAgo(numberOf(count!), today),
  ),
  // "a fortnight ago"
  form(`(?<!\\b(?:or|to|and|than)\\s{1,3})(?<count>${NUMBER})\\s{1,3}fortnights?${AGO}`, ({ count }, today) =>
    between(2 * numberOf(count!), 2 * numberOf(count!), 'week', today),
  ),
  // "the last fortnight"
  form('the\\s{1,3}(?:last|past)\\s{1,3}fortnight\\b', (_, today) => ({
    first: ago(2, 'week', today).first,
    after: later(today, 'day'),
  })),
];

/** Finds periods that are counted back from today. */
export function countedBack(text: string, today: CalendarDay): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/\bago\b|\bfortnight\b/i.test(text)) return [];
  return FORMS.flatMap(({ pattern, read }) =>
    [...text.matchAll(pattern)].flatMap(({ index, 0: words, groups = {} }): Span[] => {
      const period = read(lowered(groups), today);
      return period ? [{ index, text: words, ...period }] : [];
    }),
  );
}

function lowered(groups: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const named = Object.entries(groups).filter(([, words]) => words !== undefined);
  return Object.fromEntries(named.map(([name, words]) => [name, words!.toLowerCase()]));
}

/** "A week" and "an hour" are one. */
function numberOf(word: string): number {
  return countOf(word) ?? 1;
}

function between(less: number, more: number, unit: string, today: CalendarDay): Stretch | undefined {
  if (less < 1 || less > more) return undefined;
  const [begin, end] = [more, less].map((count) => ago(count, unit as Grain, today));
  return { first: begin!.first, after: end!.after };
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
