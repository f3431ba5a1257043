import type { Chrono, ParsedResult, Parser, Refiner } from 'chrono-node';
import { type CalendarDay, calendarDay } from '../../domain/zone.ts';
import type { DateContext } from './dates.ts';
import { isVerb, withoutMisleading } from './patterns.ts';
import {
  ago,
  between,
  dayOf,
  type Grain,
  grained,
  isBefore,
  LOOKED_BACK,
  later,
  latestLeapDay,
  notBefore,
  overlaps,
  type Span,
  type Stretch,
  weekdayOf,
  weekend,
  yearly,
} from './periods.ts';

export async function parsedSpans(
  text: string,
  context: DateContext,
  today: CalendarDay,
  known: readonly Span[],
): Promise<Span[]> {
  // Loaded on demand: most queries name no date, and a command line should not load what it does not need.
  const { Chrono, casual } = await import('chrono-node/en');
  const instant = noonHere(today);
  const spans: Span[] = [];
  parser ??= new Chrono({
    parsers: casual.parsers.map(onlyWithItsEnding),
    refiners: casual.refiners.map(keepingOurs),
  });
  for (const result of parser.parse(withoutMisleading(text), {
    instant,
    timezone: -instant.getTimezoneOffset(),
  })) {
    if (known.some((span) => overlaps(span, result))) continue;
    const span = spanOf(result, text, { ...context, today, noon: instant });
    if (span) spans.push(span);
  }
  return spans;
}

let parser: Chrono | undefined;

/** Noon of a day by the clocks of this process, by which the library reads the day that it counts from. */
function noonHere({ year, month, day }: CalendarDay): Date {
  const noon = new Date(2000, 0, 1, 12);
  noon.setFullYear(year, month - 1, day);
  return noon;
}

/**
 * The endings of two patterns of the library, and what a text must contain for them to match. V8 takes 50 ms to compile
 * each pattern when it is used for the second time, and continuing after a date that was found is such a use.
 */
const ENDINGS = [
  ['(?:ago|before|earlier)', /ago|before|earlier/i],
  ['(?:later|after|from now|henceforth|forward|out)', /later|after|from now|henceforth|forward|out/i],
] as const;

/** Wraps a parser so that it skips a text, or the rest of one, in which its pattern cannot end. */
export function onlyWithItsEnding(parser: Parser): Parser {
  return {
    pattern(context) {
      const pattern = parser.pattern(context);
      const ending = ENDINGS.find(([source]) => pattern.source.includes(source))?.[1];
      return ending ? new EndingPattern(pattern, ending) : pattern;
    },
    extract: (context, match) => parser.extract(context, match),
  };
}

class EndingPattern extends RegExp {
  readonly #ending: RegExp;

  constructor(pattern: RegExp, ending: RegExp) {
    super(pattern);
    this.#ending = ending;
  }

  override exec(text: string): RegExpExecArray | null {
    return this.#ending.test(text) ? super.exec(text) : null;
  }
}

/**
 * Wraps a refiner so that it keeps the month "May", and 29 February without a year. The library drops the one unless
 * "in" precedes it, and the other if the year nearest to now has no such day; here {@link rangeOf} decides. A result that
 * became part of a longer one is not kept.
 */
function keepingOurs(refiner: Refiner): Refiner {
  return {
    refine(context, results) {
      const refined = refiner.refine(context, results);
      const dropped = results.filter(
        (result) =>
          (/^may$/i.test(result.text) || isLeapDay(result.start)) &&
          !refined.some((other) => overlaps(other, result)),
      );
      return dropped.length === 0 ? refined : [...refined, ...dropped].sort((a, b) => a.index - b.index);
    },
  };
}

/** Whether a date is 29 February of a year that is not named. */
function isLeapDay(date: ParsedResult['start']): boolean {
  const isNamed = date.isCertain('day') && date.isCertain('month') && !date.isCertain('year');
  return isNamed && date.get('month') === 2 && date.get('day') === 29;
}

/** Finds the first unit that is named: "2 yr ago", "3mo ago". */
const UNIT_WITH_GRAIN = /(?:\b|\d)(day|d|week|w|fortnight|month|mos|mo|quarter|qtr|year|yr|y|decade)s?\b/i;
const GRAINS: readonly (readonly [RegExp, Grain])[] = [
  [/^w/, 'week'],
  [/^mo/, 'month'],
  [/^q/, 'quarter'],
  [/^y/, 'year'],
];

const PREPOSITIONS =
  '(?:in|on|during|since|until|till|by|before|after|from|of|around|between|last|past|previous|this|next|every|early|late|mid)[\\s-]+(?:the\\s+)?';
const PREPOSITION = new RegExp(`\\b${PREPOSITIONS}$`, 'i');
/** In "on Monday and Tuesday", the second day has its preposition from the first. */
const SECOND_WEEKDAY = new RegExp(`\\b${PREPOSITIONS}[a-z]{3,6}day,?\\s+(?:and|or)\\s+$`, 'i');

/** Matches whole words only: "market" and "decide" begin like months. */
const DATE_WORD =
  /\b(?:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s|sday)?|wed(?:s|nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|saturday|sunday|yesterday|today|tonight|tomorrow|midnight|weekend|fortnight)(?:['’]s|s)?\b/i;

/**
 * Words that are usually not dates, and what makes them dates: a number, a time of day or of the year, another such
 * word, a preposition.
 */
const COMMON_WORD = /\b(?:may|mar(?:ch)?|sat|sun)(?:['’]s|s)?\b/gi;
const COMPANION = /\d|\b(?:(?:mid)?night|evening|afternoon|noon|morning|(?:quarter|qtr)s?)\b/i;
const COMMON_WORD_AFTER_PREPOSITION = new RegExp(`\\b${PREPOSITIONS}${COMMON_WORD.source}`, 'i');

/** Matches "7/5/2023", "2023-05-07", "7.5.2023", "2023 5 7", but no versions, ports or quantities. */
const NUMBERS_AS_DATE = /\d[-/]\d|\d\.\d+\.\d|\d{4}\s+\d{1,2}\s/;

/** Matches "a month before yesterday". */
const COUNTS_FROM_OTHER_DAY = /\b(?:before|after|from|since)\s+\S/i;

/** Words that say what a number of units is counted from, and the units. */
const RELATIVE = /\b(?:ago|last|past|previous|next|this)\b|(?:^|\s)-/i;
const RELATIVE_WITH_NUMBER = /\b(?:before|earlier)\b/i;
const UNIT =
  /(?:\b|\d)(?:sec(?:ond)?|min(?:ute)?|hr|hour|day|week|mo|month|qtr|quarter|yr|year|weekday|night|evening|afternoon|noon|morning)s?\b|\d\s*[smhdwy]\b/i;

/** Whether the parser may find a date. Loading it, and its first two texts, take 70 ms. */
export function mayNeedParser(text: string): boolean {
  return DATE_WORD.test(text) || NUMBERS_AS_DATE.test(text) || commonWordIsDate(text) || isRelative(text);
}

function commonWordIsDate(text: string): boolean {
  const count = text.match(COMMON_WORD)?.length ?? 0;
  return count > 1 || (count === 1 && (COMPANION.test(text) || COMMON_WORD_AFTER_PREPOSITION.test(text)));
}

function isRelative(text: string): boolean {
  return UNIT.test(text) && (RELATIVE.test(text) || (RELATIVE_WITH_NUMBER.test(text) && /\d/.test(text)));
}

/** Words that are also names of months and days of the week, or abbreviations of them. */
const AMBIGUOUS =
  /^(?:[,(]\s*)?(?:may|march|mar|sun|sat|second|sec|wed|mon|fri|tue|thu|dec|jan|jun|oct|aug|sep|nov|apr|feb|jul)\s*(?:[,-]|of)?\s*$/i;

/** A month that a relative year follows: "May of last year", "March last year". May is also a name. */
const MONTH_OF_YEAR =
  /^(?:[a-z]+\s+of|march)\s+(?:(?:the\s+)?(?:last|next|this|past|previous)\s+year|\S+\s+years?\s+ago)\b/i;
/** A month that the next one follows: "March/April 2025". */
const MONTH_AND_NEXT = /^(?:march\/april|may\/june)\b/i;

/** Dots put the day first, where the library expects the month: "6.5.2026". */
const WITH_DOTS = /\d{1,2}\.\d{1,2}\.\d{2,4}/;

/** "3 weeks before the launch" is not counted from today. */
const COUNTS_FROM_EVENT = /\bbefore$/i;

/** In lower case, "may" is mostly a verb, also after "this" or "of". No verb follows these. */
const BEFORE_LOWER_CASE_MAY = /\b(?:in|during|since|until|till|by|before|after|from|between)\s+$/i;

/** What dates are relative to. The library counts from noon. */
interface Reference extends DateContext {
  readonly today: CalendarDay;
  readonly noon: Date;
}

function spanOf(result: ParsedResult, text: string, reference: Reference): Span | undefined {
  const { today } = reference;
  const { start, end, index } = result;
  // "From now until May" is still to come.
  if (end && isNow(start)) return undefined;
  const words = result.text;
  const first = rangeOf(start, words, text, index, reference);
  // In "yesterday until today", each half has its own words.
  const until = isCasual(words) ? words.split(UNTIL).at(-1)! : words;
  const last =
    end &&
    (isNow(end)
      ? grained(today, 'day')
      : rangeOf(end, until, text, index + words.length - until.length, reference));
  if (!end || !last) {
    const isWeekday = isBareWeekday(start) && !/\b(?:last|past)\b/i.test(words);
    return first && { index, text: words, isWeekday, ...first };
  }
  const found = { index, text: words, isRange: true };
  if (!first) return { ...found, ...last };
  const areWeekdays = isBareWeekday(start) && isBareWeekday(end);
  return { ...found, ...between(first, areWeekdays ? notBefore(first, last) : last) };
}

function dayIn(parsed: ParsedResult['start']): CalendarDay {
  return { year: parsed.get('year')!, month: parsed.get('month')!, day: parsed.get('day')! };
}

/** Whether it is a day of the week without a date. */
function isBareWeekday(parsed: ParsedResult['start']): boolean {
  return parsed.isCertain('weekday') && !parsed.isCertain('day');
}

function rangeOf(
  parsed: ParsedResult['start'],
  words: string,
  text: string,
  index: number,
  { today, noon, now, timeZone }: Reference,
): Stretch | undefined {
  const tags = parsed.tags();
  const before = text.slice(Math.max(0, index - LOOKED_BACK), index);
  const behind = text.slice(index + words.length);
  const at = dayIn(parsed);
  if (isNow(parsed)) return undefined;
  if (/^today\b/i.test(words) && (asksForHabits(text) || /\bago\s+$/i.test(before))) return undefined;
  const casual = CASUAL.find(([pattern]) => pattern.test(words));
  // The library would decide by the time zone of the process what day "last night" was.
  if (casual) return grained({ ...today, day: today.day + casual[1] }, 'day');
  const onwards = text.slice(index);
  const isDate = PREPOSITION.test(before) || MONTH_OF_YEAR.test(onwards) || MONTH_AND_NEXT.test(onwards);
  if (AMBIGUOUS.test(words) && !isDate) return undefined;
  if (/^may$/.test(words) && !BEFORE_LOWER_CASE_MAY.test(before)) return undefined;
  const isDay = PREPOSITION.test(before) || /^on\b/i.test(words);
  if (/\bmay(?: \d{1,2})?$/.test(words) && isVerb(behind) && !isDay) return undefined;
  // 4/10 is a score or a share as often as a day.
  if (/^\d{1,2}\/\d{1,2}$/.test(words)) return undefined;
  const unit = UNIT_WITH_GRAIN.exec(words)?.[1]?.toLowerCase() ?? '';
  const grain = GRAINS.find(([pattern]) => pattern.test(unit))?.[1] ?? 'day';
  if (/^this (?:week|month|year)$/i.test(words)) return grained(today, grain);
  if (tags.has('result/relativeDate')) {
    if (COUNTS_FROM_EVENT.test(words)) return undefined;
    // "for two hours" is a duration, and "in two hours" is still to come, even if it is today.
    const ahead = parsed.date().getTime() - noon.getTime();
    // "May of next year" needs the year, so that it is not taken for the latest May.
    if (ahead > 0) return /^next year$/i.test(words) ? grained(at, 'year') : undefined;
    // If the month has no such day, as in a month before 31 May, the library continues into the next month.
    const rolledOver = !parsed.isCertain('day') && at.day !== today.day && !COUNTS_FROM_OTHER_DAY.test(words);
    const counted = rolledOver ? { ...at, month: at.month - 1 } : at;
    // Hours are counted from the time of day: two hours ago may have been yesterday.
    const ofHours = tags.has('result/relativeDateAndTime') && !COUNTS_FROM_OTHER_DAY.test(words);
    const then = ofHours ? calendarDay(now + ahead, timeZone) : counted;
    // "A week ago today" is a day.
    if (/^\s+today\b/i.test(behind) && /\bago$/i.test(words)) return grained(at, 'day');
    // A period that lasts until now: "in the last three months", "in the past week".
    if (UNTIL_NOW.test(words)) {
      return { first: grained(then, grain).first, after: later(today, 'day') };
    }
    return grained(then, grain);
  }
  if (parsed.isCertain('day') && parsed.isCertain('month')) {
    if (parsed.isCertain('year')) {
      const dayFirst = WITH_DOTS.test(words) && at.day <= 12;
      return grained(dayFirst ? { ...at, day: at.month, month: at.day } : at, 'day');
    }
    const found = yearly((year) => dayOf({ ...at, year }), today);
    return isLeapDay(parsed) ? { ...found, ...latestLeapDay(today) } : found;
  }
  if (parsed.isCertain('month')) {
    const month = { ...at, day: 1 };
    if (parsed.isCertain('year')) return grained(month, 'month');
    if (/\bnext[\s-]+$/i.test(before)) return undefined;
    const past = /\blast[\s-]+$/i.test(before) || /^last\b/i.test(words);
    const found = yearly((year) => grained({ ...month, year }, 'month'), today);
    return past && isBefore(today, found.after)
      ? grained({ ...month, year: found.first.year - 1 }, 'month')
      : found;
  }
  if (parsed.isCertain('weekday')) {
    if (/\bweekends?\b/i.test(words)) {
      // "a family weekend" is a kind of event.
      const named =
        /\b(?:last|next|this|past)\b/i.test(words) || /\b(?:over|on|at|during) the\s+$/i.test(before);
      return named ? weekend(words, today) : undefined;
    }
    return latestWeekday(parsed, words, before, behind, today);
  }
  return parsed.isCertain('year') ? grained({ year: at.year, month: 1, day: 1 }, 'year') : undefined;
}

function latestWeekday(
  parsed: ParsedResult['start'],
  words: string,
  before: string,
  behind: string,
  today: CalendarDay,
): Stretch | undefined {
  const weekday = parsed.get('weekday')!;
  // The library counts "Monday last week" as "last Monday", and "this Monday" as the coming one.
  const isLastWeek = /\blast\s+week$/i.test(words);
  if (isLastWeek || /\bthis\b/i.test(words)) {
    const monday = ago(isLastWeek ? 1 : 0, 'week', today).first;
    return grained({ ...monday, day: monday.day + ((weekday + 6) % 7) }, 'day');
  }
  if (/\b(?:last|next|past)\b/i.test(words)) return grained(dayIn(parsed), 'day');
  // "on Tuesday and Thursday mornings" and "work-free Sundays" are habits.
  const repeated = /^\w*s\b|^(?:,? (?:and|or) \w+)?\s+(?:mornings|afternoons|evenings|nights)\b/i.test(
    behind,
  );
  // "Monday.com" is a name, and "every Monday" a habit.
  if (repeated || /^\.\w/.test(behind) || /\bevery\s+$/i.test(before)) return undefined;
  const isNamed = PREPOSITION.test(before) || SECOND_WEEKDAY.test(before) || /\s/.test(words);
  if (!isNamed) return undefined;
  const isPrevious = /\bprevious\s+$/i.test(before);
  const back = (weekdayOf(today) - weekday + 7) % 7 || (isPrevious ? 7 : 0);
  return grained({ ...today, day: today.day - back }, 'day');
}

const UNTIL_NOW =
  /^(?:the\s+)?(?:(?:last|past|previous)\s+(?:couple\s+of|\S+)\s+\S+|past\s+(?:day|week|month|quarter|year))$/i;

/** "Now" is a day only as the end of a range: "from May until now". */
function isNow(parsed: ParsedResult['start']): boolean {
  return parsed.tags().has('casualReference/now');
}

/** Words for days close to today, and their distance in days. */
const CASUAL = [
  [/^(?:yesterday|last (?:night|evening))\b/i, -1],
  [/^(?:today|tonight|this (?:morning|noon|afternoon|evening|night))\b/i, 0],
  [/^tomorrow\b/i, 1],
] as const;

function isCasual(words: string): boolean {
  return CASUAL.some(([pattern]) => pattern.test(words));
}

const UNTIL = /\s*(?:[-–]|\b(?:to|until|till|through)\b)\s*/i;

/**
 * Whether a text asks about habits: "What does Ann do today" asks how things are. "Today" is a date only where
 * something happened or will happen.
 */
function asksForHabits(text: string): boolean {
  return !/\b(?:did|was|were|had|has|have|happened|said|told|will|going to|plan(?:s|ned)?)\b/i.test(text);
}
