import type { Chrono, ParsedResult, Parser } from 'chrono-node';
import { type Instant, isInstant, LATEST, MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { type CalendarDay, calendarDay, midnightOf, startOfDay } from '../domain/zone.ts';

/** A stretch of time that a text names, such as a day or a month. */
export interface DateRange {
  /** The words that name it. */
  readonly text: string;
  readonly start: Instant;
  /** The first moment after it. */
  readonly end: Instant;
}

/** From where a text is read. */
export interface DateContext {
  readonly now: Instant;
  /** The IANA name of the zone whose days are meant. */
  readonly timeZone: string;
}

/** Finds the stretches of time that a text names, in the order of the text. One for each language. */
export interface DateReader {
  (text: string, context: DateContext): Promise<readonly DateRange[]>;
  /** False for a text that names no date for certain: the time zone is then not looked up, nor the reader called. */
  readonly mayName?: ((text: string) => boolean) | undefined;
}

/**
 * The dates that an English text names: days, weeks, months, seasons, years and ranges of them. One without a year is the latest that
 * began before `now`; a relative one has the grain of its unit ("two weeks ago": that week). Seasons are northern.
 * Times of day, bare numbers, "now", "today" in a question about habits, repeated days and dates to come name none.
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

/** The dates of a text; without the parser, seasons and years that stand alone. */
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
  // What is still to come, nothing can have been said in.
  return (
    joinedRanges(spans, text)
      .filter(({ first }) => !isBefore(today, first))
      // Nor in what is too long ago to be the time of a memory.
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
  // Most queries name no date, and a command line should not load what it does not need.
  const { Chrono, casual } = await import('chrono-node/en');
  // At noon no zone that the process may run in moves the reference to another day.
  const instant = new Date(midnightOf(today) + MILLISECONDS_PER_DAY / 2);
  const spans: Span[] = [];
  parser ??= new Chrono({ parsers: casual.parsers.map(onlyWithItsEnding), refiners: casual.refiners });
  for (const result of parser.parse(text, { instant, timezone: 0 })) {
    if (known.some((span) => overlaps(span, result))) continue;
    const span = spanOf(result, text, { ...context, today, noon: instant });
    if (span) spans.push(span);
  }
  return spans;
}

let parser: Chrono | undefined;

/**
 * How two patterns of the library end, and what a text must then contain. V8 takes 50 ms to compile each of them, when they look at
 * a text for the second time: what stands behind a date that they found is one.
 */
const ENDINGS = [
  ['(?:ago|before|earlier)', /ago|before|earlier/i],
  ['(?:later|after|from now|henceforth|forward|out)', /later|after|from now|henceforth|forward|out/i],
] as const;

/** The same parser, which looks at no text, nor at the rest of one, in which its pattern cannot end. */
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

/** Days from `first` up to, and without, `after`. */
interface Stretch {
  readonly first: CalendarDay;
  readonly after: CalendarDay;
  /** Where the year was not named: the same in a year. */
  readonly inYear?: ((year: number) => Stretch) | undefined;
}

interface Span extends Stretch {
  readonly index: number;
  readonly text: string;
  /** It names a date only as one end of a range: the year in "to 2023". */
  readonly isLone?: boolean | undefined;
}

/** Two dates with nothing but a word for a range between them are its ends. */
function joinedRanges(spans: readonly Span[], text: string): readonly Span[] {
  const found: Span[] = [];
  for (let at = 0; at < spans.length; at++) {
    const span = spans[at]!;
    const next = spans[at + 1];
    if (next && areEnds(span, next, text)) {
      const words = text.slice(span.index, next.index + next.text.length);
      found.push({ index: span.index, text: words, ...between(span, next) });
      at++;
    } else if (!span.isLone) found.push(withYearOf(span, next, text));
  }
  return found;
}

/** What stands before an end of a range, and may be among its words. */
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
  // Two bare numbers are none.
  return begins !== undefined || !(a.isLone && b.isLone);
}

/** "June or August 2023": both are of that year. */
function withYearOf(span: Span, next: Span | undefined, text: string): Span {
  if (!span.inYear || !next || next.inYear) return span;
  const between = text.slice(span.index + span.text.length, next.index);
  const joined = /^\s*(?:and|or|to|until|till|through|[-–—,])\s*(?:in\s+)?$/i.test(between);
  if (!joined) return span;
  return { ...span, ...span.inYear(next.first.year) };
}

/** "from November to February 2023": the first one is of the year before. */
function beforeEnd(inYear: (year: number) => Stretch, { first }: Stretch): Stretch {
  const begin = inYear(first.year);
  return isBefore(first, begin.first) ? inYear(first.year - 1) : begin;
}

/** "from June to August", said in July: the end is still to come. */
function afterBegin(inYear: (year: number) => Stretch, { first }: Stretch): Stretch {
  const end = inYear(first.year);
  return isBefore(end.first, first) ? inYear(first.year + 1) : end;
}

type Grain = 'day' | 'week' | 'month' | 'quarter' | 'year';

/** The first unit that is named: "2 yr ago", "3mo ago". */
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

/** Whole words: "market" and "decide" begin like months. */
const DATE_WORD =
  /\b(?:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|mon(?:day)?|tue(?:s|sday)?|wed(?:s|nesday)?|thu(?:rs?|rsday)?|fri(?:day)?|saturday|sunday|yesterday|today|tonight|tomorrow|midnight|weekend|fortnight)(?:['’]s|s)?\b/i;

/** Words that are mostly no dates, and what makes them some: a number, a time of the day or the year, another one, a preposition. */
const COMMON_WORD = /\b(?:may|mar(?:ch)?|sat|sun)(?:['’]s|s)?\b/gi;
const COMPANION = /\d|\b(?:(?:mid)?night|evening|afternoon|noon|morning|(?:quarter|qtr)s?)\b/i;
const COMMON_WORD_AFTER_PREPOSITION = new RegExp(`\\b${PREPOSITIONS}${COMMON_WORD.source}`, 'i');

/** "7/5/2023", "2023-05-07", "7.5.2023", "2023 5 7": a version, a port or a number of things is none. */
const NUMBERS_AS_DATE = /\d[-/]\d|\d\.\d+\.\d|\d{4}\s+\d{1,2}\s/;

/** "a month before yesterday" */
const COUNTS_FROM_OTHER_DAY = /\b(?:before|after|from|since)\s+\S/i;

/** What a number of units counts from, and the units. */
const RELATIVE = /\b(?:ago|last|past|previous|next|this)\b|(?:^|\s)-/i;
const RELATIVE_WITH_NUMBER = /\b(?:before|earlier)\b/i;
const UNIT =
  /(?:\b|\d)(?:sec(?:ond)?|min(?:ute)?|hr|hour|day|week|mo|month|qtr|quarter|yr|year|weekday|night|evening|afternoon|noon|morning)s?\b|\d\s*[smhdwy]\b/i;

/** Whether the parser may find a date: what it takes to load it, and the first two texts that it looks at, cost 70 ms. */
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

/** Looked for without the parser. */
const SEASON_OR_YEAR = /\b(?:spring|summer|autumn|fall|winter|(?:19|20)\d{2})\b/i;

function mayName(text: string): boolean {
  return SEASON_OR_YEAR.test(text) || mayNeedParser(text);
}

/** Words that are also names of months and days of the week, or parts of them. */
const AMBIGUOUS =
  /^(?:[,(]\s*)?(?:may|march|mar|sun|sat|second|sec|wed|mon|fri|tue|thu|dec|jan|jun|oct|aug|sep|nov|apr|feb|jul)\s*(?:[,-]|of)?\s*$/i;

/** From where a date is counted. The library counts from noon. */
interface Reference extends DateContext {
  readonly today: CalendarDay;
  readonly noon: Date;
}

function spanOf(result: ParsedResult, text: string, reference: Reference): Span | undefined {
  const { today } = reference;
  const { start, end, index } = result;
  const words = result.text;
  const first = rangeOf(start, words, text, index, reference);
  // In "yesterday until today" each half has words of its own.
  const until = isCasual(words) ? words.split(UNTIL).at(-1)! : words;
  const last = end && rangeOf(end, until, text, index + words.length - until.length, reference);
  if (!last) return first && { index, text: words, ...first };
  // "3 May to 7 May 2023": the day of the first half is read as an hour.
  const day = start.isCertain('hour') && !start.isCertain('day') ? start.get('hour') : null;
  const inYear = (year: number) => grained({ year, month: start.get('month')!, day: day! }, 'day');
  const begin = day === null ? first : yearly(inYear, today);
  if (!begin) return { index, text: words, ...last };
  return { index, text: words, ...between(begin, last) };
}

/** From the first day of the one to the last of the other, whichever is earlier. */
function between(begin: Stretch, end: Stretch): Stretch {
  const [from, to] = inYearsOf(begin, end);
  const [a, b] = isBefore(to.first, from.first) ? [to, from] : [from, to];
  return { first: a.first, after: b.after };
}

/** The ends of a range, of which one or none names the year. */
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
  if (tags.has('casualReference/now')) return undefined;
  if (/^today\b/i.test(words) && asksForHabits(text)) return undefined;
  const casual = CASUAL.find(([pattern]) => pattern.test(words));
  // The library asks the zone of the process what day "last night" was.
  if (casual) return grained({ ...today, day: today.day + casual[1] }, 'day');
  if (AMBIGUOUS.test(words) && !PREPOSITION.test(before)) return undefined;
  // 4/10 is a score or a share as often as a day.
  if (/^\d{1,2}\/\d{1,2}$/.test(words)) return undefined;
  const unit = UNIT_WITH_GRAIN.exec(words)?.[1]?.toLowerCase() ?? '';
  const grain = GRAINS.find(([pattern]) => pattern.test(unit))?.[1] ?? 'day';
  if (/^(?:this|current) (?:week|month|year)$/i.test(words)) return grained(today, grain);
  if (tags.has('result/relativeDate')) {
    // "for two hours" is how long, and "in two hours" is still to come, even though it is today.
    const ahead = parsed.date().getTime() - noon.getTime();
    if (ahead > 0) return undefined;
    // Where the month has no such day, as a month before 31 May, the library goes on into the next one.
    const rolledOver = !parsed.isCertain('day') && at.day !== today.day && !COUNTS_FROM_OTHER_DAY.test(words);
    const counted = rolledOver ? { ...at, month: at.month - 1 } : at;
    // Hours are counted from the time of the day: two hours ago it may have been yesterday.
    const ofHours = tags.has('result/relativeDateAndTime') && !COUNTS_FROM_OTHER_DAY.test(words);
    const then = ofHours ? calendarDay(now + ahead, timeZone) : counted;
    // A stretch that lasts until now: "in the last three months".
    if (/^(?:the\s+)?(?:last|past|previous)\s+\S+\s+\S+$/i.test(words)) {
      return { first: grained(then, grain).first, after: next(today, 'day') };
    }
    return grained(then, grain);
  }
  if (parsed.isCertain('day') && parsed.isCertain('month')) {
    if (parsed.isCertain('year')) return grained(at, 'day');
    return yearly((year) => grained({ ...at, year }, 'day'), today);
  }
  if (parsed.isCertain('month')) {
    const month = { ...at, day: 1 };
    if (parsed.isCertain('year')) return grained(month, 'month');
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

/** Words for days around today, and how far off they are. */
const CASUAL = [
  [/^(?:yesterday|last (?:night|evening))\b/i, -1],
  [/^(?:today|tonight|this (?:morning|noon|afternoon|evening|night))\b/i, 0],
  [/^tomorrow\b/i, 1],
] as const;

function isCasual(words: string): boolean {
  return CASUAL.some(([pattern]) => pattern.test(words));
}

const UNTIL = /\s*(?:[-–]|\b(?:to|until|till|through)\b)\s*/i;

/** Today is only a date where something happened, or is to happen: "What does Ann do today" asks for how things are. */
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

/** What the library does not read: seasons, and years that stand alone. */
function seasonsAndYears(text: string, today: CalendarDay): readonly Span[] {
  const seasons = [...text.matchAll(SEASON)].flatMap((match): Span[] => {
    const [words, preposition, name = '', year] = match;
    // "fall" and "spring" are verbs too.
    if (preposition === undefined && year === undefined) return [];
    const [, month] = SEASONS.find(([each]) => each === name.toLowerCase())!;
    const season = (of: number) => {
      const first = { year: month === 12 ? of - 1 : of, month, day: 1 };
      return { first, after: { ...first, month: month + 3 } };
    };
    const found = year === undefined ? latest(season, today) : season(Number(year));
    const past = preposition?.toLowerCase() === 'last' && isBefore(today, found.after);
    return [
      { index: match.index, text: words, ...(past ? latest(season, { ...found.first, day: 0 }) : found) },
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

/** What the library does not read after "between": two days of a month. */
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
const LONE_MONTH = new RegExp(`(?<!\\d(?:st|nd|rd|th)?\\s{0,3})\\b${MONTH}(?!\\s{0,3}\\d)`, 'gi');

/** What names no date where it stands alone, but may be one end of a range: a year, and a month that is a common word or short. */
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
  return [...years, ...months].filter((end) => !known.some((span) => overlaps(span, end)));
}

function monthOf(name: string): number {
  return 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
}

const LEAP_YEAR = 2024;

function daysIn(month: number, year: number): number {
  return new Date(midnightOf({ year, month: month + 1, day: 0 })).getUTCDate();
}

/** Whole words: "married" and "decided" begin like months. */
const MONTH_BEFORE = new RegExp(`\\b${MONTH}(?:\\s+\\d{1,2}(?:st|nd|rd|th)?,?)?\\s*$`, 'i');

/** The last Saturday and Sunday that began, or with "last" those of the week before, or with "next" the coming ones. */
function weekend(words: string, today: CalendarDay): Stretch {
  const back = (weekdayOf(today) + 1) % 7;
  const isRunning = back <= 1;
  const shift = /\bnext\b/i.test(words) ? 7 : /\blast\b/i.test(words) && isRunning ? -7 : 0;
  const first = { ...today, day: today.day - back + shift };
  return { first, after: { ...first, day: first.day + 2 } };
}

/** The latest of yearly stretches that began on or before a day. */
function latest(of: (year: number) => Stretch, today: CalendarDay): Stretch {
  const found = [today.year + 1, today.year, today.year - 1].map(of);
  return found.find(({ first }) => !isBefore(today, first)) ?? found[2]!;
}

/** The same, of which the text may still name the year. */
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
