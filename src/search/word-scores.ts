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
  /** Ascending: the rows that were counted. What is said of one stands at its place among them. */
  readonly rows: Int32Array;
  readonly relevance: Float64Array;
  /** Together with the words around them; absent where those were not asked for. */
  readonly inContext: Float64Array | undefined;
  /**
   * By row: the higher one of both in steps of 1 / STRENGTHS, rounded up, or more; 0 where no word touches it. Absent where nothing is known
   * of rows that were not counted, or where no row has any.
   */
  readonly strengths: Uint8Array | undefined;
  /** By group of rows: the highest one. */
  readonly tops: Uint8Array | undefined;
  /** No row that was not counted is stronger. */
  readonly least: number;
  /** Of the words of the query; absent where no term of it is left. */
  readonly postings: QueryWords['postings'] | undefined;
  /** How many rows have one of them, where that is known already. */
  readonly matches: number | undefined;
  /** BM25 of one row. */
  bm25(row: number): number;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
  /** Absent where all rows that a word touches were counted. */
  readonly uncounted: Uncounted | undefined;
}

/** In steps of 1 / this: see {@link WordScores.strengths}. */
export { STRENGTHS };

/** Rows of which all is worked out before the next ones are looked at: what is known of them stays in the cache. */
export const TOGETHER = 4096;

/** Rows that are counted when somebody asks. */
export interface Uncounted {
  /** No other rows are counted either. */
  readonly all: boolean;
  /** Of ascending rows, each at its place. */
  scores(rows: Int32Array): ScoredRows;
}

/** Relevance of the words of rows, each at its place: see {@link WordScores}. */
type ScoredRows = Pick<WordScores, 'relevance' | 'inContext'>;

/** How well rows can match: see {@link WordScores}. */
type Strengths = Pick<WordScores, 'strengths' | 'tops' | 'least'>;

/** From how many rows on it is worth leaving some uncounted. */
export interface WordSizes {
  /** Of the rows that reach most, so many are counted at least. */
  readonly fewestStrong: number;
  /** Words that so many rows have may be told from others, and so many rows with a word. */
  readonly commonFrom: number;
}

/**
 * BM25 of the rows that a query touches; `turns` say what stands beside each. All are counted, unless there are `sizes`: then, where many
 * rows have a word, a kernel bounds all rows, and those with the highest bounds are counted; where few have one, or there is no kernel, all
 * but those with nothing but common words.
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
 * Rows that were counted are as strong as they are relevant. The others have at most `most`: those of `uncounted.rows`, or all of them where it is
 * not known which.
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

/** Turns BM25 into relevance. */
function toRelevance(idfSum: number, own: Float64Array, around: Float64Array | undefined): void {
  for (let at = 0; at < own.length; at++) {
    own[at] = lexicalRelevance(own[at]!, idfSum);
    if (around) around[at] = lexicalRelevance(around[at]!, idfSum);
  }
}

/** Words in more than this part of the rows, with those beside them, leave the rest of the rows not worth telling apart. */
const NEARLY_ALL = 1 / 10;

/** Ascending: the rows that common words touch, some of which were counted; no list where that may be nearly all rows. */
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

/** Scores that are worked out where somebody asks for those of a row: the words are nothing that rows are ranked by. */
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

/** Scores of a recall without a query. */
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
