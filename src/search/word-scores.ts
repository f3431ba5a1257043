import { SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { lengthNormalization, lexicalRelevance, termScore } from '../text/bm25.ts';
import { neighbourWeight } from '../text/context.ts';
import { bm25Of, type CommonWords, commonWords } from './common-words.ts';
import { grow } from './grow.ts';
import { contextRelevance, placeOf, type QueryWords } from './lexical.ts';
import type { GrowingPostings, ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';

/** How well the words of each row match a query. What it says of a row stands at the place of that row among `rows`. */
export interface WordScores {
  /** Ascending: the rows that a word of the query touches, in them or beside them; where some are uncounted, all but those. */
  readonly rows: Int32Array;
  readonly bm25: Float64Array;
  readonly relevance: Float64Array;
  /** Together with the words around them; absent where those were not asked for. */
  readonly inContext: Float64Array | undefined;
  /** The relevance of all other rows: 0; NaN when the query has no words at all, as it is then unknown. */
  readonly otherwise: number;
  /** Absent where every row that a word touches was counted. */
  readonly uncounted: Uncounted | undefined;
}

/** Rows that only common words touch: counted one by one, when somebody asks. */
export interface Uncounted {
  /** Ascending, among some that were counted; absent where that may be nearly all rows. */
  readonly rows: Int32Array | undefined;
  /** None of them is more relevant, with the words around it or without. */
  readonly most: number;
  /** No row is counted unless somebody asks. */
  readonly all: boolean;
  readonly postings: QueryWords['postings'];
  bm25(row: number): number;
  relevance(row: number): number;
  inContext(row: number): number;
}

/**
 * BM25 of the rows that a query touches; `turns` say what stands beside each. Words that `commonFrom` rows have may leave rows
 * uncounted.
 */
export function wordScores(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns | undefined,
  commonFrom = Infinity,
): WordScores {
  const common = commonWords(words, commonFrom);
  const isCommon = (term: number) => common?.isCommon[term] === true;
  const rare = words.postings.filter((_, term) => !isCommon(term));
  const rows = touchedRows(index.size, rare, turns);
  const { places } = room;
  for (let at = 0; at < rows.length; at++) places[rows[at]!] = at;
  const bm25 = new Float64Array(rows.length);
  words.postings.forEach((postings, term) => {
    if (!postings) return;
    const idf = words.idfs[term]!;
    if (isCommon(term)) addAmong(postings, idf, index.lengths, words.averageLength, rows, bm25);
    else addScores(postings, idf, index.lengths, words.averageLength, bm25);
  });
  const relevance = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (bm25[at] !== 0) relevance[at] = lexicalRelevance(bm25[at]!, words.idfSum);
  }
  const inContext = turns && contextScores(index, turns, words, isCommon, rows, relevance);
  const uncounted = common && leftUncounted(index, words, turns, common);
  return { rows, bm25, relevance, inContext, otherwise: 0, uncounted };
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
    bm25: none,
    relevance: none,
    inContext: turns && none,
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
    postings: words.postings,
    bm25: (row) => bm25Of(index, words, row),
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

/** How many of the rows that stand so have a word of the query. */
export function countMatches(
  { rows, relevance, uncounted }: WordScores,
  standing: Uint8Array,
  wanted: number,
): number {
  let count = 0;
  if (uncounted) {
    room.bits = grow(room.bits, (standing.length >> 5) + 1);
    const { bits } = room;
    for (const postings of uncounted.postings) {
      for (let at = 0; postings && at < postings.count; at++) {
        const row = postings.rows[at]!;
        if (mark(bits, row) === 1 && standing[row] === wanted) count++;
      }
    }
    bits.fill(0);
    return count;
  }
  for (let at = 0; at < rows.length; at++) {
    if (relevance[at]! > 0 && standing[rows[at]!] === wanted) count++;
  }
  return count;
}

/** Scores of a query in which no term is left: a row either holds its text, or not. */
export function substringScores(index: ResidentIndex, keys: Iterable<number>): WordScores {
  const found = [...keys].flatMap((key) => index.rowOfKey.get(key) ?? []);
  const rows = Int32Array.from(found).sort();
  const relevance = new Float64Array(rows.length).fill(SUBSTRING_RELEVANCE);
  const bm25 = new Float64Array(rows.length);
  return { rows, bm25, relevance, inContext: undefined, otherwise: 0, uncounted: undefined };
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
    uncounted: undefined,
  };
}

/** What is said of the words of rows: by their places, or one by one. */
type Said = 'bm25' | 'relevance' | 'inContext';

/** What is said of one row. */
export function scoreOf(scores: WordScores, said: Said, row: number): number {
  const { rows, otherwise, uncounted } = scores;
  const at = placeOf(rows, row, 0);
  if (rows[at] === row) return scores[said]![at]!;
  return uncounted ? uncounted[said](row) : said === 'bm25' ? 0 : otherwise;
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
  let place = count > 0 ? placeOf(touched, rows[0]!, 0) : 0;
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    while (place < touched.length && touched[place]! < row) place++;
    if (place < touched.length && touched[place] === row) out[at] = values[place]!;
    else out[at] = uncounted ? uncounted[said](row) : otherwise;
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
function touchedRows(size: number, postings: QueryWords['postings'], turns: Turns | undefined): Int32Array {
  room.bits = grow(room.bits, (size >> 5) + 1);
  room.places = grow(room.places, size);
  room.counts = grow(room.counts, size);
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

/** The same of a word that so many other rows have: it is looked up in those that are touched. */
function addAmong(
  postings: GrowingPostings,
  idf: number,
  lengths: Uint32Array,
  averageLength: number,
  rows: Int32Array,
  bm25: Float64Array,
): void {
  const { counts } = room;
  setCounts(postings, undefined);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const frequency = counts[row]!;
    if (frequency === 0) continue;
    bm25[at]! += termScore(idf, frequency, lengthNormalization(lengths[row]!, averageLength));
  }
  clearCounts(postings);
}

/** Writes down how often rows have a term; where there are sessions, only rows of those. */
function setCounts({ rows, frequencies, count }: GrowingPostings, turns: Turns | undefined): void {
  const { counts } = room;
  for (let at = 0; at < count; at++) {
    if (turns?.codes[rows[at]!] !== 0) counts[rows[at]!] = frequencies[at]!;
  }
}

function clearCounts({ rows, count }: GrowingPostings): void {
  const { counts } = room;
  for (let at = 0; at < count; at++) counts[rows[at]!] = 0;
}

/**
 * The relevance of each row together with what stands beside it: term by term, in the order in which `contextRelevance` adds
 * up, so that both give the same bits.
 */
function contextScores(
  index: ResidentIndex,
  turns: Turns,
  words: QueryWords,
  isCommon: (term: number) => boolean,
  rows: Int32Array,
  relevance: Float64Array,
): Float64Array {
  const scores = new Float64Array(relevance.length);
  words.postings.forEach((postings, term) => {
    if (!postings) return;
    setCounts(postings, turns);
    const add = addAround(words.idfs[term]!, index.asks, turns, words.averageLength, scores);
    if (isCommon(term)) for (let at = 0; at < rows.length; at++) add(rows[at]!, at);
    else addBeside(postings, turns, add);
    clearCounts(postings);
  });
  for (let at = 0; at < scores.length; at++) {
    // A row of which nothing stands beside it has its own words alone.
    scores[at] = scores[at] === 0 ? relevance[at]! : lexicalRelevance(scores[at]!, words.idfSum);
  }
  return scores;
}

/** Adds what a term that is counted gives to a row of a session, at its place. */
function addAround(
  idf: number,
  asks: Uint8Array,
  turns: Turns,
  averageLength: number,
  scores: Float64Array,
): (row: number, place: number) => void {
  const { codes, lengths } = turns;
  const { counts } = room;
  return (row, place) => {
    if (codes[row] === 0) return;
    const frequency = frequencyAround(row, asks, turns, counts);
    if (frequency === 0) return;
    const normalization = lengthNormalization(lengths[row]!, averageLength);
    scores[place]! += termScore(idf, frequency, normalization);
  };
}

/** Each of the rows that have a term, and those beside them, once. */
function addBeside(
  { rows, count }: GrowingPostings,
  { codes, previous, next }: Turns,
  add: (row: number, place: number) => void,
): void {
  const { places, bits } = room;
  const once = (row: number) => {
    if (row >= 0 && mark(bits, row) === 1) add(row, places[row]!);
  };
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    if (codes[row] === 0) continue;
    const [before, after] = [previous[row]!, next[row]!];
    once(row);
    once(before);
    once(after);
    if (before >= 0) once(previous[before]!);
    if (after >= 0) once(next[after]!);
  }
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
