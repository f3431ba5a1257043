import {
  BLOCK_SIZE,
  type Block,
  compileAll,
  compileConditions,
  emptyBlock,
  type Facts,
  type MutableBlock,
  reaches,
  type Sides,
  SLACK,
} from '../scoring/compile.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { compareRanked } from '../scoring/order.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { failedRequirement } from '../scoring/score.ts';
import { EXACT_SIGNALS, isQuerySignal, isSignalName, type Signals } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import { type BeliefColumns, columnsOf, signalsForQuery } from './belief-columns.ts';
import type { Kept as KeptFormulas } from './kept.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { dotError, quantiseQuery } from './quantise.ts';
import { type QueryColumns, querySignals } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';

/** What the search needs of the store: it keeps the vectors themselves. */
export interface VectorSource {
  /** The unit vectors of these keys, in order. */
  vectors(keys: readonly number[]): Awaitable<readonly (Float32Array | undefined)[]>;
}

/** A value, or a promise of it: a source that has it at hand need not wait. */
export type Awaitable<Value> = Value | Promise<Value>;

export interface IndexSearch {
  readonly profile: ResolvedProfile;
  /** Rows that may be returned, ascending. */
  readonly rows: Int32Array;
  readonly belief: BeliefColumns;
  readonly kept?: KeptFormulas | undefined;
  readonly columns: QueryColumns;
  readonly vector: Float32Array | undefined;
  readonly now: number;
  readonly limit: number;
}

export interface IndexHit {
  readonly key: number;
  readonly signals: Signals;
  readonly bm25: number;
  readonly score: number;
}

export interface IndexAnswer {
  /** Best first, in the total order of ranking. */
  readonly hits: readonly IndexHit[];
  /** No other row scores above this. */
  readonly upperBound: number;
  readonly lexicalMatches: number;
  readonly withVector: number;
  /** Rows that can meet the profile's requirements, its floor included. */
  readonly candidates: number;
  /** Rows that can meet all but the floor. */
  readonly belowFloor: number;
  /** Rows that the formula was evaluated for exactly. */
  readonly scored: number;
  /** Milliseconds that bounding all rows took. */
  readonly scanMs: number;
}

/** Vectors are fetched and evaluated in groups, best bound first: of this size at first, and twice that each time. */
const FIRST_GROUP = 16;
const LARGEST_GROUP = 512;

/**
 * The exact top `limit` of a formula: bounds for every row, evaluation for those that could be among the best, in
 * the order of their upper bounds, until no other can enter. The bound that ended it is the certificate.
 */
export async function searchIndex(
  index: ResidentIndex,
  search: IndexSearch,
  source: VectorSource,
): Promise<IndexAnswer> {
  const started = performance.now();
  const survivors = boundRows(index, search);
  const scanMs = performance.now() - started;
  const best: Ranked[] = [];
  let bound = survivors.discarded;
  let scored = 0;
  let below = survivors.belowFloor;
  const order = Array.from(survivors.rows.keys()).sort((a, b) => survivors.upper[b]! - survivors.upper[a]!);
  let size = FIRST_GROUP;
  for (let start = 0; start < order.length; ) {
    const weakest = best.length === search.limit ? best[best.length - 1]! : undefined;
    const nextUpper = survivors.upper[order[start]!]!;
    if (weakest && nextUpper + SLACK < weakest.score) {
      bound = Math.max(bound, nextUpper);
      break;
    }
    const rows = order.slice(start, start + size).map((at) => survivors.rows[at]!);
    start += size;
    size = Math.min(2 * size, LARGEST_GROUP);
    const { ranked: found, belowFloor } = await evaluateRows(index, search, source, rows);
    below += belowFloor;
    for (const ranked of found) {
      scored++;
      bound = Math.max(bound, insert(best, ranked, search.limit));
    }
  }
  return {
    hits: best.map(({ key, signals, bm25, score }) => ({ key, signals, bm25, score })),
    upperBound: Math.min(1, bound),
    lexicalMatches: survivors.lexicalMatches,
    withVector: survivors.withVector,
    candidates: survivors.candidates - (below - survivors.belowFloor),
    belowFloor: below,
    scored,
    scanMs,
  };
}

interface Survivors extends Kept {
  /** The highest upper bound of the rows that are not among them. */
  readonly discarded: number;
  readonly candidates: number;
  readonly belowFloor: number;
  readonly lexicalMatches: number;
  readonly withVector: number;
}

/** Bounds the score of every row, and keeps those that could be among the best. */
function boundRows(index: ResidentIndex, search: IndexSearch): Survivors {
  const { profile, rows, now, limit } = search;
  const columns = columnsOf(index.columns, search.belief, search.kept);
  const block = emptyBlock(now);
  // Most rows fall by their upper bound: the lower one is worked out for the others alone, side by side.
  const chosen = emptyBlock(now);
  const facts = factsOf(index, search);
  const { floor } = profile;
  const roots = floor ? [profile.root, floor.node] : [profile.root];
  const formulas = compileAll(roots, columns, { facts: { ...facts, block }, wanted: 'high' });
  const both = compileAll(roots, columns, { facts: { ...facts, block: chosen } });
  const judge = compileConditions(profile.require, columns);
  const similarity = similarityBounds(index, search.vector);
  const exact = exactColumns(search.columns);
  const { relevance } = search.columns.lexical;
  const lowest = createThreshold(limit);
  const places = new Int32Array(BLOCK_SIZE);
  const tally: Tally = { discarded: 0, candidates: 0, belowFloor: 0, lexicalMatches: 0, withVector: 0 };
  let kept: Kept = { rows: [], upper: [] };
  let room = 4 * limit + BLOCK_SIZE;
  for (let start = 0; start < rows.length; ) {
    start = fillBlock(block, rows, start);
    similarity(block);
    exact(block);
    countFound(block, relevance, tally);
    const verdict = profile.require.length > 0 ? judge(block) : undefined;
    const [{ high }, floored] = formulas.bounds(block) as readonly [Sides, Sides?];
    const floorBounds = floor && { high: floored!.high, atLeast: floor.atLeast };
    const found = selectPlaces(
      { high, verdict, floor: floorBounds, threshold: lowest.value() - SLACK },
      block.count,
      places,
      tally,
    );
    chosen.count = 0;
    for (let each = 0; each < found; each++) {
      const at = places[each]!;
      // Whether an undecided requirement is met is known only after evaluation: such a row pushes nobody out.
      if (verdict === undefined || verdict[at] === 1) copyRow(block, at, chosen);
      kept.rows.push(block.rows[at]!);
      kept.upper.push(Number.isNaN(high[at]!) ? Infinity : high[at]!);
    }
    if (chosen.count > 0) {
      const [bounds, floored] = both.bounds(chosen);
      for (let at = 0; at < chosen.count; at++) {
        const low = bounds!.low[at]!;
        const reached = floor ? reaches(floored!.low[at]!, floored!.high[at]!, floor.atLeast) : 1;
        if (low > 0 && reached === 1) lowest.offer(low);
      }
    }
    if (kept.rows.length > room) {
      kept = sift(kept, lowest.value(), tally);
      // Where many are alike, few fall: looking through them again after each block would take the most time.
      room = Math.max(room, 2 * kept.rows.length);
    }
  }
  return { ...sift(kept, lowest.value(), tally), ...tally };
}

/** Rows that could be among the best, and their upper bounds. */
interface Kept {
  readonly rows: number[];
  readonly upper: number[];
}

type Tally = { -readonly [Name in Exclude<keyof Survivors, keyof Kept>]: Survivors[Name] };

function countFound({ rows, similarityLow, count }: Block, relevance: Float64Array, tally: Tally): void {
  let matches = 0;
  let known = 0;
  for (let at = 0; at < count; at++) {
    if (relevance[rows[at]!]! > 0) matches++;
    if (!Number.isNaN(similarityLow[at]!)) known++;
  }
  tally.lexicalMatches += matches;
  tally.withVector += known;
}

interface Selection {
  readonly high: Float64Array;
  /** Of the requirements; absent where there are none. */
  readonly verdict: Uint8Array | undefined;
  readonly floor: { readonly high: Float64Array; readonly atLeast: number } | undefined;
  readonly threshold: number;
}

/** Writes down the places of a block that could be among the best; returns how many. */
function selectPlaces(
  { high, verdict, floor, threshold }: Selection,
  count: number,
  places: Int32Array,
  tally: Tally,
): number {
  let found = 0;
  let candidates = 0;
  let below = 0;
  let highest = 0;
  for (let at = 0; at < count; at++) {
    if (verdict !== undefined && verdict[at] === 0) continue;
    if (floor !== undefined && reaches(-Infinity, floor.high[at]!, floor.atLeast) === 0) {
      below++;
      continue;
    }
    candidates++;
    // One that is unknown, NaN, is neither.
    const upper = high[at]!;
    if (upper <= 0) continue;
    if (upper < threshold) {
      if (upper > highest) highest = upper;
    } else places[found++] = at;
  }
  tally.candidates += candidates;
  tally.belowFloor += below;
  tally.discarded = Math.max(tally.discarded, highest);
  return found;
}

/** Lets go of what has fallen below the threshold since. */
function sift(kept: Kept, threshold: number, tally: Tally): Kept {
  const left: Kept = { rows: [], upper: [] };
  kept.upper.forEach((upper, at) => {
    if (upper + SLACK < threshold) tally.discarded = Math.max(tally.discarded, upper);
    else {
      left.rows.push(kept.rows[at]!);
      left.upper.push(upper);
    }
  });
  return left;
}

interface Ranked extends IndexHit {
  readonly similarity: number | undefined;
  readonly updatedAt: number;
  readonly ordinal: number;
}

async function evaluateRows(
  index: ResidentIndex,
  { profile, belief, columns, vector, now }: IndexSearch,
  source: VectorSource,
  rows: readonly number[],
): Promise<{ readonly ranked: readonly Ranked[]; readonly belowFloor: number }> {
  const keys = rows.map((row) => index.keys[row]!);
  const needed = vector === undefined ? [] : keys.filter((_, at) => hasVector(index, rows[at]!));
  const vectors = needed.length === 0 ? [] : await source.vectors(needed);
  const found = new Map(vectors.map((each, at) => [needed[at]!, each]));
  const ranked: Ranked[] = [];
  let belowFloor = 0;
  rows.forEach((row, at) => {
    const key = keys[at]!;
    const stored = found.get(key);
    const similarity = vector && stored ? cosine(vector, stored) : undefined;
    const signals = signalsForQuery(index, belief, row, querySignals(columns, row, similarity));
    const failed = failedRequirement(profile, signals, now);
    if (failed === profile.require.length) belowFloor++;
    if (failed !== undefined) return;
    const score = evaluate(profile.root, signals, now);
    if (score <= 0) return;
    ranked.push({
      key,
      signals,
      bm25: columns.lexical.bm25[row]!,
      score,
      similarity: signals.similarity,
      updatedAt: signals.updatedAt!,
      ordinal: index.ordinals[row]!,
    });
  });
  return { ranked, belowFloor };
}

/** Puts a hit into its place among the best `limit`; returns the score of the one left out, 0 if none. */
function insert(best: Ranked[], ranked: Ranked, limit: number): number {
  const last = best[best.length - 1];
  if (best.length === limit && last && compareRanked(ranked, last) > 0) return ranked.score;
  let low = 0;
  let high = best.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareRanked(best[middle]!, ranked) <= 0) low = middle + 1;
    else high = middle;
  }
  best.splice(low, 0, ranked);
  return best.length > limit ? (best.pop()?.score ?? 0) : 0;
}

/** Takes the next rows, never across a border of the scan, so that a block needs one call of it. */
function fillBlock(block: MutableBlock, rows: Int32Array, start: number): number {
  const border = (Math.floor(rows[start]! / SCAN_ROWS) + 1) * SCAN_ROWS;
  let end = Math.min(start + BLOCK_SIZE, rows.length);
  while (rows[end - 1]! >= border) end--;
  block.rows.set(rows.subarray(start, end));
  block.count = end - start;
  return end;
}

/** Fills in, for each row of a block, between which values its similarity to the query lies. */
function similarityBounds(index: ResidentIndex, vector: Float32Array | undefined): (block: Block) => void {
  const { codes, scales, residuals } = index;
  if (vector === undefined || codes?.dimensions !== vector.length) {
    return ({ similarityLow, similarityHigh, count }) => {
      similarityLow.fill(Number.NaN, 0, count);
      similarityHigh.fill(Number.NaN, 0, count);
    };
  }
  const query = quantiseQuery(vector);
  return ({ rows, count, similarityLow, similarityHigh }) => {
    if (count === 0) return;
    const first = rows[0]!;
    const products = codes.products(query.codes, first, rows[count - 1]! - first + 1);
    const { scale, residual } = query;
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      const product = scale * scales[row]! * products[row - first]!;
      const error = dotError(residual, residuals[row]!);
      const low = product - error;
      const high = product + error;
      // Of a row without a vector both are NaN, which no comparison changes.
      similarityLow[at] = low < 0 ? 0 : low > 1 ? 1 : low;
      similarityHigh[at] = high < 0 ? 0 : high > 1 ? 1 : high;
    }
  };
}

/** Adds a row of a block to another one. */
function copyRow(from: Block, at: number, to: MutableBlock): void {
  const place = to.count++;
  to.rows[place] = from.rows[at]!;
  to.similarityLow[place] = from.similarityLow[at]!;
  to.similarityHigh[place] = from.similarityHigh[at]!;
  for (const name of EXACT_SIGNALS) to.exact[name][place] = from.exact[name][at]!;
}

/** Fills in what is known exactly of each row of a block; the rest of it stays NaN. */
function exactColumns({ exact }: QueryColumns): (block: Block) => void {
  const known = EXACT_SIGNALS.flatMap((name) => {
    const column = exact[name];
    return column ? [[name, column] as const] : [];
  });
  return (block) => {
    for (const [name, column] of known) column.fill(block.rows, block.count, block.exact[name]);
  };
}

/** What is known of all rows: a vector that every memory has, words that the query has or has not. */
function factsOf(index: ResidentIndex, { vector, columns }: IndexSearch): Facts {
  const compared = vector !== undefined && index.codes?.dimensions === vector.length;
  const all = index.vectors === index.size - index.dead ? true : undefined;
  return {
    known(name) {
      if (name === 'similarity') return compared ? all : false;
      return isSignalName(name) && isQuerySignal(name) ? columns.known(name) : undefined;
    },
  };
}

function hasVector(index: ResidentIndex, row: number): boolean {
  return !Number.isNaN(index.scales[row]!);
}

/** The k-th highest of the values offered so far: a heap whose root is the lowest of the k. */
function createThreshold(k: number): { offer(value: number): void; value(): number } {
  const heap: number[] = [];
  return {
    value: () => (heap.length < k ? -Infinity : heap[0]!),
    offer(value) {
      if (heap.length < k) {
        heap.push(value);
        let at = heap.length - 1;
        while (at > 0) {
          const parent = (at - 1) >> 1;
          if (heap[parent]! <= heap[at]!) break;
          [heap[parent], heap[at]] = [heap[at]!, heap[parent]!];
          at = parent;
        }
        return;
      }
      if (value <= heap[0]!) return;
      heap[0] = value;
      for (let at = 0; ; ) {
        const left = 2 * at + 1;
        if (left >= k) break;
        const child = left + 1 < k && heap[left + 1]! < heap[left]! ? left + 1 : left;
        if (heap[at]! <= heap[child]!) break;
        [heap[at], heap[child]] = [heap[child]!, heap[at]!];
        at = child;
      }
    },
  };
}
