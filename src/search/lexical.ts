import { inverseDocumentFrequency, lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { weightOf } from '../text/spelling.ts';
import { followRows, type Groups } from './groups.ts';
import { grow } from './grow.ts';
import { frequencyOf, LARGE, type Postings, rowOf } from './postings.ts';
import { averageLength, documentFrequency, type ResidentIndex } from './resident-index.ts';
import { neighboursOf, type Turns } from './turns.ts';
import type { FoundStandIn } from './vocabulary.ts';

/** The words of a query, weighted by what the index knows of them. */
export interface QueryWords {
  /** The terms to look for, in the order in which scores are summed. A term may stand in for more than one word. */
  readonly terms: readonly string[];
  /** The weight of each term: 1, or less if it stands in for another word. */
  readonly weights: readonly number[];
  /** `weights` × the inverse document frequency of each. */
  readonly idfs: readonly number[];
  /** How many memories contain each term. */
  readonly documentFrequencies: readonly number[];
  /** `undefined` for a term that no memory contains. */
  readonly postings: readonly (Postings | undefined)[];
  /** The distinct words of the query, sorted. */
  readonly asked: readonly AskedWord[];
  readonly idfSum: number;
  readonly averageLength: number;
  /** What the average length was computed from. */
  readonly memoryCount: number;
  readonly totalLength: number;
}

/** A word of a query, and the range `first` to before `end` of the terms that are looked for because of it. */
export interface AskedWord {
  readonly term: string;
  readonly documentFrequency: number;
  readonly first: number;
  readonly end: number;
  /**
   * Known terms that stand in for the word because no visible memory contains it; empty if the word itself is looked
   * for.
   */
  readonly standIns: readonly FoundStandIn[];
}

/**
 * Weighs the words of a query. `ids` are the store's numbers of `terms`, `undefined` for a term that it has never seen.
 * `standInsOf` returns the stand-ins of a term, if any.
 */
export function queryWords(
  index: ResidentIndex,
  terms: readonly string[],
  ids: readonly (number | undefined)[],
  standInsOf: (term: string) => readonly FoundStandIn[],
): QueryWords {
  const { memoryCount, totalLength } = index;
  const idOf = new Map(terms.map((term, at) => [term, ids[at]]));
  const looked = { terms: [] as string[], weights: [] as number[], idfs: [] as number[] };
  const documentFrequencies: number[] = [];
  const postings: (Postings | undefined)[] = [];
  const lookFor = (term: string, id: number | undefined, weight: number) => {
    const found = id === undefined ? undefined : index.postings.get(id);
    const frequency = found ? documentFrequency(index, found) : 0;
    looked.terms.push(term);
    looked.weights.push(weight);
    looked.idfs.push(weight * inverseDocumentFrequency(memoryCount, frequency));
    documentFrequencies.push(frequency);
    postings.push(found);
  };
  const asked = [...idOf.keys()].sort().map((term): AskedWord => {
    const id = idOf.get(term);
    const first = looked.terms.length;
    const found = standInsOf(term);
    for (const each of found) lookFor(each.term, each.id, weightOf(each));
    if (found.length === 0) lookFor(term, id, 1);
    const own = id === undefined ? undefined : index.postings.get(id);
    const frequency = own ? documentFrequency(index, own) : 0;
    return { term, documentFrequency: frequency, first, end: looked.terms.length, standIns: found };
  });
  const idfSum = fullMatch(asked, looked.idfs, ({ documentFrequency }) =>
    inverseDocumentFrequency(memoryCount, documentFrequency),
  );
  return {
    documentFrequencies,
    postings,
    asked,
    memoryCount,
    totalLength,
    idfSum,
    averageLength: averageLength(index),
    ...looked,
  };
}

/**
 * Returns the sum of the weights that a text with every word once reaches. A word with stand-ins counts its own weight,
 * or theirs together if that is more.
 */
export function fullMatch(
  asked: readonly AskedWord[],
  idfs: readonly number[],
  idfOf: (word: AskedWord) => number,
): number {
  let sum = 0;
  for (const word of asked) {
    let looked = 0;
    for (let at = word.first; at < word.end; at++) looked += idfs[at]!;
    sum += word.standIns.length === 0 ? looked : Math.max(idfOf(word), looked);
  }
  return sum;
}

/** Counts the rows of an ascending list that contain a term. */
export function frequencyAmong(rows: Int32Array, postings: Postings | undefined): number {
  let count = 0;
  let low = 0;
  for (let at = 0; postings && at < postings.count; at++) {
    const row = rowOf(postings.entries[at]!);
    low = placeOf(rows, row, low);
    if (rows[low] === row) count++;
  }
  return count;
}

/** Whether a row of an ascending list contains a term. */
export function isAmong(rows: Int32Array, postings: Postings | undefined): boolean {
  let low = 0;
  for (let at = 0; postings && at < postings.count; at++) {
    const row = rowOf(postings.entries[at]!);
    low = placeOf(rows, row, low);
    if (rows[low] === row) return true;
  }
  return false;
}

/**
 * Returns the first place, from `low` to before `end`, whose row is not less than `row`; `end` if there is none.
 * Default of `end` is the length of the list.
 */
export function placeOf(rows: Int32Array, row: number, low: number, end = rows.length): number {
  let start = low;
  let stop = end;
  while (start < stop) {
    const middle = (start + stop) >> 1;
    if (rows[middle]! < row) start = middle + 1;
    else stop = middle;
  }
  return start;
}

/**
 * Does the same as {@link placeOf}, faster where few rows are missing in between: a place is at most as far away as its
 * row.
 */
export function placeAfter(rows: Int32Array, row: number, low: number): number {
  if (low >= rows.length) return low;
  const off = row - rows[low]!;
  if (off <= 0) return low;
  const last = low + off;
  if (rows[last] === row) return last;
  return placeOf(rows, row, low + 1, Math.min(last, rows.length));
}

/** Computes the relevance of the words of a row together with its neighbours. */
export function contextRelevance(index: ResidentIndex, turns: Turns, words: QueryWords, row: number): number {
  const neighbours = neighboursOf(index, turns, row);
  let length = index.lengths[row]!;
  for (const { row: other, weight } of neighbours) length += weight * index.lengths[other]!;
  const normalization = lengthNormalization(length, words.averageLength);
  let bm25 = 0;
  words.postings.forEach((postings, at) => {
    if (!postings) return;
    let frequency = frequencyIn(postings, row);
    for (const { row: other, weight } of neighbours) frequency += weight * frequencyIn(postings, other);
    if (frequency > 0) bm25 += termScore(words.idfs[at]!, frequency, normalization);
  });
  return lexicalRelevance(bm25, words.idfSum);
}

/** How well sessions match a query, each session taken as one text. */
export interface SessionScores {
  /** By the index's number of a session: its relevance among the sessions with a visible memory. */
  readonly relevance: Float64Array;
  /** How many sessions there are, and how many terms they have in all. */
  readonly count: number;
  readonly totalLength: number;
  /** One entry for each term. */
  readonly frequencies: readonly SessionFrequencies[];
}

/** How often a term occurs in the sessions that have it. */
export interface SessionFrequencies {
  /** The index's numbers of the sessions. */
  readonly sessions: Uint32Array;
  /** How often the term occurs in each of `sessions`. */
  readonly counts: Float64Array;
}

/**
 * Reused arrays for counting: the count of each session, 0 before and after each use, and the sessions that were
 * counted.
 */
const room = { counts: new Float64Array(0), sessions: new Uint32Array(0) };

export function sessionScores(index: ResidentIndex, turns: Turns, words: QueryWords): SessionScores {
  const { sessionLengths, count, totalLength } = turns;
  const bm25 = new Float64Array(sessionLengths.length);
  const average = count > 0 ? totalLength / count : 0;
  const idfs: number[] = [];
  followRows(index);
  const seen = turns.sizes.reduce((sum, size) => sum + size, 0);
  const states = seen === index.groups.inSessions ? undefined : turns.states;
  const frequencies = words.postings.map((postings, term) => {
    const found = sessionsWith(postings, index.groups, states, sessionLengths.length);
    const { sessions, counts } = found;
    const idf = words.weights[term]! * inverseDocumentFrequency(count, sessions.length);
    idfs.push(idf);
    for (let at = 0; at < sessions.length; at++) {
      const session = sessions[at]!;
      const normalization = lengthNormalization(sessionLengths[session]!, average);
      bm25[session]! += termScore(idf, counts[at]!, normalization);
    }
    return found;
  });
  const idfSum = fullMatch(words.asked, idfs, () => inverseDocumentFrequency(count, 0));
  const relevance = bm25;
  for (let code = 0; code < bm25.length; code++) relevance[code] = lexicalRelevance(bm25[code]!, idfSum);
  return { relevance, count, totalLength, frequencies };
}

const NO_ENTRIES = new Uint32Array(0);

/**
 * Counts a term in each session. `most` is above all numbers of sessions. Without `states`, every row of a session is
 * visible.
 */
function sessionsWith(
  postings: Postings | undefined,
  { runStarts, runSessions, runCount }: Groups,
  states: Uint8Array | undefined,
  most: number,
): SessionFrequencies {
  room.counts = grow(room.counts, most);
  room.sessions = grow(room.sessions, most);
  const { counts, sessions } = room;
  let found = 0;
  let run = -1;
  let end = 0;
  let next = 0;
  let session = 0;
  let sum = 0;
  const entries = postings?.entries ?? NO_ENTRIES;
  const count = postings?.count ?? 0;
  for (let at = 0; at < count; at++) {
    const entry = entries[at]!;
    const row = rowOf(entry);
    if (row >= end) {
      // The session of each row is not in the processor's cache; the few runs are.
      do {
        run++;
        end = run + 1 < runCount ? runStarts[run + 1]! : Infinity;
      } while (row >= end);
      next = runSessions[run]!;
    }
    if (next === 0 || (states && states[row] === 0)) continue;
    if (next !== session) {
      counts[session] = sum;
      session = next;
      sum = counts[session]!;
      if (sum === 0) sessions[found++] = session;
    }
    const frequency = entry & LARGE;
    sum += frequency === LARGE ? frequencyOf(postings!, entry) : frequency;
  }
  counts[session] = sum;
  const answer = { sessions: sessions.slice(0, found), counts: new Float64Array(found) };
  for (let at = 0; at < found; at++) {
    answer.counts[at] = counts[sessions[at]!]!;
    counts[sessions[at]!] = 0;
  }
  return answer;
}

/** Returns how often a term occurs in a row. Postings are in ascending order of rows. */
export function frequencyIn(postings: Postings, row: number): number {
  const { entries, count } = postings;
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rowOf(entries[middle]!) < row) low = middle + 1;
    else high = middle;
  }
  return low < count && rowOf(entries[low]!) === row ? frequencyOf(postings, entries[low]!) : 0;
}
