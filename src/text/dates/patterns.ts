import type { CalendarDay } from '../../domain/zone.ts';
import {
  daysIn,
  grained,
  isBefore,
  LEAP_YEAR,
  latest,
  monthOf,
  overlaps,
  type Span,
  type Stretch,
  yearly,
} from './periods.ts';

const SEASONS = [
  ['winter', 12],
  ['spring', 3],
  ['summer', 6],
  ['autumn', 9],
  ['fall', 9],
] as const;
const SEASON =
  /\b(?:(in|during|since|over|of|last|this|past|early|late|mid)(?:\s+the)?[\s-]+)?(winter|spring|summer|autumn|fall)\b(?:,?\s+(?:of\s+|in\s+)?(\d{4})\b)?/gi;
const YEAR =
  /\b(in|during|since|of|from|until|till|before|after|by|throughout|year|around|early|late)\s+((?:19|20)\d{2})\b(?!-\d(?!\d{3}\b)|[/.:]\d)/gi;

/** Finds what the library does not read: seasons, and years that stand alone. */
export function seasonsAndYears(text: string, today: CalendarDay): readonly Span[] {
  const seasons = [...text.matchAll(SEASON)].flatMap((match): Span[] => {
    const [words, preposition, name = '', year] = match;
    // "fall" and "spring" are also verbs.
    if (preposition === undefined && year === undefined) return [];
    const [, month] = SEASONS.find(([each]) => each === name.toLowerCase())!;
    const season = (of: number) => {
      const first = { year: month === 12 ? of - 1 : of, month, day: 1 };
      return { first, after: { ...first, month: month + 3 } };
    };
    const found = year === undefined ? latest(season, today) : season(Number(year));
    const past = preposition?.toLowerCase() === 'last' && isBefore(today, found.after);
    const inYear = year === undefined && !past ? season : undefined;
    return [
      {
        index: match.index,
        text: words,
        ...(past ? latest(season, { ...found.first, day: 0 }) : found),
        inYear,
      },
    ];
  });
  const years = [...text.matchAll(YEAR)]
    .filter((match) => !seasons.some((span) => overlaps(span, { index: match.index, text: match[0] })))
    // "in May of 2023" is a month.
    .filter((match) => !MONTH_BEFORE.test(text.slice(0, match.index)))
    .map((match): Span => {
      const year = Number(match[2]);
      return { index: match.index, text: match[0], ...grained({ year, month: 1, day: 1 }, 'year') };
    });
  return [...seasons, ...years];
}

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b\\.?';
const DAY = '(?:the\\s{1,3})?(\\d{1,2})(?:st|nd|rd|th)?';
const YEAR_BEHIND = '(?:,?\\s{1,3}(?:of\\s{1,3})?(\\d{4})\\b)';
const DAYS_OF_MONTH = new RegExp(
  `(?<=\\bbetween\\s{1,3})${DAY}\\s{1,3}and\\s{1,3}${DAY}\\s{1,3}(?:of\\s{1,3})?(${MONTH})${YEAR_BEHIND}?`,
  'gi',
);
/** "between May 3 and 5 people" names one day. */
const MONTH_AND_DAYS = new RegExp(
  `(?<=\\bbetween\\s{1,3})(${MONTH})\\s{1,3}${DAY}\\s{1,3}and\\s{1,3}${DAY}(?:${YEAR_BEHIND}|(?=\\s{0,3}(?:[?!.,;:]|$)))`,
  'gi',
);

/** Finds what the library does not read after "between": two days of a month. */
export function afterBetween(text: string, today: CalendarDay): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/\bbetween\b/i.test(text)) return [];
  const matches = [
    ...[...text.matchAll(DAYS_OF_MONTH)].map(
      (match) => [match, match[3], match[1], match[2], match[4]] as const,
    ),
    ...[...text.matchAll(MONTH_AND_DAYS)].map(
      (match) => [match, match[1], match[2], match[3], match[4]] as const,
    ),
  ];
  return matches.flatMap(([{ index, 0: words }, name, first, last, year]): Span[] => {
    const month = monthOf(name as string);
    const [from, to] = [Number(first), Number(last)];
    const inYear = (of: number): Stretch => ({
      first: { year: of, month, day: from },
      after: { year: of, month, day: Math.min(to, daysIn(month, of)) + 1 },
    });
    if (from < 1 || from >= to || to > daysIn(month, LEAP_YEAR)) return [];
    return [{ index, text: words, ...(year === undefined ? yearly(inYear, today) : inYear(Number(year))) }];
  });
}

const LONE_YEAR = /(?<![\w./:])(?:19|20)\d{2}(?!\w|[/.:]\d)/g;
const LONE_NOW = /(?<=\b(?:and|to|until|till|through)\s{1,3})now\b/gi;
const LONE_MONTH = new RegExp(`(?<!\\d(?:st|nd|rd|th)?\\s{0,3})\\b${MONTH}(?!\\s{0,3}\\d)`, 'gi');

/**
 * Finds words that are not a date alone but may be one end of a range: a year, "now", or a month whose name is short or
 * a common word.
 */
export function loneEnds(text: string, today: CalendarDay, known: readonly Span[]): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/\bbetween\b|\b(?:to|until|till|through)\b|[-–—]/i.test(text)) return [];
  if (known.length === 0 && !/\b(?:between|from|since)\b/i.test(text)) return [];
  const years = [...text.matchAll(LONE_YEAR)].map(({ index, 0: words }): Span => {
    const year = { year: Number(words), month: 1, day: 1 };
    return { index, text: words, isLone: true, ...grained(year, 'year') };
  });
  const months = [...text.matchAll(LONE_MONTH)].map(({ index, 0: words }): Span => {
    const inYear = (year: number) => grained({ year, month: monthOf(words), day: 1 }, 'month');
    return { index, text: words, isLone: true, ...yearly(inYear, today) };
  });
  const nows = [...text.matchAll(LONE_NOW)].map(({ index, 0: words }): Span => {
    return { index, text: words, isLone: true, ...grained(today, 'day') };
  });
  return [...years, ...months, ...nows].filter((end) => !known.some((span) => overlaps(span, end)));
}

/** Matches whole words only: "married" and "decided" begin like months. */
const MONTH_BEFORE = new RegExp(`\\b${MONTH}(?:\\s+\\d{1,2}(?:st|nd|rd|th)?,?)?\\s*$`, 'i');
