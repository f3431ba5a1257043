import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lexicalRelevance } from '../text/bm25.ts';
import { bm25Of, type CommonWords, commonWords } from './common-words.ts';
import { grow } from './grow.ts';
import { wordKernel } from './kernel/words.ts';
import { contextRelevance, placeAfter, placeOf, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';
import { type ScoredRows, scoreBlocks } from './word-blocks.ts';
import { addAround, addScores, bitsIn, countTerms, markRows, room, TERMS, touchedRows } from './word-rows.ts';

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
  /** BM25 of one row. */
  bm25(row: number): number;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
  /** Absent where every row that a word touches was counted. */
  readonly uncounted: Uncounted | undefined;
}

/** Rows are told apart by how well they match in so many steps: 1 / this has few bits, and so have its multiples. */
export const STRENGTHS = 32;

/** From this part of all rows on, all are scored, block by block. */
const ALL_FROM = 1 / 4;

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
  relevance(row: number): number;
  inContext(row: number): number;
}

/**
 * BM25 of the rows that a query touches; `turns` say what stands beside each. Words that `commonFrom` rows have may leave rows
 * uncounted. Without a kernel the same bits are worked out row by row.
 */
export function wordScores(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  commonFrom = Infinity,
  kernelOf = wordKernel,
): WordScores {
  const common = commonWords(words, commonFrom);
  const isCommon = (term: number) => common?.isCommon[term] === true;
  const rare = words.postings.filter((_, term) => !isCommon(term));
  const rows = touchedRows(index.size, rare, turns);
  const relevance = new Float64Array(rows.length);
  const inContext = turns && new Float64Array(rows.length);
  const strengths = new Uint8Array(rows.length);
  // Of blocks of which fewer rows are asked for, these alone take less time than all of them.
  const isWorth = rows.length >= index.size * ALL_FROM && words.averageLength > 0 && words.idfSum > 0;
  const kernel = turns && isWorth ? kernelOf() : undefined;
  if (turns && inContext && kernel) {
    const found = { own: relevance, around: inContext, strengths };
    const left = scoreBlocks(index, words, turns, kernel, rows, found);
    if (left.length > 0) scoreLeft(index, words, turns, rows, left, found);
  } else scoreRows(index, words, turns, rows, relevance, inContext, strengths);
  const uncounted = common && leftUncounted(index, words, turns, common);
  const bm25 = (row: number) => bm25Of(index, words, row);
  const { postings } = words;
  return { rows, relevance, inContext, strengths, postings, bm25, otherwise: 0, uncounted };
}

/** Relevance of the words of rows, alone and with what stands beside them. */
function scoreRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  rows: Int32Array,
  relevance: Float64Array,
  inContext: Float64Array | undefined,
  strengths: Uint8Array,
): void {
  for (let first = 0; first < words.postings.length; first += TERMS) {
    const counted = countTerms(index, words.postings.slice(first, first + TERMS));
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
}

/** The same of the rows at some places. */
function scoreLeft(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns,
  rows: Int32Array,
  places: Int32Array,
  found: ScoredRows,
): void {
  const [own, around] = [new Float64Array(places.length), new Float64Array(places.length)];
  const strengths = new Uint8Array(places.length);
  const those = places.map((place) => rows[place]!);
  scoreRows(index, words, turns, those, own, around, strengths);
  for (let at = 0; at < places.length; at++) {
    const place = places[at]!;
    found.own[place] = own[at]!;
    found.around[place] = around[at]!;
    found.strengths[place] = strengths[at]!;
  }
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
): Uncounted {
  const common = words.postings.filter((_, term) => isCommon[term]);
  const count = common.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  const rows = count > index.size * NEARLY_ALL ? undefined : touchedRows(index.size, common, turns);
  return { rows, most, all: false, ...countedOneByOne(index, words, turns) };
}

/** Scores that are worked out where somebody asks for those of a row: the words are nothing that rows are ranked by. */
export function scoresOneByOne(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): WordScores {
  const none = new Float64Array(0);
  const uncounted = { rows: undefined, most: 1, all: true, ...countedOneByOne(index, words, turns) };
  return {
    rows: new Int32Array(0),
    relevance: none,
    inContext: turns && none,
    strengths: new Uint8Array(0),
    postings: words.postings,
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted,
  };
}

function countedOneByOne(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): Omit<Uncounted, 'rows' | 'most' | 'all'> {
  const relevance = remembered((row) => lexicalRelevance(bm25Of(index, words, row), words.idfSum));
  // What is in no session has its own words alone.
  const around = turns && remembered((row) => contextRelevance(index, turns, words, row));
  return {
    relevance,
    inContext: around ? (row) => (index.sessions.codes[row] === 0 ? relevance(row) : around(row)) : relevance,
  };
}

/** Rows whose values are remembered: more than a block has. */
const REMEMBERED = 2048;

/** The same, worked out once for the rows of a block, which more than one signal asks for. */
function remembered(work: (row: number) => number): (row: number) => number {
  let known: { readonly rows: Int32Array; readonly values: Float64Array } | undefined;
  return (row) => {
    known ??= { rows: new Int32Array(REMEMBERED).fill(-1), values: new Float64Array(REMEMBERED) };
    const { rows, values } = known;
    const place = row & (REMEMBERED - 1);
    if (rows[place] !== row) {
      rows[place] = row;
      values[place] = work(row);
    }
    return values[place]!;
  };
}

/** How many of the rows that stand so have a word of the query; `areAll`: every row of the index stands so. */
export function countMatches(
  { rows, postings }: WordScores,
  standing: Uint8Array,
  wanted: number,
  areAll: boolean,
): number {
  if (!postings) return rows.reduce((count, row) => count + (standing[row] === wanted ? 1 : 0), 0);
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
  return uncounted ? uncounted[said](row) : otherwise;
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
  let place = 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    place = placeAfter(touched, row, place);
    if (place < touched.length && touched[place] === row) out[at] = values[place]!;
    else out[at] = uncounted ? uncounted[said](row) : otherwise;
  }
}
