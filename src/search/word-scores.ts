import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lexicalRelevance, matchOfRelevance } from '../text/bm25.ts';
import { bm25Of, type CommonWords, commonWords } from './common-words.ts';
import { grow } from './grow.ts';
import { contextRelevance, placeOf, type QueryWords } from './lexical.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';
import { addBounds } from './word-bounds.ts';
import {
  addAround,
  addScores,
  bitsIn,
  type Counted,
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
  /** BM25 of one row. */
  bm25(row: number): number;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
  /** Absent where every row that a word touches was counted. */
  readonly uncounted: Uncounted | undefined;
}

/** Rows are told apart by how well they match in so many steps: 1 / this has few bits, and so have its multiples. */
export const STRENGTHS = 32;

/** Rows of which all is worked out before the next ones are looked at: what is known of them stays in the cache. */
export const TOGETHER = 4096;

/** Rows that only common words touch, or that match weakly: counted one by one, when somebody asks. */
export interface Uncounted {
  /** Ascending, among some that were counted; absent where that may be nearly all rows. */
  readonly rows: Int32Array | undefined;
  /** None of them is more relevant, with the words around it or without. */
  readonly most: number;
  /** No row is counted unless somebody asks. */
  readonly all: boolean;
  readonly postings: QueryWords['postings'];
  relevance(row: number): number;
  inContext(row: number): number;
  /** Writes down the same of several ascending rows. */
  among(said: Said, rows: Int32Array, out: Float64Array): void;
}

/** What may be left uncounted, as it is unlikely to be asked for. */
export interface Leaving {
  /** Words that so many rows have may leave rows uncounted. */
  readonly commonFrom: number;
  /** Where far more rows than these are touched, about as many are counted as it takes to know these best ones. */
  readonly fewestStrong: number;
}

/** BM25 of the rows that a query touches; `turns` say what stands beside each. By default all of them are counted. */
export function wordScores(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  { commonFrom, fewestStrong }: Leaving = { commonFrom: Infinity, fewestStrong: Infinity },
): WordScores {
  const common = commonWords(words, commonFrom);
  const isCommon = (term: number) => common?.isCommon[term] === true;
  const rare = words.postings.filter((_, term) => !isCommon(term));
  const touched = touchedRows(index.size, rare, turns);
  const groups = groupsOf(index, words);
  const parts = partRows(index, words, turns, touched, groups, fewestStrong);
  const rows = parts?.counted ?? touched;
  const { relevance, inContext, strengths } = countRows(index, words, turns, rows, groups);
  groups.clear();
  const uncounted = leftUncounted(index, words, turns, common, parts);
  const bm25 = (row: number) => bm25Of(index, words, row);
  return { rows, relevance, inContext, strengths, bm25, otherwise: 0, uncounted };
}

/** The terms of a query by groups that are counted together. A group stays counted until the next one is asked for. */
interface Groups {
  each(work: (counted: Counted, idfs: readonly number[], isLast: boolean) => void): void;
  clear(): void;
}

function groupsOf(index: ResidentIndex, { postings, idfs }: QueryWords): Groups {
  let counted: Counted | undefined;
  let at = -1;
  const groups: Groups = {
    each(work) {
      for (let first = 0; first < postings.length; first += TERMS) {
        if (at !== first) {
          groups.clear();
          counted = countTerms(index, postings.slice(first, first + TERMS));
          at = first;
        }
        work(counted!, idfs.slice(first, first + TERMS), first + TERMS >= postings.length);
      }
    },
    clear() {
      counted?.clear();
      counted = undefined;
      at = -1;
    },
  };
  return groups;
}

type Scores = Pick<WordScores, 'relevance' | 'inContext' | 'strengths'>;

function countRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  rows: Int32Array,
  groups: Groups,
): Scores {
  const relevance = new Float64Array(rows.length);
  const inContext = turns && new Float64Array(rows.length);
  const strengths = new Uint8Array(rows.length);
  groups.each((counted, idfs, isLast) => {
    for (let start = 0; start < rows.length; start += TOGETHER) {
      const those = rows.subarray(start, start + TOGETHER);
      const own = relevance.subarray(start, start + TOGETHER);
      const around = inContext?.subarray(start, start + TOGETHER);
      if (turns) addAround(index, words, counted, idfs, turns, those, own, around!);
      else addScores(index, words, counted, idfs, those, own);
      if (isLast) toRelevance(words.idfSum, own, around, strengths.subarray(start, start + TOGETHER));
    }
  });
  return { relevance, inContext, strengths };
}

/** Rows that are touched, by how well they can match. */
interface Parts {
  /** Those that are counted, and the others, of which none is more relevant than this; ascending. */
  readonly counted: Int32Array;
  readonly left: Int32Array;
  readonly most: number;
}

/** Fewer rows are counted at once: times the rows that are to be known. */
const WORTH_PARTING = 12;
/** Of so many rows it is looked at how well they match, to know where to part them all. */
const SAMPLE = 1024;
/** Bounds are summed in another order than scores. */
const ROUNDING = 1e-9;
/** Room for bounds, which nothing holds on to. */
let bounds = new Float64Array(0);

/**
 * Parts rows by bounds, so that about `fewest` of those that are counted match better than all others. `undefined` where it is not
 * worth its while.
 */
function partRows(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  rows: Int32Array,
  groups: Groups,
  fewest: number,
): Parts | undefined {
  if (rows.length <= WORTH_PARTING * fewest) return undefined;
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = new Int32Array(Math.ceil(rows.length / step));
  for (let at = 0; at < sample.length; at++) sample[at] = rows[at * step]!;
  const { end } = strongestOf(countRows(index, words, turns, sample, groups).strengths, fewest / step);
  if (end === 0) return undefined;
  bounds = grow(bounds, rows.length);
  bounds.fill(0, 0, rows.length);
  groups.each((counted, idfs) => addBounds(index, words, counted, idfs, turns, rows, bounds));
  const most = end / STRENGTHS;
  const cut = matchOfRelevance(most) - ROUNDING;
  const counted = new Int32Array(rows.length);
  const left = new Int32Array(rows.length);
  let [countedCount, leftCount] = [0, 0];
  for (let at = 0; at < rows.length; at++) {
    // Written to both, as no processor foresees which: only one of them goes on.
    counted[countedCount] = rows[at]!;
    left[leftCount] = rows[at]!;
    const isCounted = Number(bounds[at]! > cut);
    countedCount += isCounted;
    leftCount += 1 - isCounted;
  }
  return { counted: counted.subarray(0, countedCount), left: left.subarray(0, leftCount), most };
}

/** The highest strength, from `least` on, that at least `fewest` are above, if any, and how many are. */
export function strongestOf(
  strengths: Uint8Array,
  fewest: number,
  least = 0,
): { readonly end: number; readonly count: number } {
  const counts = new Uint32Array(STRENGTHS + 1);
  for (let at = 0; at < strengths.length; at++) counts[strengths[at]!]!++;
  let end = STRENGTHS;
  let count = 0;
  for (; end > least && count < fewest; end--) count += counts[end]!;
  return { end, count };
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
      // Of a row beside which nothing stands its own words alone count.
      const together = around[at] === 0 ? alone : lexicalRelevance(around[at]!, idfSum);
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
  common: CommonWords | undefined,
  parts: Parts | undefined,
): Uncounted | undefined {
  if (!common && !parts) return undefined;
  const most = Math.max(common?.most ?? 0, parts?.most ?? 0);
  const rest = { most, all: false, ...countedWhenAsked(index, words, turns) };
  if (!common) return { rows: parts!.left, ...rest };
  const postings = words.postings.filter((_, term) => common.isCommon[term]);
  const count = postings.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  if (count > index.size * NEARLY_ALL) return { rows: undefined, ...rest };
  const ofCommon = touchedRows(index.size, postings, turns);
  return { rows: parts ? merged(parts.left, ofCommon) : ofCommon, ...rest };
}

/** Two ascending lists as one. */
export function merged(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  let [atA, atB] = [0, 0];
  for (let at = 0; at < both.length; at++) {
    const isFirst = atB === b.length || (atA < a.length && a[atA]! < b[atB]!);
    both[at] = isFirst ? a[atA++]! : b[atB++]!;
  }
  return both;
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
    bm25: (row) => bm25Of(index, words, row),
    otherwise: 0,
    uncounted,
  };
}

/** Of so many postings all rows are counted in the time that one row takes by itself. */
const POSTINGS_A_ROW = 200;

function countedWhenAsked(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
): Omit<Uncounted, 'rows' | 'most' | 'all'> {
  const { postings } = words;
  const relevance = remembered((row) => lexicalRelevance(bm25Of(index, words, row), words.idfSum));
  // What is in no session has its own words alone.
  const around = turns && remembered((row) => contextRelevance(index, turns, words, row));
  const inContext = around
    ? (row: number) => (index.sessions.codes[row] === 0 ? relevance(row) : around(row))
    : relevance;
  const count = postings.reduce((sum, each) => sum + (each?.count ?? 0), 0);
  let asked = 0;
  let all: Counts | undefined;
  return {
    postings,
    relevance,
    inContext,
    among(said, rows, out) {
      asked += rows.length;
      // One by one, until it would have taken as long to count all at once.
      if (asked * POSTINGS_A_ROW < count) {
        const one = said === 'relevance' ? relevance : inContext;
        for (let at = 0; at < rows.length; at++) out[at] = one(rows[at]!);
      } else {
        all ??= countAll(index, words, turns);
        fillCounts(all, said, rows, out);
      }
    },
  };
}

/** What is counted of some rows, ascending. */
interface Counts extends Scores {
  readonly rows: Int32Array;
}

function countAll(index: ResidentIndex, words: QueryWords, turns: Turns | undefined): Counts {
  const groups = groupsOf(index, words);
  const rows = touchedRows(index.size, words.postings, turns);
  const counts = { rows, ...countRows(index, words, turns, rows, groups) };
  groups.clear();
  return counts;
}

function fillCounts(
  { rows: touched, relevance, inContext }: Counts,
  said: Said,
  rows: Int32Array,
  out: Float64Array,
): void {
  const values = (said === 'inContext' && inContext) || relevance;
  let place = 0;
  for (let at = 0; at < rows.length; at++) {
    place = placeOf(touched, rows[at]!, place);
    out[at] = touched[place] === rows[at] ? values[place]! : 0;
  }
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
  { rows, relevance, uncounted }: WordScores,
  standing: Uint8Array,
  wanted: number,
  areAll: boolean,
): number {
  let count = 0;
  if (uncounted) {
    const words = (standing.length >> 5) + 1;
    room.bits = grow(room.bits, words);
    const { bits } = room;
    for (const postings of uncounted.postings) if (postings) markRows(bits, postings);
    count = areAll ? bitsIn(bits, words) : rowsIn(bits, words, standing, wanted);
    bits.fill(0, 0, words);
    return count;
  }
  if (areAll) {
    for (let at = 0; at < rows.length; at++) if (relevance[at]! > 0) count++;
  } else {
    for (let at = 0; at < rows.length; at++) {
      if (relevance[at]! > 0 && standing[rows[at]!] === wanted) count++;
    }
  }
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

/** Room for rows that are not counted yet and their places, which nothing holds on to. */
let others = { rows: new Int32Array(0), places: new Int32Array(0), values: new Float64Array(0) };

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
  if (uncounted && others.rows.length < count)
    others = {
      rows: new Int32Array(count),
      places: new Int32Array(count),
      values: new Float64Array(count),
    };
  let found = 0;
  let place = count > 0 ? placeOf(touched, rows[0]!, 0) : 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    while (place < touched.length && touched[place]! < row) place++;
    if (place < touched.length && touched[place] === row) out[at] = values[place]!;
    else if (uncounted) {
      others.rows[found] = row;
      others.places[found++] = at;
    } else out[at] = otherwise;
  }
  if (!uncounted || found === 0) return;
  uncounted.among(said, others.rows.subarray(0, found), others.values);
  for (let each = 0; each < found; each++) out[others.places[each]!] = others.values[each]!;
}
