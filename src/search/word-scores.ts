import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lexicalRelevance } from '../text/bm25.ts';
import { bm25Of, type CommonWords, commonWords } from './common-words.ts';
import { groupOf } from './groups.ts';
import { grow } from './grow.ts';
import { STRENGTHS, wordKernel } from './kernel/words.ts';
import { placeAfter, placeOf, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';
import { boundWords, canBeBounded, strongest } from './word-bounds.ts';
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

/** How well the words of each row match a query. */
export interface WordScores {
  /** The rows whose words were counted, ascending. The arrays below have the values of a row at the same place. */
  readonly rows: Int32Array;
  readonly relevance: Float64Array;
  /** Relevance together with the neighbouring turns; absent if that was not requested. */
  readonly inContext: Float64Array | undefined;
  /**
   * By row: at least the higher of `relevance` and `inContext`, in steps of 1 / STRENGTHS, rounded up; 0 if no word
   * touches the row. Absent if nothing is known of rows that were not counted, or if the query has no words.
   */
  readonly strengths: Uint8Array | undefined;
  /** The highest strength of each group of rows. */
  readonly tops: Uint8Array | undefined;
  /** The highest strength that a row which was not counted can have. */
  readonly least: number;
  /** The postings of the query's words; absent if no term of the query is left. */
  readonly postings: QueryWords['postings'] | undefined;
  /** How many rows contain one of the words, if that is already known. */
  readonly matches: number | undefined;
  /** Returns the BM25 score of a row. */
  bm25(row: number): number;
  /** The relevance of rows that are not in `rows`: 0, or NaN (unknown) if the query has no words at all. */
  readonly otherwise: number;
  /** Absent if every row that a word touches was counted. */
  readonly uncounted: Uncounted | undefined;
}

/** In steps of 1 / this: see {@link WordScores.strengths}. */
export { STRENGTHS };

/** How many rows are finished before the next ones are begun, so that their data stays in the cache. */
export const TOGETHER = 4096;

/** Rows that are counted only on request. */
export interface Uncounted {
  /** Whether no rows were counted in advance. */
  readonly all: boolean;
  /** Returns the scores of ascending rows, each at the place of its row. */
  scores(rows: Int32Array): ScoredRows;
}

/** The relevance of rows, at their places: see {@link WordScores}. */
type ScoredRows = Pick<WordScores, 'relevance' | 'inContext'>;

/** How well the words of rows can match: see {@link WordScores}. */
type Strengths = Pick<WordScores, 'strengths' | 'tops' | 'least'>;

/** Sizes from which it pays off to leave some rows uncounted. */
export interface WordSizes {
  /** At least this many of the rows with the highest bounds are counted. */
  readonly fewestStrong: number;
  /**
   * A word is common only if at least this many rows contain it. Rows are bounded first if the other words are in at
   * least this many.
   */
  readonly commonFrom: number;
}

/**
 * Computes BM25 for the rows that a query touches; `turns` give the neighbours of each. Without `sizes`, all are
 * counted. With `sizes`: if many rows contain a word that is not common, a kernel bounds all rows and only those with
 * the highest bounds are counted. If few do, or if there is no kernel, all are counted except those that contain only
 * common words.
 */
export function wordScores(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  sizes?: WordSizes,
  kernelOf = wordKernel,
): WordScores {
  const { size } = index;
  const { postings } = words;
  const common = sizes && commonWords(words, sizes.commonFrom);
  const rare = postings.map((each, term) => (common?.isCommon[term] === true ? undefined : each));
  const isMany = sizes && countOf(rare) >= sizes.commonFrom && canBeBounded(index, words, turns);
  const kernel = isMany ? kernelOf() : undefined;
  const bounds = kernel && boundWords(index, words, turns, kernel);
  const found = bounds && strongest(bounds, size, sizes!.fewestStrong);
  const rows = found ? found.rows : touchedRows(size, rare, turns);
  const scores = scoreRows(index, words, turns, rows, found !== undefined);
  const known: Strengths =
    bounds && found
      ? { strengths: bounds.strengths, tops: bounds.tops, least: found.end }
      : strengthsOf(size, rows, scores, common && uncountedRows(index, words, turns, common));
  return {
    rows,
    ...scores,
    ...known,
    postings,
    matches: bounds?.matches,
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted: known.least > 0 ? { all: false, ...countedWhenAsked(index, words, turns) } : undefined,
  };
}

function countOf(postings: QueryWords['postings']): number {
  return postings.reduce((sum, each) => sum + (each?.count ?? 0), 0);
}

/**
 * Computes the strengths of rows. Counted rows are as strong as they are relevant. Others have at most `most`: those of
 * `uncounted.rows`, or all others if that is `undefined`.
 */
function strengthsOf(
  size: number,
  rows: Int32Array,
  { relevance, inContext }: ScoredRows,
  uncounted?: { readonly rows: Int32Array | undefined; readonly most: number },
): Strengths {
  const strengths = new Uint8Array(size);
  const tops = new Uint8Array(groupOf(size) + 1);
  const least = Math.ceil((uncounted?.most ?? 0) * STRENGTHS);
  const raise = (row: number, strength: number) => {
    strengths[row] = strength;
    const group = groupOf(row);
    if (strength > tops[group]!) tops[group] = strength;
  };
  if (uncounted && !uncounted.rows) {
    strengths.fill(least);
    tops.fill(least);
  } else if (uncounted?.rows) for (const row of uncounted.rows) raise(row, least);
  for (let at = 0; at < rows.length; at++) {
    const highest = Math.max(relevance[at]!, inContext ? inContext[at]! : 0);
    raise(rows[at]!, Math.ceil(highest * STRENGTHS));
  }
  return { strengths, tops, least };
}

/**
 * Computes the relevance of rows, alone and with their neighbours. `areFew`: only the words of these rows and their
 * neighbours are read.
 */
function scoreRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  rows: Int32Array,
  areFew: boolean,
): ScoredRows {
  const relevance = new Float64Array(rows.length);
  const inContext = turns && new Float64Array(rows.length);
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
      if (isLast) toRelevance(words.idfSum, own, around);
    }
    counted.clear();
  }
  return { relevance, inContext };
}

/** Converts BM25 to relevance, in place. */
function toRelevance(idfSum: number, own: Float64Array, around: Float64Array | undefined): void {
  for (let at = 0; at < own.length; at++) {
    own[at] = lexicalRelevance(own[at]!, idfSum);
    if (around) around[at] = lexicalRelevance(around[at]!, idfSum);
  }
}

/** If common words are in more than this share of the rows, listing the rows that they touch is not worth it. */
const NEARLY_ALL = 1 / 10;

/**
 * Returns the rows that common words touch, ascending, including some that were counted. The list is `undefined` if it
 * might contain nearly all rows.
 */
function uncountedRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  { isCommon, most }: CommonWords,
): { readonly rows: Int32Array | undefined; readonly most: number } {
  const common = words.postings.filter((_, term) => isCommon[term]);
  const rows = countOf(common) > index.size * NEARLY_ALL ? undefined : touchedRows(index.size, common, turns);
  return { rows, most };
}

const NO_STRENGTHS: Strengths = { strengths: undefined, tops: undefined, least: 0 };

/** Returns scores that are computed only for rows that somebody asks for: ranking does not use the words. */
export function scoresOneByOne(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): WordScores {
  const none = new Float64Array(0);
  const uncounted = { all: true, ...countedWhenAsked(index, words, turns) };
  return {
    rows: new Int32Array(0),
    relevance: none,
    inContext: turns && none,
    ...NO_STRENGTHS,
    postings: words.postings,
    matches: undefined,
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted,
  };
}

/** Keeps the last result: several signals ask for the same rows. */
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

/**
 * Counts the rows with the standing `wanted` that contain a word of the query. `areAll`: every row of the index has
 * that standing.
 */
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

/** Returns the scores of a query that has no term left: each row contains its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): WordScores {
  const found = [...keys].flatMap((key) => index.rowOfKey.get(key) ?? []);
  const rows = Int32Array.from(found).sort();
  const relevance = new Float64Array(rows.length).fill(SUBSTRING_RELEVANCE);
  const inContext = undefined;
  return {
    rows,
    relevance,
    inContext,
    ...strengthsOf(index.size, rows, { relevance, inContext }),
    postings: undefined,
    matches: undefined,
    bm25: () => 0,
    otherwise: 0,
    uncounted: undefined,
  };
}

/** Returns the scores of a recall without a query. */
export function noWordScores(): WordScores {
  const none = new Float64Array(0);
  return {
    rows: new Int32Array(0),
    relevance: none,
    inContext: undefined,
    ...NO_STRENGTHS,
    postings: undefined,
    matches: undefined,
    bm25: () => 0,
    otherwise: Number.NaN,
    uncounted: undefined,
  };
}

/** Which score of a row is asked for. */
type Said = 'relevance' | 'inContext';

/** Returns the score of one row. */
export function scoreOf(scores: WordScores, said: Said, row: number): number {
  const { rows, otherwise, uncounted } = scores;
  const at = placeOf(rows, row, 0);
  if (rows[at] === row) return scores[said]![at]!;
  return uncounted ? uncounted.scores(Int32Array.of(row))[said]![0]! : otherwise;
}

/** Writes the scores of the first `count` of the ascending `rows` to `out`. */
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
