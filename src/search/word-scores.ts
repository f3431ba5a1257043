import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { neighbourWeight } from '../text/context.ts';
import { grow } from './grow.ts';
import { placeOf, type QueryWords } from './lexical.ts';
import type { GrowingPostings, ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';

/** How well the words of each row match a query. What it says of a row stands at the place of that row among `rows`. */
export interface WordScores {
  /** Ascending: the rows that a word of the query touches, in them or beside them. */
  readonly rows: Int32Array;
  readonly bm25: Float64Array;
  readonly relevance: Float64Array;
  /** Together with the words around them; absent where those were not asked for. */
  readonly inContext: Float64Array | undefined;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
}

/** BM25 of the rows that a query touches; `turns` say what stands beside each. */
export function wordScores(index: ResidentIndex, words: QueryWords, turns: Turns | undefined): WordScores {
  const rows = touchedRows(index.size, words, turns);
  const { places } = room;
  for (let at = 0; at < rows.length; at++) places[rows[at]!] = at;
  const bm25 = new Float64Array(rows.length);
  words.postings.forEach((postings, term) => {
    if (postings) addScores(postings, words.idfs[term]!, index.lengths, words.averageLength, bm25);
  });
  const relevance = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (bm25[at] !== 0) relevance[at] = lexicalRelevance(bm25[at]!, words.idfSum);
  }
  const inContext = turns && contextScores(index, turns, words, relevance);
  return { rows, bm25, relevance, inContext, otherwise: 0 };
}

/** Scores of a query in which no term is left: a row either holds its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): WordScores {
  const found = [...keys].flatMap((key) => index.rowOfKey.get(key) ?? []);
  const rows = Int32Array.from(found).sort();
  const relevance = new Float64Array(rows.length).fill(SUBSTRING_RELEVANCE);
  const bm25 = new Float64Array(rows.length);
  return { rows, bm25, relevance, inContext: undefined, otherwise: 0 };
}

/** Scores of a recall without a query. */
export function noWordScores(): WordScores {
  const none = new Float64Array(0);
  return {
    rows: new Int32Array(0),
    bm25: none,
    relevance: none,
    inContext: undefined,
    otherwise: Number.NaN,
  };
}

/** What is said of one row; `otherwise` of one that is not touched. */
export function scoreOf(rows: Int32Array, values: Float64Array, row: number, otherwise: number): number {
  const at = placeOf(rows, row, 0);
  return rows[at] === row ? values[at]! : otherwise;
}

/** The same for the first `count` of ascending rows. */
export function fillScores(
  touched: Int32Array,
  values: Float64Array,
  otherwise: number,
  rows: Int32Array,
  count: number,
  out: Float64Array,
): void {
  let place = count > 0 ? placeOf(touched, rows[0]!, 0) : 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    while (place < touched.length && touched[place]! < row) place++;
    out[at] = place < touched.length && touched[place] === row ? values[place]! : otherwise;
  }
}

/** Room to count in, which nothing holds on to. */
interface Room {
  /** A bit for each row: 0 before and after each use. */
  bits: Uint32Array;
  /** Of a row that is touched: its place among those. */
  places: Uint32Array;
  /** Of a row, how often it has a term: 0 before and after each use. */
  counts: Uint32Array;
}

/** Arrays of the size of a large index take longer to make than to use. */
const room: Room = {
  bits: new Uint32Array(0),
  places: new Uint32Array(0),
  counts: new Uint32Array(0),
};

/** The rows that have a word, and those that stand beside one. */
function touchedRows(size: number, { postings }: QueryWords, turns: Turns | undefined): Int32Array {
  room.bits = grow(room.bits, (size >> 5) + 1);
  room.places = grow(room.places, size);
  const { bits } = room;
  let count = 0;
  for (const each of postings) {
    if (!each) continue;
    count += markRows(each, bits);
    if (turns) count += markBeside(each, turns, bits);
  }
  const rows = new Int32Array(count);
  let found = 0;
  for (let word = 0; word <= size >> 5; word++) {
    for (let left = bits[word]!; left !== 0; left &= left - 1) {
      rows[found++] = (word << 5) + 31 - Math.clz32(left & -left);
    }
    bits[word] = 0;
  }
  return rows;
}

function markRows({ rows, count }: GrowingPostings, bits: Uint32Array): number {
  let added = 0;
  for (let at = 0; at < count; at++) added += mark(bits, rows[at]!);
  return added;
}

function markBeside({ rows, count }: GrowingPostings, turns: Turns, bits: Uint32Array): number {
  const { codes, previous, next } = turns;
  let added = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    if (codes[row] === 0) continue;
    const [before, after] = [previous[row]!, next[row]!];
    if (before >= 0) {
      added += mark(bits, before);
      if (previous[before]! >= 0) added += mark(bits, previous[before]!);
    }
    if (after >= 0) {
      added += mark(bits, after);
      if (next[after]! >= 0) added += mark(bits, next[after]!);
    }
  }
  return added;
}

/** Returns 1 for a bit that was not set yet. */
function mark(bits: Uint32Array, row: number): number {
  const word = row >> 5;
  const bit = 1 << (row & 31);
  const before = bits[word]!;
  if ((before & bit) !== 0) return 0;
  bits[word] = before | bit;
  return 1;
}

function addScores(
  { rows, frequencies, count }: GrowingPostings,
  idf: number,
  lengths: Uint32Array,
  averageLength: number,
  bm25: Float64Array,
): void {
  const { places } = room;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    const normalization = lengthNormalization(lengths[row]!, averageLength);
    bm25[places[row]!]! += termScore(idf, frequencies[at]!, normalization);
  }
}

/**
 * The relevance of each row together with what stands beside it: term by term, in the order in which `contextRelevance` adds
 * up, so that both give the same bits.
 */
function contextScores(
  index: ResidentIndex,
  turns: Turns,
  words: QueryWords,
  relevance: Float64Array,
): Float64Array {
  const scores = new Float64Array(relevance.length);
  room.counts = grow(room.counts, index.size);
  words.postings.forEach((postings, term) => {
    if (postings) addInContext(postings, words.idfs[term]!, index.asks, turns, words.averageLength, scores);
  });
  for (let at = 0; at < scores.length; at++) {
    // A row of which nothing stands beside it has its own words alone.
    scores[at] = scores[at] === 0 ? relevance[at]! : lexicalRelevance(scores[at]!, words.idfSum);
  }
  return scores;
}

function addInContext(
  { rows, frequencies, count }: GrowingPostings,
  idf: number,
  asks: Uint8Array,
  turns: Turns,
  averageLength: number,
  scores: Float64Array,
): void {
  const { places, counts, bits } = room;
  const { codes, previous, next, lengths } = turns;
  const add = (row: number) => {
    if (row < 0 || mark(bits, row) === 0) return;
    const frequency = frequencyAround(row, asks, turns, counts);
    if (frequency > 0) {
      const normalization = lengthNormalization(lengths[row]!, averageLength);
      scores[places[row]!]! += termScore(idf, frequency, normalization);
    }
  };
  for (let at = 0; at < count; at++) {
    if (codes[rows[at]!] !== 0) counts[rows[at]!] = frequencies[at]!;
  }
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    if (codes[row] === 0) continue;
    const [before, after] = [previous[row]!, next[row]!];
    add(row);
    add(before);
    add(after);
    if (before >= 0) add(previous[before]!);
    if (after >= 0) add(next[after]!);
  }
  for (let at = 0; at < count; at++) counts[rows[at]!] = 0;
  bits.fill(0);
}

/** How often a row of a session has a term, with what its neighbours' count, in the order of `NEIGHBOUR_OFFSETS`. */
function frequencyAround(
  row: number,
  asks: Uint8Array,
  { previous, next, shares, apart }: Turns,
  counts: Uint32Array,
): number {
  let frequency = counts[row]!;
  if (apart[row] === 1) return frequency;
  const own = shares[row]!;
  const [before, after] = [previous[row]!, next[row]!];
  if (before >= 0 && counts[before]! > 0) {
    frequency += neighbourWeight(-1, asks[before] === 1, own, shares[before]!) * counts[before]!;
  }
  if (after >= 0 && counts[after]! > 0) {
    frequency += neighbourWeight(1, false, own, shares[after]!) * counts[after]!;
  }
  const [first, last] = [before < 0 ? -1 : previous[before]!, after < 0 ? -1 : next[after]!];
  if (first >= 0 && counts[first]! > 0) {
    frequency += neighbourWeight(-2, false, own, shares[first]!) * counts[first]!;
  }
  if (last >= 0 && counts[last]! > 0) {
    frequency += neighbourWeight(2, false, own, shares[last]!) * counts[last]!;
  }
  return frequency;
}
