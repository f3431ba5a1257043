import { between, notBefore, type Span } from './periods.ts';

/** Joins two dates into a range if only a word for a range is between them. */
export function joinedRanges(spans: readonly Span[], text: string): readonly Span[] {
  const found: Span[] = [];
  for (let at = 0; at < spans.length; at++) {
    const span = spans[at]!;
    const next = spans[at + 1];
    if (next && areEnds(span, next, text)) {
      const words = text.slice(span.index, next.index + next.text.length);
      const end = span.isWeekday && next.isWeekday ? notBefore(span, next) : next;
      found.push({ index: span.index, text: words, isRange: true, ...between(span, end) });
      at++;
      continue;
    }
    const named = next && FROM_NOW.test(next.text) ? span : withYearOf(span, next, text);
    // In "Q1 or Q2 2025", the first one has its year from the second.
    if (!span.isLone || named !== span) found.push(named);
  }
  return found;
}

/** Dates counted from now name no year for the month before: "in July and yesterday". */
const FROM_NOW = /\b(?:yesterday|today|tonight|last|this|past|previous|next|ago|earlier)\b/i;
const RELATIVE_YEAR = /^(?:(?:the )?(?:last|this|current|next|past|previous) year|\S+ years? ago)$/i;
const YEAR_FOLLOWS = /^[\s,]*(?:(?:of|in)\s+)?$/i;
const YEAR_PRECEDES = /^[\s,]*(?:(?:in|on|during|around)\s+)?(?:the\s+)?$/i;

/** In "May of last year" and "last year in May", the month is of that year. Ranges and seasons likewise. */
export function withRelativeYears(spans: readonly Span[], text: string): readonly Span[] {
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
    named = { ...(follows ? span : next), index: span.index, text: words, first, after, inYear: undefined };
    found[found.length - 1] = named;
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

/** "Since March or before 2024" names a March without a year. */
const HAS_OWN_END = /^(?:since|before|after|prior)\b/i;

/** More months from the second date to the first than within a year that is meant for both. */
const OTHER_YEAR = 6;

/** In "June or August 2023", both months are of that year; in "December or January 2026", December is of the one before. */
function withYearOf(span: Span, next: Span | undefined, text: string): Span {
  if (!span.inYear || !next || next.inYear || HAS_OWN_END.test(next.text)) return span;
  const between = text.slice(span.index + span.text.length, next.index);
  const joined = /^\s*(?:and|or|to|until|till|through|[-–—,/])\s*(?:in\s+)?$/i.test(between);
  if (!joined) return span;
  const year = next.year ?? next.first.year;
  const { first } = span.inYear(year);
  const ahead = 12 * (first.year - next.first.year) + first.month - next.first.month;
  return { ...span, ...span.inYear(ahead > OTHER_YEAR ? year - 1 : year) };
}
