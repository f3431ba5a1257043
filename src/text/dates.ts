import type { Chrono, ParsedResult, Parser, Refiner } from 'chrono-node';
import { type Instant, isInstant, LATEST } from '../domain/time.ts';
import { type CalendarDay, calendarDay, midnightOf, startOfDay } from '../domain/zone.ts';

/** A period that a text names, such as a day or a month. */
export interface DateRange {
  /** The words that name it. */
  readonly text: string;
  readonly start: Instant;
  /** The first moment after it. */
  readonly end: Instant;
}

/** When and where a text is read. */
export interface DateContext {
  readonly now: Instant;
  /** The IANA name of the time zone that defines the days. */
  readonly timeZone: string;
}

/** Finds the periods that a text names, in the order of the text. Each language has its own reader. */
export interface DateReader {
  (text: string, context: DateContext): Promise<readonly DateRange[]>;
  /**
   * Returns false for a text that certainly names no date. The time zone is then not looked up, and the reader not
   * called.
   */
  readonly mayName?: ((text: string) => boolean) | undefined;
}

/**
 * Finds the dates that an English text names: days, weeks, months, seasons, years, and ranges of them. A date without a
 * year is the latest that began before `now`; the year may be relative ("May of last year"). A relative date is as long
 * as its unit ("two weeks ago": that week). Seasons are northern. Ignored are times of day, bare numbers, "now" except as
 * the end of a range, "today" in a question about habits, repeated days, and future dates.
 *
 * @example
 * ```ts
 * await readEnglishDates('What did Ann plan in May?', { now: Date.UTC(2026, 2, 1), timeZone: 'UTC' });
 * // [{ text: 'in May', start: Date.UTC(2025, 4, 1), end: Date.UTC(2025, 5, 1) }]
 * ```
 */
export const readEnglishDates: DateReader = Object.assign(readEnglish, {
  mayName,
});

async function readEnglish(text: string, context: DateContext): Promise<readonly DateRange[]> {
  return mayName(text) ? datesOf(text, context, mayNeedParser(text)) : [];
}

/** Finds the dates of a text. Without the parser, only seasons and years that stand alone. */
export async function datesOf(
  text: string,
  context: DateContext,
  withParser: boolean,
): Promise<readonly DateRange[]> {
  const today = calendarDay(context.now, context.timeZone);
  const spans: Span[] = [...seasonsAndYears(text, today), ...afterBetween(text, today)];
  if (withParser) spans.push(...(await parsedSpans(text, context, today, spans)));
  spans.push(...loneEnds(text, today, spans));
  spans.sort((a, b) => a.index - b.index);
  // Nothing can have been said in the future.
  return (
    withRelativeYears(joinedRanges(spans, text), text)
      .filter(({ first }) => !isBefore(today, first))
      // Also drops dates that are too long ago to be the time of a memory.
      .filter(({ first }) => isInstant(midnightOf(first)))
      .map(({ text: words, first, after }) => ({
        text: words,
        start: startOfDay(first, context.timeZone),
        end: Math.min(startOfDay(after, context.timeZone), LATEST),
      }))
      .filter(({ start, end }) => isInstant(start) && start < end)
  );
}

async function parsedSpans(
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
  for (const result of parser.parse(text, { instant, timezone: -instant.getTimezoneOffset() })) {
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

/** A period from `first` to before `after`. */
interface Stretch {
  readonly first: CalendarDay;
  readonly after: CalendarDay;
  /** The same period in a given year; set if the text did not name the year. */
  readonly inYear?: ((year: number) => Stretch) | undefined;
}

interface Span extends Stretch {
  readonly index: number;
  readonly text: string;
  /** Whether it names a date only as one end of a range, as the year in "to 2023". */
  readonly isLone?: boolean | undefined;
}

/** Joins two dates into a range if only a word for a range is between them. */
function joinedRanges(spans: readonly Span[], text: string): readonly Span[] {
  const found: Span[] = [];
  for (let at = 0; at < spans.length; at++) {
    const span = spans[at]!;
    const next = spans[at + 1];
    if (next && areEnds(span, next, text)) {
      const words = text.slice(span.index, next.index + next.text.length);
      found.push({ index: span.index, text: words, ...between(span, next) });
      at++;
    } else if (!span.isLone)
      found.push(next && FROM_NOW.test(next.text) ? span : withYearOf(span, next, text));
  }
  return found;
}

/** Dates counted from now name no year for the month before: "in July and yesterday". */
const FROM_NOW = /\b(?:yesterday|today|tonight|last|this|past|previous|next|ago|earlier)\b/i;
const RELATIVE_YEAR = /^(?:(?:last|this|next|past) year|\S+ years? ago)$/i;
const YEAR_FOLLOWS = /^[\s,]*(?:(?:of|in)\s+)?$/i;
const YEAR_PRECEDES = /^[\s,]*(?:(?:in|on|during|around)\s+)?(?:the\s+)?$/i;

/** In "May of last year" and "last year in May", the month is of that year. Ranges and seasons likewise. */
function withRelativeYears(spans: readonly Span[], text: string): readonly Span[] {
  const found: Span[] = [];
  let named: Span | undefined;
  // From the end, so that in "May or June of last year" June has its year before May takes it.
  for (const span of spans.toReversed()) {
    const next = found.at(-1);
    const joint = next ? text.slice(span.index + span.text.length, next.index) : '';
    const follows = next && RELATIVE_YEAR.test(next.text) && YEAR_FOLLOWS.test(joint);
    const precedes = next && RELATIVE_YEAR.test(span.text) && YEAR_PRECEDES.test(joint);
    const inYear = follows ? span.inYear : precedes ? next.inYear : undefined;
    if (!next || !inYear) {
      found.push(next === named ? withYearOf(span, next, text) : span);
      continue;
    }
    const words = text.slice(span.index, next.index + next.text.length);
    const { first, after } = inYear((follows ? next : span).first.year);
    named = { index: span.index, text: words, first, after };
    found.splice(-1, 1, named);
  }
  return found.reverse();
}

/** What may precede an end of a range, and be part of its words. */
const BEFORE_END = /^(?:(?:between|from|since|until|till|in|the)\s+)+/i;
const RANGE_BEGINS = /\b(between|from|since)\s+(?:in\s+)?(?:the\s+)?$/i;
const RANGE_GOES_ON = /^\s*(?:(?:and|to|until|till|through)\s+|[-–—]\s*)(?:in\s+)?(?:the\s+)?$/i;

function areEnds(a: Span, b: Span, text: string): boolean {
  const [from, to] = [a, b].map(
    ({ index, text: words }) => index + (BEFORE_END.exec(words)?.[0].length ?? 0),
  );
  const joint = text.slice(a.index + a.text.length, to);
  if (!RANGE_GOES_ON.test(joint)) return false;
  const begins = RANGE_BEGINS.exec(text.slice(0, from))?.[1]?.toLowerCase();
  if (/\band\b/i.test(joint)) return begins === 'between';
  // Two bare numbers are not a range.
  return begins !== undefined || !(a.isLone && b.isLone);
}

/** In "June or August 2023", both months are of that year. */
function withYearOf(span: Span, next: Span | undefined, text: string): Span {
  if (!span.inYear || !next || next.inYear) return span;
  const between = text.slice(span.index + span.text.length, next.index);
  const joined = /^\s*(?:and|or|to|until|till|through|[-–—,])\s*(?:in\s+)?$/i.test(between);
  if (!joined) return span;
  return { ...span, ...span.inYear(next.first.year) };
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

type Grain = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** Finds the first unit that is named: "2 yr ago", "3mo ago". */
const UNIT_WITH_GRAIN = /(?:\b|\d)(day|d|week|w|fortnight|month|mos|mo|quarter|qtr|year|yr|y|decade)s?\b/i;
const GRAINS: readonly (readonly [RegExp, Grain])[] = [
  [/^w/, 'week'],
  [/^mo/, 'month'],
  [/^q/, 'quarter'],
  [/^y/, 'year'],
];

const PREPOSITIONS =
  '(?:in|on|during|since|until|till|by|before|after|from|of|around|between|last|past|this|next|every|early|late|mid)[\\s-]+(?:the\\s+)?';
const PREPOSITION = new RegExp(`\\b${PREPOSITIONS}$`, 'i');

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

/** Found without the parser. */
const SEASON_OR_YEAR = /\b(?:spring|summer|autumn|fall|winter|(?:19|20)\d{2})\b/i;

function mayName(text: string): boolean {
  return SEASON_OR_YEAR.test(text) || mayNeedParser(text);
}

/** Words that are also names of months and days of the week, or abbreviations of them. */
const AMBIGUOUS =
  /^(?:[,(]\s*)?(?:may|march|mar|sun|sat|second|sec|wed|mon|fri|tue|thu|dec|jan|jun|oct|aug|sep|nov|apr|feb|jul)\s*(?:[,-]|of)?\s*$/i;

/** A month that a relative year follows: "May of last year". */
const MONTH_OF_YEAR =
  /^[a-z]+\s+of\s+(?:(?:the\s+)?(?:last|next|this|past|previous)\s+year|\S+\s+years?\s+ago)\b/i;

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
  if (!last) return first && { index, text: words, ...first };
  // In "3 May to 7 May 2023", the library reads the day of the first half as an hour.
  const day = start.isCertain('hour') && !start.isCertain('day') ? start.get('hour') : null;
  const inYear = (year: number) => grained({ year, month: start.get('month')!, day: day! }, 'day');
  const begin = day === null ? first : yearly(inYear, today);
  if (!begin) return { index, text: words, ...last };
  return { index, text: words, ...between(begin, last) };
}

/** Returns the period from the first day of the earlier one to the last day of the later one. */
function between(begin: Stretch, end: Stretch): Stretch {
  const [from, to] = inYearsOf(begin, end);
  const [a, b] = isBefore(to.first, from.first) ? [to, from] : [from, to];
  const yearOfEnd = begin.inYear && end.inYear;
  const inYear = yearOfEnd && ((year: number) => between(begin, yearOfEnd(year)));
  return { first: a.first, after: b.after, inYear };
}

/** Gives both ends of a range a year, where at most one names it. */
function inYearsOf(begin: Stretch, end: Stretch): readonly [begin: Stretch, end: Stretch] {
  if (end.inYear) return [begin, afterBegin(end.inYear, begin)];
  return [begin.inYear ? beforeEnd(begin.inYear, end) : begin, end];
}

function rangeOf(
  parsed: ParsedResult['start'],
  words: string,
  text: string,
  index: number,
  { today, noon, now, timeZone }: Reference,
): Stretch | undefined {
  const tags = parsed.tags();
  const before = text.slice(0, index);
  const behind = text.slice(index + words.length);
  const at = { year: parsed.get('year')!, month: parsed.get('month')!, day: parsed.get('day')! };
  if (isNow(parsed)) return undefined;
  if (/^today\b/i.test(words) && asksForHabits(text)) return undefined;
  const casual = CASUAL.find(([pattern]) => pattern.test(words));
  // The library would decide by the time zone of the process what day "last night" was.
  if (casual) return grained({ ...today, day: today.day + casual[1] }, 'day');
  const isDate = PREPOSITION.test(before) || MONTH_OF_YEAR.test(text.slice(index));
  if (AMBIGUOUS.test(words) && !isDate) return undefined;
  if (/^may$/.test(words) && !BEFORE_LOWER_CASE_MAY.test(before)) return undefined;
  // 4/10 is a score or a share as often as a day.
  if (/^\d{1,2}\/\d{1,2}$/.test(words)) return undefined;
  const unit = UNIT_WITH_GRAIN.exec(words)?.[1]?.toLowerCase() ?? '';
  const grain = GRAINS.find(([pattern]) => pattern.test(unit))?.[1] ?? 'day';
  if (/^(?:this|current) (?:week|month|year)$/i.test(words)) return grained(today, grain);
  if (tags.has('result/relativeDate')) {
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
    // A period that lasts until now: "in the last three months".
    if (/^(?:the\s+)?(?:last|past|previous)\s+\S+\s+\S+$/i.test(words)) {
      return { first: grained(then, grain).first, after: next(today, 'day') };
    }
    return grained(then, grain);
  }
  if (parsed.isCertain('day') && parsed.isCertain('month')) {
    if (parsed.isCertain('year')) return grained(at, 'day');
    const found = yearly((year) => grained({ ...at, year }, 'day'), today);
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
    if (/\b(?:last|next|this|past)\b/i.test(words)) return grained(at, 'day');
    // "on Tuesday and Thursday mornings" and "work-free Sundays" are habits.
    const repeated = /^\w*s\b|^(?:,? (?:and|or) \w+)?\s+(?:mornings|afternoons|evenings|nights)\b/i.test(
      behind,
    );
    if (repeated || !(PREPOSITION.test(before) || /\s/.test(words))) return undefined;
    const back = (weekdayOf(today) - parsed.get('weekday')! + 7) % 7;
    return grained({ ...today, day: today.day - back }, 'day');
  }
  return parsed.isCertain('year') ? grained({ year: at.year, month: 1, day: 1 }, 'year') : undefined;
}

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
function seasonsAndYears(text: string, today: CalendarDay): readonly Span[] {
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
function afterBetween(text: string, today: CalendarDay): readonly Span[] {
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
function loneEnds(text: string, today: CalendarDay, known: readonly Span[]): readonly Span[] {
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

function monthOf(name: string): number {
  return 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
}

const LEAP_YEAR = 2024;

function daysIn(month: number, year: number): number {
  return new Date(midnightOf({ year, month: month + 1, day: 0 })).getUTCDate();
}

/** Matches whole words only: "married" and "decided" begin like months. */
const MONTH_BEFORE = new RegExp(`\\b${MONTH}(?:\\s+\\d{1,2}(?:st|nd|rd|th)?,?)?\\s*$`, 'i');

/**
 * Returns the latest Saturday and Sunday that have begun. With "last", those of the week before; with "next", the
 * coming ones.
 */
function weekend(words: string, today: CalendarDay): Stretch {
  const back = (weekdayOf(today) + 1) % 7;
  const isRunning = back <= 1;
  const shift = /\bnext\b/i.test(words) ? 7 : /\blast\b/i.test(words) && isRunning ? -7 : 0;
  const first = { ...today, day: today.day - back + shift };
  return { first, after: { ...first, day: first.day + 2 } };
}

/** Returns the latest of yearly periods that began on or before a day. */
function latest(of: (year: number) => Stretch, today: CalendarDay): Stretch {
  const found = [today.year + 1, today.year, today.year - 1].map(of);
  return found.find(({ first }) => !isBefore(today, first)) ?? found[2]!;
}

/** Returns the latest 29 February on or before a day. */
function latestLeapDay(today: CalendarDay): Stretch {
  let first = { year: today.year, month: 2, day: 29 };
  // In a year without this day, its midnight is that of 1 March.
  while (isBefore(today, first) || new Date(midnightOf(first)).getUTCDate() !== 29)
    first = { ...first, year: first.year - 1 };
  return grained(first, 'day');
}

/** Returns the same period with `inYear`, because the text may still name the year. */
function yearly(inYear: (year: number) => Stretch, today: CalendarDay): Stretch {
  return { ...latest(inYear, today), inYear };
}

function grained(at: CalendarDay, grain: Grain): Stretch {
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
  return { first, after: next(first, grain) };
}

function next({ year, month, day }: CalendarDay, grain: Grain): CalendarDay {
  if (grain === 'year') return { year: year + 1, month, day };
  if (grain === 'quarter') return { year, month: month + 3, day };
  if (grain === 'month') return { year, month: month + 1, day };
  return { year, month, day: day + (grain === 'week' ? 7 : 1) };
}

/** 0 for Sunday. */
function weekdayOf(day: CalendarDay): number {
  return new Date(midnightOf(day)).getUTCDay();
}

function isBefore(a: CalendarDay, b: CalendarDay): boolean {
  return midnightOf(a) < midnightOf(b);
}

function overlaps(
  a: { readonly index: number; readonly text: string },
  b: { readonly index: number; readonly text: string },
): boolean {
  return a.index < b.index + b.text.length && b.index < a.index + a.text.length;
}
