import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { NEIGHBOUR_OFFSETS } from '../text/context.ts';
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

const AROUND = NEIGHBOUR_OFFSETS.length;

/** BM25 of the rows that a query touches; `turns` say what stands beside each. */
export function wordScores(index: ResidentIndex, words: QueryWords, turns: Turns | undefined): WordScores {
  const rows = touchedRows(index.size, words, turns);
  const { places } = room;
  for (let at = 0; at < rows.length; at++) places[rows[at]!] = at + 1;
  const bm25 = new Float64Array(rows.length);
  words.postings.forEach((postings, term) => {
    if (postings) addScores(postings, words.idfs[term]!, index.lengths, words.averageLength, bm25);
  });
  const relevance = bm25.map((score) => lexicalRelevance(score, words.idfSum));
  const inContext = turns && contextScores(turns, words, rows, relevance);
  for (let at = 0; at < rows.length; at++) places[rows[at]!] = 0;
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

/** Room to count in, which nothing holds on to: all of it is 0 again after each use, but for `counted`. */
interface Room {
  /** A bit for each row. */
  bits: Uint32Array;
  /** Of a row that is touched: its place among those, from 1 on. */
  places: Uint32Array;
  /** By place, from 1 on; 0 stands for all rows that are not touched. */
  counts: Uint32Array;
  /** When each place was last counted around: a number that grows with every term. */
  counted: Uint32Array;
}

/** Arrays of the size of a large index take longer to make than to use. */
const room: Room = {
  bits: new Uint32Array(0),
  places: new Uint32Array(0),
  counts: new Uint32Array(0),
  counted: new Uint32Array(0),
};
let stamp = 0;

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

function markBeside({ rows, count }: GrowingPostings, { codes, beside }: Turns, bits: Uint32Array): number {
  let added = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    if (codes[row] === 0) continue;
    for (let each = AROUND * row; each < AROUND * (row + 1); each++) {
      const other = beside[each]!;
      if (other >= 0) added += mark(bits, other);
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
    bm25[places[row]! - 1]! += termScore(idf, frequencies[at]!, normalization);
  }
}

/** What stands beside the rows that are touched: by their places, from 1 on; 0 for a row that is not touched, or does not count. */
interface Beside {
  readonly places: Uint32Array;
  readonly weights: Float64Array;
  /** Of each row: whether it is a turn of a session. */
  readonly isTurn: Uint8Array;
  readonly normalizations: Float64Array;
}

function besideOf(
  { codes, beside, weights, lengths }: Turns,
  rows: Int32Array,
  averageLength: number,
): Beside {
  const { places } = room;
  const found: Beside = {
    places: new Uint32Array(AROUND * rows.length),
    weights: new Float64Array(AROUND * rows.length),
    isTurn: new Uint8Array(rows.length),
    normalizations: new Float64Array(rows.length),
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    if (codes[row] === 0) continue;
    found.isTurn[at] = 1;
    found.normalizations[at] = lengthNormalization(lengths[row]!, averageLength);
    for (let each = 0; each < AROUND; each++) {
      const other = beside[AROUND * row + each]!;
      if (other < 0) continue;
      found.places[AROUND * at + each] = places[other]!;
      found.weights[AROUND * at + each] = weights[AROUND * row + each]!;
    }
  }
  return found;
}

/**
 * The relevance of each row together with what stands beside it: term by term, in the order in which `contextRelevance` adds
 * up, so that both give the same bits.
 */
function contextScores(
  turns: Turns,
  words: QueryWords,
  rows: Int32Array,
  relevance: Float64Array,
): Float64Array {
  const bm25 = new Float64Array(rows.length);
  const beside = besideOf(turns, rows, words.averageLength);
  room.counts = grow(room.counts, rows.length + 1);
  room.counted = grow(room.counted, rows.length + 1);
  words.postings.forEach((postings, term) => {
    if (postings) addInContext(postings, words.idfs[term]!, beside, bm25);
  });
  // A row of which nothing stands beside it has its own words alone.
  return bm25.map((score, at) => (score === 0 ? relevance[at]! : lexicalRelevance(score, words.idfSum)));
}

function addInContext(
  { rows, frequencies, count }: GrowingPostings,
  idf: number,
  { places: beside, weights, isTurn, normalizations }: Beside,
  bm25: Float64Array,
): void {
  const { places, counts, counted } = room;
  const now = nextStamp(counted);
  for (let at = 0; at < count; at++) {
    const place = places[rows[at]!]!;
    if (isTurn[place - 1] === 1) counts[place] = frequencies[at]!;
  }
  for (let at = 0; at < count; at++) {
    const own = places[rows[at]!]!;
    if (isTurn[own - 1] === 0) continue;
    for (let each = -1; each < AROUND; each++) {
      const place = each < 0 ? own : beside[AROUND * (own - 1) + each]!;
      if (place === 0 || counted[place] === now) continue;
      counted[place] = now;
      let frequency = counts[place]!;
      for (let next = AROUND * (place - 1); next < AROUND * place; next++) {
        const weight = weights[next]!;
        if (weight > 0) frequency += weight * counts[beside[next]!]!;
      }
      if (frequency > 0) bm25[place - 1]! += termScore(idf, frequency, normalizations[place - 1]!);
    }
  }
  for (let at = 0; at < count; at++) counts[places[rows[at]!]!] = 0;
}

function nextStamp(counted: Uint32Array): number {
  if (stamp === 0xffffffff) {
    counted.fill(0);
    stamp = 0;
  }
  return ++stamp;
}
