import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lexicalRelevance } from '../text/bm25.ts';
import { bm25Of, type CommonWords, commonWords } from './common-words.ts';
import { grow } from './grow.ts';
import { STRENGTHS, type WordKernel, wordKernel } from './kernel/words.ts';
import { placeAfter, placeOf, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';
import { boundWords, canBeBounded, rowsAbove, strongest } from './word-bounds.ts';
import {
  addAround,
  addScores,
  bitsIn,
  countNear,
  countTerms,
  markRows,
  room,
  TERMS,
  touchedRows,
} from './word-rows.ts';

/** How well the words of each row match a query. What it says of a row stands at the place of that row among `rows`. */
export interface WordScores {
  /** Ascending: the rows that a word of the query touches, in them or beside them; where some are uncounted, all but those. */
  readonly rows: Int32Array;
  readonly relevance: Float64Array;
  /** Together with the words around them; absent where those were not asked for. */
  readonly inContext: Float64Array | undefined;
  /** The higher one of both in steps of 1 / STRENGTHS, rounded up. */
  readonly strengths: Uint8Array;
  /** Of the words of the query; absent where no term of it is left. */
  readonly postings: QueryWords['postings'] | undefined;
  /** How many rows have one of them, where that is known already. */
  readonly matches: number | undefined;
  /** BM25 of one row. */
  bm25(row: number): number;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
  /** Absent where every row that a word touches was counted. */
  readonly uncounted: Uncounted | undefined;
}

/** In steps of 1 / this: see {@link WordScores.strengths}. */
export { STRENGTHS };

/** Rows of which all is worked out before the next ones are looked at: what is known of them stays in the cache. */
export const TOGETHER = 4096;

/** Rows that only common words touch: counted one by one, when somebody asks. */
export interface Uncounted {
  /** Ascending, among some that were counted; absent where that may be nearly all rows. */
  readonly rows: Int32Array | undefined;
  /** None of them is more relevant, with the words around it or without. */
  readonly most: number;
  /** No row is counted unless somebody asks. */
  readonly all: boolean;
  /** Of ascending rows, each at its place. */
  scores(rows: Int32Array): ScoredRows;
}

/** Relevance of the words of rows, each at its place: see {@link WordScores}. */
type ScoredRows = Pick<WordScores, 'relevance' | 'inContext' | 'strengths'>;

/** What is left uncounted. */
type Left = Pick<Uncounted, 'rows' | 'most'>;

/** From how many rows on it is worth leaving some uncounted. */
export interface WordSizes {
  /** Of the rows that reach most, so many are counted at least. */
  readonly fewestStrong: number;
  /** Words that so many rows have may be told from others, and so many rows with a word. */
  readonly commonFrom: number;
}

/**
 * BM25 of the rows that a query touches; `turns` say what stands beside each. All are counted, unless there are `sizes`: then those that
 * cannot reach as much as others may be left uncounted. Without a kernel these are known by their words alone.
 */
export function wordScores(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  sizes?: WordSizes,
  kernelOf = wordKernel,
): WordScores {
  const bounded = sizes && boundedRows(index, words, turns, sizes, kernelOf);
  const common = bounded || !sizes ? undefined : commonWords(words, sizes.commonFrom);
  const rare = words.postings.filter((_, term) => common?.isCommon[term] !== true);
  const rows = bounded ? bounded.rows : touchedRows(index.size, rare, turns);
  const scores = scoreRows(index, words, turns, rows, bounded !== undefined);
  const left = bounded?.left ?? (common && leftUncounted(index, words, turns, common));
  const uncounted = left && { ...left, all: false, ...countedWhenAsked(index, words, turns) };
  return {
    rows,
    ...scores,
    postings: words.postings,
    matches: bounded?.matches,
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted,
  };
}

/** The rows that are counted, and the others; `undefined` where too few have a word for that to be worth it, or nothing bounds them. */
function boundedRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  { commonFrom, fewestStrong }: WordSizes,
  kernelOf: () => WordKernel | undefined,
): { readonly rows: Int32Array; readonly left: Left | undefined; readonly matches: number } | undefined {
  const common = commonWords(words, commonFrom);
  const most = words.postings.reduce(
    (sum, each, term) => sum + (common?.isCommon[term] ? 0 : (each?.count ?? 0)),
    0,
  );
  const kernel = most >= commonFrom && canBeBounded(index, words, turns) ? kernelOf() : undefined;
  if (!kernel) return undefined;
  const { size } = index;
  const bounds = boundWords(index, words, turns, kernel);
  const { rows, end } = strongest(bounds, size, fewestStrong);
  const { strengths, counts, matches } = bounds;
  let weak = 0;
  for (let strength = 1; strength <= end; strength++) weak += counts[strength]!;
  if (weak === 0) return { rows, left: undefined, matches };
  const areListed = weak <= size * NEARLY_ALL;
  const weakRows = areListed ? rowsAbove(strengths, size, 0, end, weak) : undefined;
  return { rows, left: { rows: weakRows, most: end / STRENGTHS }, matches };
}

/** Relevance of the words of rows, alone and with what stands beside them; `areFew`: of these only. */
function scoreRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  rows: Int32Array,
  areFew: boolean,
): ScoredRows {
  const relevance = new Float64Array(rows.length);
  const inContext = turns && new Float64Array(rows.length);
  const strengths = new Uint8Array(rows.length);
  for (let first = 0; first < words.postings.length; first += TERMS) {
    const postings = words.postings.slice(first, first + TERMS);
    const counted = areFew ? countNear(index, postings, turns, rows) : countTerms(index, postings);
    const idfs = words.idfs.slice(first, first + TERMS);
    const isLast = first + TERMS >= words.postings.length;
    for (let start = 0; start < rows.length; start += TOGETHER) {
      const those = rows.subarray(start, start + TOGETHER);
      const own = relevance.subarray(start, start + TOGETHER);
      const around = inContext?.subarray(start, start + TOGETHER);
      if (turns) addAround(index, words, counted, idfs, turns, those, own, around!);
      else addScores(index, words, counted, idfs, those, own);
      if (isLast) toRelevance(words.idfSum, own, around, strengths.subarray(start, start + TOGETHER));
    }
    counted.clear();
  }
  return { relevance, inContext, strengths };
}

/** Turns BM25 into relevance. */
function toRelevance(
  idfSum: number,
  own: Float64Array,
  around: Float64Array | undefined,
  strengths: Uint8Array,
): void {
  for (let at = 0; at < own.length; at++) {
    const alone = lexicalRelevance(own[at]!, idfSum);
    own[at] = alone;
    let highest = alone;
    if (around) {
      const together = lexicalRelevance(around[at]!, idfSum);
      around[at] = together;
      if (together > alone) highest = together;
    }
    strengths[at] = Math.ceil(highest * STRENGTHS);
  }
}

/** Words in more than this part of the rows, with those beside them, leave the rest of the rows not worth telling apart. */
const NEARLY_ALL = 1 / 10;

function leftUncounted(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  { isCommon, most }: CommonWords,
): Left {
  const common = words.postings.filter((_, term) => isCommon[term]);
  const count = common.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  const rows = count > index.size * NEARLY_ALL ? undefined : touchedRows(index.size, common, turns);
  return { rows, most };
}

/** Scores that are worked out where somebody asks for those of a row: the words are nothing that rows are ranked by. */
export function scoresOneByOne(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): WordScores {
  const none = new Float64Array(0);
  const uncounted = { rows: undefined, most: 1, all: true, ...countedWhenAsked(index, words, turns) };
  return {
    rows: new Int32Array(0),
    relevance: none,
    inContext: turns && none,
    strengths: new Uint8Array(0),
    postings: words.postings,
    matches: undefined,
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted,
  };
}

/** What more than one signal asks for of the same rows is counted once. */
function countedWhenAsked(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): Pick<Uncounted, 'scores'> {
  let last: { readonly rows: Int32Array; readonly scores: ScoredRows } | undefined;
  return {
    scores(rows) {
      if (!last || !areSame(last.rows, rows))
        last = { rows: rows.slice(), scores: scoreRows(index, words, turns, rows, true) };
      return last.scores;
    },
  };
}

function areSame(a: Int32Array, b: Int32Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** How many of the rows that stand so have a word of the query; `areAll`: every row of the index stands so. */
export function countMatches(
  { rows, postings, matches }: WordScores,
  standing: Uint8Array,
  wanted: number,
  areAll: boolean,
): number {
  if (!postings) return rows.reduce((count, row) => count + (standing[row] === wanted ? 1 : 0), 0);
  if (areAll && matches !== undefined) return matches;
  const words = (standing.length >> 5) + 1;
  room.bits = grow(room.bits, words);
  const { bits } = room;
  for (const each of postings) if (each) markRows(bits, each);
  const count = areAll ? bitsIn(bits, words) : rowsIn(bits, words, standing, wanted);
  bits.fill(0, 0, words);
  return count;
}

function rowsIn(bits: Uint32Array, words: number, standing: Uint8Array, wanted: number): number {
  let count = 0;
  for (let word = 0; word < words; word++) {
    for (let left = bits[word]!; left !== 0; left &= left - 1) {
      if (standing[(word << 5) + 31 - Math.clz32(left & -left)] === wanted) count++;
    }
  }
  return count;
}

/** Scores of a query in which no term is left: a row either holds its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): WordScores {
  const found = [...keys].flatMap((key) => index.rowOfKey.get(key) ?? []);
  const rows = Int32Array.from(found).sort();
  const relevance = new Float64Array(rows.length).fill(SUBSTRING_RELEVANCE);
  const strengths = new Uint8Array(rows.length).fill(Math.ceil(SUBSTRING_RELEVANCE * STRENGTHS));
  return {
    rows,
    relevance,
    inContext: undefined,
    strengths,
    postings: undefined,
    matches: undefined,
    bm25: () => 0,
    otherwise: 0,
    uncounted: undefined,
  };
}

/** Scores of a recall without a query. */
export function noWordScores(): WordScores {
  const none = new Float64Array(0);
  return {
    rows: new Int32Array(0),
    relevance: none,
    inContext: undefined,
    strengths: new Uint8Array(0),
    postings: undefined,
    matches: undefined,
    bm25: () => 0,
    otherwise: Number.NaN,
    uncounted: undefined,
  };
}

/** What is said of the words of rows: by their places, or one by one. */
type Said = 'relevance' | 'inContext';

/** What is said of one row. */
export function scoreOf(scores: WordScores, said: Said, row: number): number {
  const { rows, otherwise, uncounted } = scores;
  const at = placeOf(rows, row, 0);
  if (rows[at] === row) return scores[said]![at]!;
  return uncounted ? uncounted.scores(Int32Array.of(row))[said]![0]! : otherwise;
}

/** The same for the first `count` of ascending rows. */
export function fillScores(
  scores: WordScores,
  said: Said,
  rows: Int32Array,
  count: number,
  out: Float64Array,
): void {
  const { rows: touched, otherwise, uncounted } = scores;
  const values = scores[said]!;
  const missing = uncounted && new Int32Array(count);
  let missingCount = 0;
  let place = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    place = placeAfter(touched, row, place);
    if (place < touched.length && touched[place] === row) out[at] = values[place]!;
    else if (missing) missing[missingCount++] = at;
    else out[at] = otherwise;
  }
  if (!uncounted || missingCount === 0) return;
  const places = missing!.subarray(0, missingCount);
  const found = uncounted.scores(places.map((at) => rows[at]!))[said]!;
  for (let each = 0; each < missingCount; each++) out[places[each]!] = found[each]!;
}
