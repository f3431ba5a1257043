import { type CalendarDay, midnightOf } from '../../domain/zone.ts';
import {
  countOf,
  grained,
  isBefore,
  LOOKED_BACK,
  later,
  NUMBER_WORDS,
  type Span,
  type Stretch,
  WEEKDAYS,
  weekdayOf,
  yearly,
} from './periods.ts';

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'];
/** "The last days of May" are a few. */
const FEW = 3;
/** The words before a period that name a part of it: "the first week of", "the last three months of", "early". */
const PART = new RegExp(
  `\\b(?:the\\s+)?(?:(${ORDINALS.join('|')}|last|[1-5](?:st|nd|rd|th))\\s+(?:(\\d\\d?|couple\\s+of|few|${NUMBER_WORDS.join('|')})\\s+)?` +
    `(day|weekend|week|month|quarter|half|${WEEKDAYS.join('|')})(s?)\\s+(?:of|in)|(week|weekend)\\s+of|` +
    '(early|late|mid|(?:beginning|start|middle|end)\\s+of)(?:\\s+in)?)[\\s-]+(?:the\\s+)?$',
  'i',
);
/** "Until the end of 2025" ends with that year. */
const OPENING = /\b(until|till|up\s+to|before|by|after|since)\s+$/i;
/** Words of a span that say nothing of the period that the library read. */
const LEADING =
  /^(?:(?:in|on|of|the|end\s+of(?=\s+last\b)|(?:early|mid|late)(?=\s+\d{4}$))\s+|mid-(?=\d{4}$))+/i;

/** Narrows periods to the part that the words before them name: "the first week of May", "early May". */
export function withParts(spans: readonly Span[], text: string, today: CalendarDay): readonly Span[] {
  return (
    spans
      .map((span) => narrow(span, text, today))
      // "The last week" of "the last week of May" and of "the last week of school" is not the latest one.
      .filter(({ index, text: words }) => {
        return !(/^last \w+$/i.test(words) && /^\s+of\b/i.test(text.slice(index + words.length)));
      })
  );
}

function narrow(span: Span, text: string, today: CalendarDay): Span {
  const at = span.index + (LEADING.exec(span.text)?.[0].length ?? 0);
  const looked = Math.max(0, at - LOOKED_BACK);
  const preceding = text.slice(looked, at);
  const match = PART.exec(preceding);
  if (!match) return span;
  const index = looked + match.index;
  const opening = OPENING.exec(preceding.slice(0, match.index))?.[1]?.toLowerCase();
  const part = (period: Stretch) => partOf(period, match, opening);
  const found = part(span);
  if (!found) return span;
  const { inYear } = span;
  const period = inYear ? yearly((year) => part(inYear(year)) ?? found, today) : found;
  return { ...span, index, text: text.slice(index, span.index + span.text.length), isLone: false, ...period };
}

/** Returns nothing if the period has no such part, or is so short that its beginning, middle and end are the same. */
function partOf(period: Stretch, match: RegExpExecArray, opening: string | undefined): Stretch | undefined {
  const [, ordinal, count, unit, plural, around, vague] = match.map((word) => word?.toLowerCase());
  const { first, after } = period;
  const length = daysOf(period);
  if (around) {
    if (length > 1) return undefined;
    const week = grained(first, 'week');
    return around === 'week' ? week : { ...week, first: { ...week.first, day: week.first.day + 5 } };
  }
  if (vague) {
    if (length < 28) return undefined;
    const isEnd = vague.startsWith('end');
    // "By the end of May" is some day of May.
    if (isEnd && opening) return opening === 'by' ? undefined : { first: later(after, 'day', -1), after };
    return fraction(period, isEnd || vague === 'late' ? 3 : vague.startsWith('mid') ? 2 : 1, 3);
  }
  const isLast = ordinal === 'last';
  const at = Number.parseInt(ordinal!, 10) || ORDINALS.indexOf(ordinal!) + 1;
  const many = count ? (countOf(count) ?? (count === 'few' ? FEW : 2)) : plural ? FEW : 1;
  if (unit === 'half') return fraction(period, isLast ? 2 : at, 2);
  const weekday = WEEKDAYS.indexOf(unit as (typeof WEEKDAYS)[number]);
  const grain = unit as 'day' | 'week' | 'month' | 'quarter';
  const part =
    weekday >= 0
      ? weekdayIn(period, weekday, isLast ? undefined : at)
      : isLast
        ? { first: later(after, grain, -many), after }
        : { first: later(first, grain, at - 1), after: later(first, grain, at - 1 + many) };
  return isBefore(part.first, first) || isBefore(after, part.after) || daysOf(part) === length
    ? undefined
    : part;
}

/** Returns the `at`-th day of the week in a period, or the last one; as in `WEEKDAYS`, 7 is the weekend. */
function weekdayIn({ first, after }: Stretch, weekday: number, at: number | undefined): Stretch {
  const days = weekday === 7 ? 2 : 1;
  const day = weekday === 7 ? 6 : weekday;
  const start =
    at === undefined
      ? after.day - days - ((weekdayOf({ ...after, day: after.day - days }) - day + 7) % 7)
      : first.day + ((day - weekdayOf(first) + 7) % 7) + 7 * (at - 1);
  const begin = { ...(at === undefined ? after : first), day: start };
  return { first: begin, after: { ...begin, day: start + days } };
}

/** Returns one of equal parts, in whole months if possible. */
function fraction({ first, after }: Stretch, part: number, of: number): Stretch | undefined {
  if (part > of) return undefined;
  const months = (after.year - first.year) * 12 + after.month - first.month;
  const inMonths = months > 0 && months % of === 0 && first.day === 1 && after.day === 1;
  const days = daysOf({ first, after });
  const edge = (each: number) =>
    each === of
      ? after
      : inMonths
        ? later(first, 'month', (months / of) * each)
        : later(first, 'day', Math.floor((days * each) / of));
  return { first: edge(part - 1), after: edge(part) };
}

function daysOf({ first, after }: Stretch): number {
  return Math.round((midnightOf(after) - midnightOf(first)) / 86_400_000);
}
