import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { exponentialDecay } from '../scoring/arithmetic.ts';
import { valueAt } from '../scoring/compile.ts';
import type { Interval } from '../scoring/operators/interval.ts';
import {
  EXACT_SIGNALS,
  type ExactSignalName,
  QUERY_SIGNALS,
  type QuerySignalName,
  type QuerySignals,
} from '../scoring/signals.ts';
import type { PreparedQuery } from '../store/store.ts';
import type { DateRange } from '../text/dates/dates.ts';
import { namedAuthors } from '../text/names.ts';
import { contextRelevance, type QueryWords, type SessionScores, sessionScores } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import { isUnseenTurn, sessionOf } from './turns.ts';
import type { View } from './view.ts';
import type { Counting } from './word-counts.ts';
import { fillScores, STRENGTHS, scoreOf, type WordScores } from './word-scores.ts';

/** The values of one query signal, by row; NaN where unknown. */
export interface QueryColumn {
  at(row: number): number;
  /**
   * Writes the values of the first `count` of the ascending `rows` to `out`. Each signal has its own loop: a call for
   * each row costs more.
   */
  fill(rows: Int32Array, count: number, out: Float64Array): void;
}

/** What a query computes for rows, except their similarity. A signal that is unknown for all rows has no column. */
export interface QueryColumns {
  readonly lexical: WordScores;
  /** Whether the signal is known of all rows; else it is known of none. */
  known(name: ExactSignalName): boolean;
  /** What is needed to count the query's words in a row; absent if no term of the query is left. */
  readonly counting: Counting | undefined;
  readonly exact: { readonly [Name in ExactSignalName]: QueryColumn | undefined };
  /** Whether words affect the ranking. If not, they are counted only for the answer. */
  readonly ranked: boolean;
  readonly passable: Passable;
}

/**
 * What is known of the visible rows that may be skipped. They are divided into bands by how well their own and
 * neighbouring words can match, and each band into classes by the relevance of their sessions.
 */
export interface Passable {
  /** Rows that are never skipped, visible or not: those that can match best. Ascending. */
  readonly strong: Int32Array;
  /**
   * By row, and the highest of each group of rows: see {@link WordScores}. Absent if all rows are in the first band.
   */
  readonly strengths: Uint8Array | undefined;
  readonly tops: Uint8Array | undefined;
  /** The band of each strength. If there are several bands, the first is of rows that no word touches. */
  readonly bandOf: Uint8Array;
  /** The class of the rows of a session, by the index's number of the session; number 0 is no session. */
  readonly classOf: Uint8Array;
  /** By band, then by class: the range of each signal for its rows. */
  readonly bands: readonly (readonly SignalRanges[])[];
}

export type SignalRanges = { readonly [Name in ExactSignalName]: Interval };

/** How many classes there are for sessions that contain a word of the query, by their relevance. */
const SESSION_CLASSES = 6;

/** The signals that are computed from words. */
export const WORD_SIGNALS: readonly ExactSignalName[] = ['lexical', 'contextLexical', 'sessionLexical'];

/** A date this many days outside the named range matches half as well. */
const DATE_HALF_LIFE_DAYS = 7;

/**
 * Computes the columns of a query for the signals in `read`. Without `words`, no term of the query is left and its text
 * is matched as a substring. At least `fewestStrong` of the rows that were counted are never skipped.
 */
export function queryColumns(
  index: ResidentIndex,
  view: View,
  query: PreparedQuery,
  lexical: WordScores,
  words: QueryWords | undefined,
  read: ReadonlySet<string>,
  fewestStrong: number,
): QueryColumns {
  let inSessions: SessionScores | undefined;
  const make: { readonly [Name in ExactSignalName]: () => QueryColumn | undefined } = {
    lexical: () => scoresColumn(lexical, 'relevance'),
    contextLexical: () => {
      if (!words || !lexical.inContext) return scoresColumn(lexical, 'relevance');
      const { turns } = view;
      const seen = scoresColumn(lexical, 'inContext');
      // The counts do not include rows that are not visible.
      const unseen = (row: number) => contextRelevance(index, turns, words, row);
      return {
        at: (row) => (isUnseenTurn(index, turns, row) ? unseen(row) : seen.at(row)),
        fill(rows, count, out) {
          seen.fill(rows, count, out);
          for (let at = 0; at < count; at++) {
            const row = rows[at]!;
            if (isUnseenTurn(index, turns, row)) out[at] = unseen(row);
          }
        },
      };
    },
    sessionLexical: () => {
      const own = scoresColumn(lexical, 'relevance');
      if (!words) return own;
      const { turns } = view;
      inSessions = sessionScores(index, turns, words);
      const scores = inSessions.relevance;
      return {
        at(row) {
          const session = sessionOf(index, turns, row);
          return session === 0 ? own.at(row) : scores[session]!;
        },
        fill(rows, count, out) {
          // Rows in no session count alone. In conversations there are few of them.
          const alone = new Int32Array(count);
          let aloneCount = 0;
          for (let at = 0; at < count; at++) {
            const row = rows[at]!;
            const session = sessionOf(index, turns, row);
            if (session === 0) alone[aloneCount++] = row;
            else out[at] = scores[session]!;
          }
          const values = new Float64Array(aloneCount);
          own.fill(alone, aloneCount, values);
          for (let at = 0, place = 0; place < aloneCount; at++) {
            if (rows[at] === alone[place]) out[at] = values[place++]!;
          }
        },
      };
    },
    authorNamed: () => {
      if (query.text === undefined) return undefined;
      const named = namedAuthors(query.text, view.authors);
      if (named.length === 0) return undefined;
      const { codes, dictionary } = index.columns.attributes.author;
      const code = named.length === 1 ? dictionary.codes.get(named[0]!) : undefined;
      return columnOf((row) => (codes[row] === code ? 1 : 0));
    },
    dateMatch: () => {
      const { dates = [] } = query;
      if (dates.length === 0) return undefined;
      const { createdAt } = index.columns.clocks;
      return columnOf((row) => dateMatch(valueAt(createdAt, row), dates));
    },
    saidByUser: () => {
      if (!view.hasRoles) return undefined;
      const { codes, dictionary } = index.columns.attributes.role;
      const said = Uint8Array.from(dictionary.texts, (role) => (role === '' || role === 'user' ? 1 : 0));
      return codesColumn(codes, said);
    },
  };
  const exact = Object.fromEntries(
    EXACT_SIGNALS.map((name) => [name, name === 'lexical' || read.has(name) ? make[name]() : undefined]),
  ) as QueryColumns['exact'];
  // If the query has neither words nor a substring, no row has a value for its words.
  const hasWords = words !== undefined || query.substring !== undefined;
  const aroundRead = read.has('contextLexical') || read.has('sessionLexical');
  const counting = words && {
    words,
    turns: aroundRead ? view.turns : undefined,
    sessions: aroundRead ? (inSessions ?? sessionScores(index, view.turns, words)) : undefined,
    written: query.written,
  };
  return {
    lexical,
    counting,
    exact,
    ranked: lexical.uncounted?.all !== true,
    passable: passable(index, view, lexical, inSessions?.relevance, fewestStrong),
    known: (name) => exact[name] !== undefined && (hasWords || !WORD_SIGNALS.includes(name)),
  };
}

/**
 * Ends of classes are rounded outwards to multiples of 1 / `CLASS_ENDS`, so that bounds of a class can be reused by the
 * next query. Its range widens by at most 1/32 of the relevance at each end.
 */
const CLASS_ENDS = STRENGTHS;

function passable(
  index: ResidentIndex,
  view: View,
  lexical: WordScores,
  scores: Float64Array | undefined,
  fewestStrong: number,
): Passable {
  const { classOf, ranges } = sessionClasses(index, view, scores);
  const bandOf = new Uint8Array(STRENGTHS + 1);
  // A row in no session counts as a session of its own.
  const bandUpTo = (most: number) =>
    ranges.map((range, each) => rangesWith(most, each === 0 ? [0, most] : range));
  const { rows, strengths, tops, least } = lexical;
  if (!strengths) {
    const bands = [bandUpTo(lexical.uncounted ? 1 : 0)];
    return { strong: rows, strengths, tops: undefined, bandOf, classOf, bands };
  }
  const { strong, end } = strongAmong(rows, strengths, fewestStrong, least);
  const bands = [bandUpTo(0)];
  let last = 0;
  for (let each = 1; each <= BANDS; each++) {
    const most = Math.ceil((end * each) / BANDS);
    if (most === last) continue;
    bandOf.fill(bands.length, last + 1);
    bands.push(bandUpTo(most / STRENGTHS));
    last = most;
  }
  return { strong, strengths, tops, bandOf, classOf, bands };
}

/** How many bands there are for rows that a word touches. */
const BANDS = 4;

/** Up to this many times `fewest`, all counted rows are strong: looking at them costs less than using bands. */
const WORTH_BANDS = 8;

/**
 * Returns the rows that can match best: at least `fewest`, if that many are stronger than `least`. No other row is
 * stronger than `end`.
 */
function strongAmong(rows: Int32Array, strengths: Uint8Array, fewest: number, least: number) {
  if (rows.length <= WORTH_BANDS * fewest) return { strong: rows, end: least };
  const counts = new Uint32Array(STRENGTHS + 1);
  for (let at = 0; at < rows.length; at++) counts[strengths[rows[at]!]!]!++;
  let end = STRENGTHS;
  let count = 0;
  for (; end > least && count < fewest; end--) count += counts[end]!;
  const strong = new Int32Array(count);
  let found = 0;
  for (let at = 0; at < rows.length; at++) {
    if (strengths[rows[at]!]! > end) strong[found++] = rows[at]!;
  }
  return { strong, end };
}

/**
 * Groups sessions with about the same relevance. The first class is for rows in no session, or in one without a word of
 * the query.
 */
function sessionClasses(
  index: ResidentIndex,
  view: View,
  scores: Float64Array | undefined,
): { readonly classOf: Uint8Array; readonly ranges: readonly Interval[] } {
  const classOf = new Uint8Array(index.sessions.dictionary.texts.length + 1);
  if (scores === undefined) return { classOf, ranges: [[0, 0]] };
  const { sizes } = view.turns;
  const highest = scores.reduce((most, each) => Math.max(most, each), 0);
  const width = highest / SESSION_CLASSES;
  for (let code = 1; code < classOf.length; code++) {
    const score = sizes[code] === 0 ? 0 : scores[code]!;
    if (score > 0) classOf[code] = Math.max(1, Math.min(SESSION_CLASSES, Math.ceil(score / width)));
  }
  const ranges = Array.from({ length: SESSION_CLASSES }, (): [number, number] => [Infinity, 0]);
  for (let code = 1; code < classOf.length; code++) {
    const range = ranges[classOf[code]! - 1];
    if (!range) continue;
    const score = scores[code]!;
    range[0] = Math.min(range[0], score);
    range[1] = Math.max(range[1], score);
  }
  const ends = ranges.map(
    ([low, high]): Interval => [
      Math.floor(Math.min(low, high) * CLASS_ENDS) / CLASS_ENDS,
      Math.ceil(high * CLASS_ENDS) / CLASS_ENDS,
    ],
  );
  return { classOf, ranges: [[0, 0], ...ends] };
}

function rangesWith(most: number, sessionLexical: Interval): SignalRanges {
  const whatever: Interval = [0, 1];
  return {
    lexical: [0, most],
    contextLexical: [0, most],
    sessionLexical,
    authorNamed: whatever,
    dateMatch: whatever,
    saidByUser: whatever,
  };
}

function columnOf(at: (row: number) => number): QueryColumn {
  return {
    at,
    fill(rows, count, out) {
      for (let each = 0; each < count; each++) out[each] = at(rows[each]!);
    },
  };
}

function scoresColumn(scores: WordScores, said: 'relevance' | 'inContext'): QueryColumn {
  return {
    at: (row) => scoreOf(scores, said, row),
    fill: (rows, count, out) => fillScores(scores, said, rows, count, out),
  };
}

function codesColumn(codes: ArrayLike<number>, values: Uint8Array): QueryColumn {
  return {
    at: (row) => values[codes[row]!]!,
    fill(rows, count, out) {
      for (let each = 0; each < count; each++) out[each] = values[codes[rows[each]!]!]!;
    },
  };
}

/** Returns the query signals of a row. */
export function querySignals(
  { exact }: QueryColumns,
  row: number,
  similarity: number | undefined,
): QuerySignals {
  const signals: { -readonly [Name in keyof QuerySignals]: number | undefined } = {
    ...NOTHING_FOUND,
    similarity,
  };
  for (const name of EXACT_SIGNALS) {
    const value = exact[name]?.at(row);
    if (value !== undefined && !Number.isNaN(value)) signals[name] = value;
  }
  return signals;
}

/** The query signals of a recall without a query. */
export const NOTHING_FOUND = Object.fromEntries(QUERY_SIGNALS.map((name) => [name, undefined])) as {
  readonly [Name in QuerySignalName]: undefined;
};

/** Returns 2^(−days/7) for the days from `at` to the nearest end of the nearest range; 1 inside a range. */
export function dateMatch(at: number, ranges: readonly DateRange[]): number {
  let nearest = Infinity;
  for (const { start, end } of ranges) {
    const off = at < start ? start - at : at >= end ? at - end : 0;
    nearest = Math.min(nearest, off);
  }
  return exponentialDecay(nearest / MILLISECONDS_PER_DAY, DATE_HALF_LIFE_DAYS);
}
