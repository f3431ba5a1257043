import { type Instant, isInstant, LATEST } from '../../domain/time.ts';
import { calendarDay, midnightOf, startOfDay } from '../../domain/zone.ts';
import { joinedRanges, withRelativeYears } from './joining.ts';
import { withOpenEnds } from './open-ends.ts';
import { mayNeedParser, parsedSpans } from './parser.ts';
import { withParts } from './parts.ts';
import { daysOfMonth, loneEnds, ownDates, withShortYear } from './patterns.ts';
import { isBefore, type Span } from './periods.ts';

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
 * Finds the dates that an English text names: days, weeks, months, quarters, halves of a year, seasons, years, and ranges of
 * them. A date without a year is the latest that began before `now`; the year may be relative ("May of last year"). A
 * relative date is as long as its unit ("two weeks ago": that week). Words may name a part of it ("the first week of May").
 * The word before a date counts: "since May" lasts until now, "after May" begins where May ends, "before May" ends where it
 * begins, "until May" ends with it. A range without a begin starts in the year 1. Seasons are northern. Ignored are times of
 * day, bare numbers, "now" except as the end of a range, "today" in a question about habits, repeated days, and future dates.
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

/** Finds the dates of a text. Without the parser, only those that our own patterns match. */
export async function datesOf(
  text: string,
  context: DateContext,
  withParser: boolean,
): Promise<readonly DateRange[]> {
  const today = calendarDay(context.now, context.timeZone);
  const spans: Span[] = [...ownDates(text, today), ...daysOfMonth(text, today)];
  if (withParser) spans.push(...(await parsedSpans(text, context, today, spans)));
  spans.push(...loneEnds(text, today, spans));
  spans.sort((a, b) => a.index - b.index);
  const named = spans.map((span) => withShortYear(span, text));
  // Nothing can have been said in the future.
  return (
    withOpenEnds(withRelativeYears(joinedRanges(withParts(named, text, today), text), text), text, today)
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

/** Found without the parser. */
const OWN_DATE =
  /\b(?:spring|summer|autumn|fall|winter|(?:19|20)\d{2}(?:-?w\d{2})?)\b|[qh][1-4]\b|\b(?:quarter|half|current|fortnights?|weekends?\s+ago)\b|\bof\s+the\s+(?:week|month|year)\b/i;

function mayName(text: string): boolean {
  return OWN_DATE.test(text) || mayNeedParser(text);
}
