import type { CalendarDay } from '../../domain/zone.ts';
import {
  isBefore,
  LOOKED_BACK,
  later,
  overlaps,
  type Span,
  type Stretch,
  WEEKDAYS,
  weekdayOf,
} from './periods.ts';

/** Words that make a date one end of a period, and those between them and the date. */
const OPENING =
  /\b(?:(?:ever\s+)?(since|from)|(after)|(before|prior\s+to)|(until|till|up\s+to))\s+(?:(?:in|on|of)\s+)?(?:the\s+)?$/i;
/** What the words of a date may begin with. */
const LEADING = /^(?:(?:since|after|before|prior\s+to|until|till|by|from|in|on|of|the)\s+)+/i;
/** "From May" is of May, and "from May onwards" lasts until now. */
const ONWARDS = /^\s+(?:onwards?\b|on(?=\s*(?:[,.;:?!]|$)))/i;

/** In "just before May", "not until May" and "the week after 2020", the date says when, and not until or since when. */
const CLOSE =
  /\b(?:before (?:and|or)|just|right|shortly|soon|immediately|directly|straight|not|(?:day|night|morning|afternoon|evening|week|month|quarter|year|spring|summer|autumn|fall|winter)s?)\s+$/i;
const DAY_BESIDE = new RegExp(
  `\\b(?:(?:the|last|next|first|previous)\\s+)*(${WEEKDAYS.join('|')})\\s+$`,
  'i',
);

/** A day before all memories, in every time zone. */
const BEGINNING: CalendarDay = { year: 1, month: 1, day: 1 };

/**
 * Extends dates to the period that the word before them names: "since May" lasts until now, "after May" begins where May
 * ends, "before May" ends where it begins, and "until May" ends with it. "The Sunday before 5 May" is that day.
 */
export function withOpenEnds(spans: readonly Span[], text: string, today: CalendarDay): readonly Span[] {
  const found: Span[] = [];
  for (const span of spans) {
    const opened = span.isRange ? span : opening(span, text, today);
    const last = found.at(-1);
    // "The Sunday" of "the Sunday before 5 May" may have been read as the latest one.
    if (last && overlaps(last, opened)) found.pop();
    found.push(opened);
  }
  return found;
}

function opening(span: Span, text: string, today: CalendarDay): Span {
  const at = span.index + (LEADING.exec(span.text)?.[0].length ?? 0);
  const looked = Math.max(0, at - LOOKED_BACK);
  const match = OPENING.exec(text.slice(looked, at));
  if (!match || isBefore(today, span.first)) return span;
  const [, since, after, before] = match;
  const end = span.index + span.text.length;
  const onwards = ONWARDS.exec(text.slice(end))?.[0] ?? '';
  if (since?.toLowerCase() === 'from' && onwards === '') return span;
  const index = looked + match.index;
  const preceding = text.slice(looked, index);
  const beside = after || before ? DAY_BESIDE.exec(preceding) : null;
  if (beside) {
    const day = dayBeside(WEEKDAYS.indexOf(beside[1]!.toLowerCase() as never), span, after !== undefined);
    const start = looked + beside.index;
    return { index: start, text: text.slice(start, end), ...day };
  }
  if ((after || before) && CLOSE.test(preceding)) return span;
  const now = later(today, 'day');
  const period = since
    ? { first: span.first, after: now }
    : after
      ? { first: span.after, after: now }
      : { first: BEGINNING, after: before ? span.first : span.after };
  // "After May", said in May, is still to come.
  if (!isBefore(period.first, period.after)) return span;
  return { index, text: text.slice(index, end + onwards.length), ...period };
}

/** Returns the last such day or weekend before a period, or the first one after it. */
function dayBeside(weekday: number, { first, after }: Stretch, isAfter: boolean): Stretch {
  const length = weekday === 7 ? 2 : 1;
  const day = weekday === 7 ? 6 : weekday;
  if (isAfter) return days({ ...after, day: after.day + ((day - weekdayOf(after) + 7) % 7) }, length);
  const latest = { ...first, day: first.day - length };
  return days({ ...latest, day: latest.day - ((weekdayOf(latest) - day + 7) % 7) }, length);
}

function days(first: CalendarDay, count: number): Stretch {
  return { first, after: later(first, 'day', count) };
}
