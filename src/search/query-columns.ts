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
import type { DateRange } from '../text/dates.ts';
import { namedAuthors } from '../text/names.ts';
import { contextRelevance, type QueryWords, type SessionScores, sessionScores } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import { isUnseenTurn, sessionOf } from './turns.ts';
import type { View } from './view.ts';
import type { Counting } from './word-counts.ts';
import { fillScores, STRENGTHS, scoreOf, type WordScores } from './word-scores.ts';

/** A signal of a query for every row; NaN where it is unknown. */
export interface QueryColumn {
  at(row: number): number;
  /** Writes down those of the first `count` of ascending rows: a loop of its own for each signal, as a call for each row costs more. */
  fill(rows: Int32Array, count: number, out: Float64Array): void;
}

/** What a query finds of rows, beside their similarity. A signal that is unknown for all rows has no column. */
export interface QueryColumns {
  readonly lexical: WordScores;
  /** Whether every row has the signal, or none. */
  known(name: ExactSignalName): boolean;
  /** What its words can be counted by; absent where no term of it is left. */
  readonly counting: Counting | undefined;
  readonly exact: { readonly [Name in ExactSignalName]: QueryColumn | undefined };
  /** Whether its words decide who is among the best; else they are counted for the answer alone. */
  readonly ranked: boolean;
  readonly passable: Passable;
}

/**
 * What is known of the visible rows that can be passed over. They fall into bands, by how well their words and those beside them can
 * match, and in each band into classes, by the words of their sessions.
 */
export interface Passable {
  /** Rows that are not passed over, ascending, visible or not: those that can match best. */
  readonly strong: Int32Array;
  /** By row, and by group of rows the highest: see {@link WordScores}. Absent where all rows are of the first band. */
  readonly strengths: Uint8Array | undefined;
  readonly tops: Uint8Array | undefined;
  /** By strength: the band. The first one, where there are others, is that of rows that no word touches. */
  readonly bandOf: Uint8Array;
  /** By the index's number of a session, 0 for none: the class of its rows. */
  readonly classOf: Uint8Array;
  /** By band, of each class of rows: between which values a signal lies, where it is known. */
  readonly bands: readonly (readonly SignalRanges[])[];
}

export type SignalRanges = { readonly [Name in ExactSignalName]: Interval };

/** Classes of sessions that have a word of the query, by their relevance. */
const SESSION_CLASSES = 6;

/** The signals that words make. */
export const WORD_SIGNALS: readonly ExactSignalName[] = ['lexical', 'contextLexical', 'sessionLexical'];

/** Days off the named range after which a date matches half as well. */
const DATE_HALF_LIFE_DAYS = 7;

/**
 * The columns of a query, of the signals that are `read` only. `words` are absent where no term of it is left: its text
 * then stands for them. Of rows that were counted, `fewestStrong` at least are looked at whatever their similarity.
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
      // A row that is not visible is no part of what was counted.
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
          // Those of no session count alone: most rows of conversations are not among them.
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
  // A query without words, not even one to look for as it stands, says of no row how well its words match.
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
 * Ends of classes are multiples of 1 / this, so that what is worked out for a class is of use to the next query. What is lost is a
 * thirty-second part of what the words of a session count.
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

/** How many bands there are of rows that a word touches. */
const BANDS = 4;

/** Up to so many times as many rows as must be strong, all that were counted are: to look at them costs less than bands. */
const WORTH_BANDS = 8;

/** Those of the rows that can match best, `fewest` at least, if so many are stronger than `least`; no other row is stronger than `end`. */
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

/** Sessions with about the same relevance, together; the first class is that of rows in none, or in one that has no word. */
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

/** The signals of a row. */
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

/** Of a recall without a query. */
export const NOTHING_FOUND = Object.fromEntries(QUERY_SIGNALS.map((name) => [name, undefined])) as {
  readonly [Name in QuerySignalName]: undefined;
};

/**
 * 2^(−days/7) with the days from a moment to the nearest end of the nearest range; 1 inside of one.
 */
export function dateMatch(at: number, ranges: readonly DateRange[]): number {
  let nearest = Infinity;
  for (const { start, end } of ranges) {
    const off = at < start ? start - at : at >= end ? at - end : 0;
    nearest = Math.min(nearest, off);
  }
  return exponentialDecay(nearest / MILLISECONDS_PER_DAY, DATE_HALF_LIFE_DAYS);
}
