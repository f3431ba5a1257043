import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import {
  addTermScores,
  inverseDocumentFrequency,
  lengthNormalization,
  lexicalRelevance,
  termScore,
} from '../text/bm25.ts';
import { NEIGHBOUR_OFFSETS } from '../text/context.ts';
import { weightOf } from '../text/spelling.ts';
import { grow } from './grow.ts';
import {
  averageLength,
  documentFrequency,
  type GrowingPostings,
  type ResidentIndex,
} from './resident-index.ts';
import { neighboursOf, type Turns } from './turns.ts';
import type { FoundStandIn } from './vocabulary.ts';

/** The words of a query, weighed by what the index knows of them. */
export interface QueryWords {
  /** What is looked for, in the order in which scores are summed: a term may stand for more than one word. */
  readonly terms: readonly string[];
  /** How much each counts: 1, or less where it stands for another word. */
  readonly weights: readonly number[];
  /** `weights` × the inverse document frequency of each. */
  readonly idfs: readonly number[];
  /** How many memories have each. */
  readonly documentFrequencies: readonly number[];
  /** `undefined` for a term that no memory has. */
  readonly postings: readonly (GrowingPostings | undefined)[];
  /** The distinct words of the query, sorted. */
  readonly asked: readonly AskedWord[];
  readonly idfSum: number;
  readonly averageLength: number;
  /** What the mean length is made of, as it was then. */
  readonly memoryCount: number;
  readonly totalLength: number;
}

/** A word of a query, and which of the terms are looked for because of it. */
export interface AskedWord {
  readonly term: string;
  readonly documentFrequency: number;
  readonly first: number;
  readonly end: number;
  /** The known terms that stand for it, because no visible memory has it; empty where it is looked for itself. */
  readonly standIns: readonly FoundStandIn[];
}

/**
 * The words of a query by the store's numbers of them, `undefined` for one it has never seen. `standInsOf` says what stands
 * for a term, if anything.
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
  const postings: (GrowingPostings | undefined)[] = [];
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
  const words = { ...looked, documentFrequencies, postings, asked, memoryCount, totalLength };
  const idfSum = fullMatch(asked, looked.idfs, ({ documentFrequency }) =>
    inverseDocumentFrequency(memoryCount, documentFrequency),
  );
  return { ...words, idfSum, averageLength: averageLength(index) };
}

/**
 * What a text adds up to that has every word once: a word that others stand for keeps its place, unless these weigh more
 * together.
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

/** How many rows of an ascending list have a term. */
export function frequencyAmong(rows: Int32Array, postings: GrowingPostings | undefined): number {
  let count = 0;
  let low = 0;
  for (let at = 0; postings && at < postings.count; at++) {
    low = placeOf(rows, postings.rows[at]!, low);
    if (rows[low] === postings.rows[at]) count++;
  }
  return count;
}

/** Whether one of an ascending list of rows has a term. */
export function isAmong(rows: Int32Array, postings: GrowingPostings | undefined): boolean {
  let low = 0;
  for (let at = 0; postings && at < postings.count; at++) {
    low = placeOf(rows, postings.rows[at]!, low);
    if (rows[low] === postings.rows[at]) return true;
  }
  return false;
}

/** The first place, from `low` on, whose row is not before this one. */
function placeOf(rows: Int32Array, row: number, low: number): number {
  let start = low;
  let end = rows.length;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (rows[middle]! < row) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** BM25 of every row for one query. */
export interface LexicalScores {
  /** NaN everywhere when the query has no words at all: the relevance is then unknown, not 0. */
  readonly relevance: Float64Array;
  readonly bm25: Float64Array;
  /** 1 where the relevance need not be 0. */
  readonly touched: Uint8Array;
}

export function lexicalScores(index: ResidentIndex, words: QueryWords): LexicalScores {
  const bm25 = new Float64Array(index.size);
  const relevance = new Float64Array(index.size);
  const touched = new Uint8Array(index.size);
  words.postings.forEach((postings, at) => {
    if (postings) addTermScores(words.idfs[at]!, postings, index.lengths, words.averageLength, bm25);
  });
  for (const postings of words.postings) {
    if (!postings) continue;
    const { rows, count } = postings;
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      if (touched[row] === 1) continue;
      touched[row] = 1;
      relevance[row] = lexicalRelevance(bm25[row]!, words.idfSum);
    }
  }
  return { relevance, bm25, touched };
}

/** Scores of a query in which no term is left: a row either holds its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): LexicalScores {
  const relevance = new Float64Array(index.size);
  const touched = new Uint8Array(index.size);
  for (const key of keys) {
    const row = index.rowOfKey.get(key);
    if (row === undefined) continue;
    relevance[row] = SUBSTRING_RELEVANCE;
    touched[row] = 1;
  }
  return { relevance, bm25: new Float64Array(index.size), touched };
}

/** Scores of a recall without a query. */
export function noLexicalScores(index: ResidentIndex): LexicalScores {
  const { size } = index;
  return {
    relevance: new Float64Array(size).fill(Number.NaN),
    bm25: new Float64Array(size),
    touched: new Uint8Array(size),
  };
}

/** The relevance of the words of a row together with those around it. */
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

/**
 * {@link contextRelevance} of every row that has a word of the query, or stands beside one: term by term, in the same
 * order of additions, so that both give the same bits.
 */
export function contextScores(
  { codes, beside, weights, lengths }: Turns,
  words: QueryWords,
  lexical: LexicalScores,
): Pick<LexicalScores, 'relevance' | 'touched'> {
  const { counts, counted, bm25, reached } = roomFor(lexical.relevance.length);
  const { averageLength } = words;
  const around = NEIGHBOUR_OFFSETS.length;
  let count = 0;
  words.postings.forEach((postings, term) => {
    if (!postings) return;
    const idf = words.idfs[term]!;
    const now = nextStamp(counted);
    const { rows, frequencies } = postings;
    const add = (row: number) => {
      if (counted[row] === now) return;
      counted[row] = now;
      let frequency = counts[row]!;
      for (let each = around * row; each < around * (row + 1); each++) {
        const weight = weights[each]!;
        if (weight > 0) frequency += weight * counts[beside[each]!]!;
      }
      if (frequency === 0) return;
      const before = bm25[row]!;
      if (before === 0) reached[count++] = row;
      bm25[row] = before + termScore(idf, frequency, lengthNormalization(lengths[row]!, averageLength));
    };
    for (let at = 0; at < postings.count; at++) {
      const row = rows[at]!;
      if (codes[row] !== 0) counts[row] = frequencies[at]!;
    }
    for (let at = 0; at < postings.count; at++) {
      const row = rows[at]!;
      if (codes[row] === 0) continue;
      add(row);
      for (let each = around * row; each < around * (row + 1); each++) {
        const other = beside[each]!;
        if (other >= 0) add(other);
      }
    }
    for (let at = 0; at < postings.count; at++) counts[rows[at]!] = 0;
  });
  const relevance = lexical.relevance.slice();
  const touched = lexical.touched.slice();
  for (let at = 0; at < count; at++) {
    const row = reached[at]!;
    relevance[row] = lexicalRelevance(bm25[row]!, words.idfSum);
    touched[row] = 1;
    bm25[row] = 0;
  }
  return { relevance, touched };
}

/** Room to count in, which nothing holds on to. All but `counted` is 0 again after each use. */
interface Room {
  counts: Uint32Array;
  /** When each row was last counted around: a number that grows with every term. */
  counted: Uint32Array;
  bm25: Float64Array;
  reached: Int32Array;
}

/** Arrays of the size of a large index take longer to make than to use. */
const room: Room = {
  counts: new Uint32Array(0),
  counted: new Uint32Array(0),
  bm25: new Float64Array(0),
  reached: new Int32Array(0),
};
let stamp = 0;

function roomFor(rows: number): Room {
  room.counts = grow(room.counts, rows);
  room.counted = grow(room.counted, rows);
  room.bm25 = grow(room.bm25, rows);
  room.reached = grow(room.reached, rows);
  return room;
}

function nextStamp(counted: Uint32Array): number {
  if (stamp === 0xffffffff) {
    counted.fill(0);
    stamp = 0;
  }
  return ++stamp;
}

/** The sessions that have the words of a query, each session as one text. */
export interface SessionScores {
  /** By the index's number of a session: its relevance among the sessions that have a visible memory. */
  readonly relevance: Float64Array;
  /** How many sessions there are, and the terms of all of them. */
  readonly count: number;
  readonly totalLength: number;
  /** Of each term: how often it occurs in each session that has it, by the number of the session. */
  readonly frequencies: readonly ReadonlyMap<number, number>[];
}

export function sessionScores(turns: Turns, words: QueryWords): SessionScores {
  const { codes, sessionLengths, count, totalLength } = turns;
  const bm25 = new Float64Array(sessionLengths.length);
  const average = count > 0 ? totalLength / count : 0;
  const idfs: number[] = [];
  const frequencies = words.postings.map((postings, term) => {
    const found = new Map<number, number>();
    let session = 0;
    let sum = 0;
    // Turns of a session mostly follow each other.
    for (let at = 0; postings && at < postings.count; at++) {
      const code = codes[postings.rows[at]!]!;
      if (code === 0) continue;
      if (code !== session) {
        if (session > 0) found.set(session, sum);
        session = code;
        sum = found.get(code) ?? 0;
      }
      sum += postings.frequencies[at]!;
    }
    if (session > 0) found.set(session, sum);
    const idf = words.weights[term]! * inverseDocumentFrequency(count, found.size);
    idfs.push(idf);
    for (const [code, frequency] of found) {
      bm25[code]! += termScore(idf, frequency, lengthNormalization(sessionLengths[code]!, average));
    }
    return found;
  });
  const idfSum = fullMatch(words.asked, idfs, () => inverseDocumentFrequency(count, 0));
  const relevance = bm25;
  for (let code = 0; code < bm25.length; code++) relevance[code] = lexicalRelevance(bm25[code]!, idfSum);
  return { relevance, count, totalLength, frequencies };
}

/** How often a term occurs in a row: postings stand in ascending order of rows. */
export function frequencyIn({ rows, frequencies, count }: GrowingPostings, row: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! < row) low = middle + 1;
    else high = middle;
  }
  return low < count && rows[low] === row ? frequencies[low]! : 0;
}
