import type { CalendarDay } from '../../domain/zone.ts';
import { countedBack, furtherYears, numberedWeeks } from './counts.ts';
import {
  ago,
  daysIn,
  type Grain,
  grained,
  isBefore,
  LEAP_YEAR,
  latest,
  monthOf,
  overlaps,
  type Span,
  type Stretch,
  weekend,
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
  /\b(?:(in|during|since|over|of|last|this|past|early|late|mid)(?:\s+the)?[\s-]+)?(winter|spring|summer|autumn|fall)\b(?!\s+(?:boot|security|cloud|mvc|batch|framework|webflux)\b)(?:,?\s+(?:of\s+|in\s+)?(\d{4})\b(?:[/–-](\d{4}|\d{2})\b(?![/.:–-]\d))?)?/gi;
const YEAR =
  /\b(?:(?:in|during|since|of|from|until|till|before|after|prior to|by|throughout|year|around|early|late)\s+|mid[\s-]+)((?:19|20)\d{2})\b(?!-\d(?!\d{3}\b)|[/.:]\d)/gi;

/** Finds what the library does not read: parts of a year, months as numbers, weeks before the last, and years alone. */
export function ownDates(text: string, today: CalendarDay): readonly Span[] {
  const found = [
    ...partsOfYears(text, today),
    ...seasons(text, today),
    ...numberedMonths(text),
    ...counted(text, today),
    ...countedBack(text, today),
    ...numberedWeeks(text),
  ];
  const named = years(text, found);
  return [...found, ...named, ...furtherYears(text, named, found)];
}

function seasons(text: string, today: CalendarDay): readonly Span[] {
  return [...text.matchAll(SEASON)].flatMap((match): Span[] => {
    const [matched, preposition, name = '', begun, ended] = match;
    // A winter with one year is that in which it ends: "winter 2025/26" has both.
    const isPair = ended !== undefined && ended === String(Number(begun) + 1).slice(-ended.length);
    const words = ended === undefined || isPair ? matched : matched.slice(0, -ended.length - 1);
    const year = isPair && name.toLowerCase() === 'winter' ? String(Number(begun) + 1) : begun;
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
        year: year === undefined ? undefined : Number(year),
        inYear,
      },
    ];
  });
}

function years(text: string, known: readonly Span[]): readonly Span[] {
  return (
    [...text.matchAll(YEAR)]
      .filter((match) => !known.some((span) => overlaps(span, { index: match.index, text: match[0] })))
      // "in May of 2023" is a month.
      .filter((match) => !MONTH_BEFORE.test(text.slice(0, match.index)))
      .map((match): Span => {
        const year = Number(match[1]);
        return { index: match.index, text: match[0], ...grained({ year, month: 1, day: 1 }, 'year') };
      })
  );
}

const ORDINALS = ['first', 'second', 'third', 'fourth'];
/** "Q3", "the third quarter" and their halves, with the year behind, or before as in "2025-Q3". */
const PART_OF_YEAR =
  /(?:\b((?:19|20)\d{2})[\s/-]?|\b)(?:([qh])([1-4])|(?:the\s+)?(?:(first|second|third|fourth|last)|([1-4])(?:st|nd|rd|th))\s+(quarter|half))\b(?:(?:\s*[,/-]\s*|\s+(?:(?:of|in)\s+)?)((?:19|20)\d{2})\b|\s*['’](\d{2})\b)?/gi;
/** A number that stands for a quarter may be a question, a product or a rank. These words make it one. */
const BEFORE_PART =
  /\b(?:in|during|since|of|until|till|by|before|after|from|between|to|this|last)\s+(?:the\s+)?$/i;
const RELATIVE_YEAR_BEHIND =
  /^[\s,]*(?:of\s+)?(?:(?:the\s+)?(?:last|this|current|previous|past)\s+year|\S+\s+years?\s+ago)\b/i;

/** Finds quarters and halves of a year. Words such as "the first half" are often no part of a year: these need one. */
function partsOfYears(text: string, today: CalendarDay): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/[qh][1-4]\b|\b(?:quarter|half)\b/i.test(text)) return [];
  return [...text.matchAll(PART_OF_YEAR)].flatMap((match): Span[] => {
    const { index, 0: words } = match;
    const [, before, letter, digit, ordinal, number, noun, behind, short] = match;
    const months = /^h/i.test(letter ?? noun!) ? 6 : 3;
    const parts = 12 / months;
    const isLast = ordinal?.toLowerCase() === 'last';
    const part = isLast ? parts : Number(digit ?? number ?? ORDINALS.indexOf(ordinal!.toLowerCase()) + 1);
    if (part > parts) return [];
    const inYear = (year: number): Stretch => {
      const first = { year, month: (part - 1) * months + 1, day: 1 };
      return { first, after: { ...first, month: first.month + months } };
    };
    const named = before ?? behind ?? (short && `20${short}`);
    if (named !== undefined) return [{ index, text: words, ...inYear(Number(named)) }];
    const ofRelativeYear = RELATIVE_YEAR_BEHIND.test(text.slice(index + words.length));
    if (letter === undefined && !ofRelativeYear) return [];
    const isLone = !ofRelativeYear && !BEFORE_PART.test(text.slice(Math.max(0, index - 30), index));
    return [{ index, text: words, isLone, ...yearly(inYear, today) }];
  });
}

/** "2026-03" and "2026/03", which are no part of a longer number or name. */
const NUMBERED_MONTH = /(?<![\w./:-])((?:19|20)\d{2})[-/](0[1-9]|1[0-2])(?!\w|[-/.:]\d)/g;

function numberedMonths(text: string): readonly Span[] {
  return [...text.matchAll(NUMBERED_MONTH)].map(({ index, 0: words, 1: year, 2: month }): Span => {
    return { index, text: words, ...grained({ year: Number(year), month: Number(month), day: 1 }, 'month') };
  });
}

const COUNTED = /\b(?:the\s+)?(?:(previous|current)\s+(week|month|quarter|year)|this\s+(quarter))\b/gi;
/** "The year" is the current one after words for a part of it. */
const WHOLE_OF_PART =
  /\b(?:(?:beginning|start|middle|end)|(?:first|second|third|fourth|last)\s{1,3}(?:\w{1,5}\s{1,3})?(?:day|week|weekend|month|quarter|half)s?)\s{1,3}of\s{1,3}(the\s{1,3}(week|month|quarter|year))\b/gi;
/** In "the week before last Monday", the library counts from Monday. */
const BEFORE_LAST =
  /\bthe\s+(night|week|weekend|month|quarter|year)\s+before\s+last\b(?!\s+(?:night|week|month|quarter|year|spring|summer|autumn|fall|winter|[a-z]{3,6}day|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))/gi;

/** Finds periods that are counted from the current one: "the previous month", "the week before last". */
function counted(text: string, today: CalendarDay): readonly Span[] {
  if (!/\b(?:previous|current|quarter|last|of\s+the\s+(?:week|month|year))\b/i.test(text)) return [];
  const counts = [...text.matchAll(COUNTED)].map(
    ({ index, 0: words, 1: which, 2: unit, 3: quarter }): Span => {
      const back = which?.toLowerCase() === 'previous' ? 1 : 0;
      return { index, text: words, ...ago(back, (unit ?? quarter)!.toLowerCase() as Grain, today) };
    },
  );
  const beforeLast = [...text.matchAll(BEFORE_LAST)].map(({ index, 0: words, 1: unit = '' }): Span => {
    return { index, text: words, ...beforeTheLast(unit.toLowerCase(), today) };
  });
  const wholes = [...text.matchAll(WHOLE_OF_PART)].map(({ index, 0: words, 1: whole, 2: unit }): Span => {
    const at = index + words.length - whole!.length;
    return { index: at, text: whole!, ...grained(today, unit!.toLowerCase() as Grain) };
  });
  return [...counts, ...beforeLast, ...wholes];
}

function beforeTheLast(unit: string, today: CalendarDay): Stretch {
  if (unit === 'night') return ago(2, 'day', today);
  if (unit !== 'weekend') return ago(2, unit as Grain, today);
  const { first, after } = weekend('last', today);
  return { first: { ...first, day: first.day - 7 }, after: { ...after, day: after.day - 7 } };
}

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b\\.?';
const DAY = '(?:the\\s{1,3})?(\\d{1,2})(?:st|nd|rd|th)?';
const YEAR_BEHIND = '(?:,?\\s{1,3}(?:of\\s{1,3})?(\\d{4})\\b)';
const MONTH_BEHIND = `\\s{1,3}(?:of\\s{1,3})?(${MONTH})${YEAR_BEHIND}?`;
const TO = '(?:\\s{1,3}(?:to|until|till|through)\\s{1,3}|\\s{0,3}[-–—]\\s{0,3})';
const DAYS_OF_MONTH = [
  `(?<=\\bbetween\\s{1,3})${DAY}\\s{1,3}and\\s{1,3}${DAY}${MONTH_BEHIND}`,
  `(?<=\\bfrom\\s{1,3})${DAY}${TO}${DAY}${MONTH_BEHIND}`,
].map((pattern) => new RegExp(pattern, 'gi'));
/** "between May 3 and 5 people" names one day. */
const MONTH_AND_DAYS = new RegExp(
  `(?<=\\b(?:between|from)\\s{1,3})(${MONTH})\\s{1,3}${DAY}(?:\\s{1,3}and\\s{1,3}|${TO})${DAY}(?:${YEAR_BEHIND}|(?=\\s{0,3}(?:[?!.,;:]|$)))`,
  'gi',
);

/**
 * Finds two days of a month after "between" or "from". The library does not read the one, and in the other it takes the
 * days for hours: "from 3 to 5 May".
 */
export function daysOfMonth(text: string, today: CalendarDay): readonly Span[] {
  // V8 compiles patterns when they first run, which takes longer than a recall.
  if (!/\bbetween\b|\bfrom\s+(?:the\s+|[a-z]{3,9}\.?\s+)?\d/i.test(text)) return [];
  const matches = [
    ...DAYS_OF_MONTH.flatMap((pattern) => [...text.matchAll(pattern)]).map(
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
    if (name === 'may' && !year && isVerb(text.slice(index + words.length))) return [];
    if (from < 1 || from >= to || to > daysIn(month, LEAP_YEAR)) return [];
    return [{ index, text: words, ...(year === undefined ? yearly(inYear, today) : inYear(Number(year))) }];
  });
}

const MISLEADING = new RegExp(
  `\\bfrom(?=\\s{1,3}${DAY}\\s{1,3}(?:of\\s{1,3})?${MONTH})|\\bend\\s{1,3}of(?=\\s{1,3}${MONTH})`,
  'gi',
);

/**
 * Blanks what misleads the library: in "from 5 May" it takes the day for an hour, and "the end of May" for a single day.
 */
export function withoutMisleading(text: string): string {
  if (!/\bfrom\s+(?:the\s+)?\d|\bend\s+of\b/i.test(text)) return text;
  return text.replace(MISLEADING, (words) => ' '.repeat(words.length));
}

/** "3 to 5 may be enough" and "may 5 people come" name no day, "5 may in Rome" does. */
export function isVerb(behind: string): boolean {
  return VERB_BEHIND_MAY.test(behind);
}

const VERB_BEHIND_MAY =
  /^\s+(?!(?:in|on|at|by|and|or|to|with|for|from|about|until|till|through|last|this)\b)[a-z]/;

/** In "May '25" and "summer '25", the library and our patterns do not read the year. */
export function withShortYear(span: Span, text: string): Span {
  const end = span.index + span.text.length;
  const short = span.inYear && /^\s?['’](\d\d)\b/.exec(text.slice(end, end + 5));
  if (!short) return span;
  const year = 2000 + Number(short[1]);
  const words = text.slice(span.index, end + short[0].length);
  return { ...span, text: words, ...span.inYear!(year), inYear: undefined, year };
}

const LONE_YEAR = /(?<![\w./:])(?:19|20)\d{2}(?!\w|[/.:]\d)/g;
const LONE_NOW =
  /(?<=\b(?:and|to|until|till|through)\s{1,3})(?:now|(?:the\s{1,3})?present|(?<=\bto\s{1,3})date)\b/gi;
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
