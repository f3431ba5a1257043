import { certain, slackOf } from '../scoring/cancelling.ts';
import { valueAt } from '../scoring/compile.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { compareRanked } from '../scoring/order.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { failedRequirement, signalsRanked } from '../scoring/score.ts';
import type { Signals } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import { type BeliefColumns, signalsForQuery } from './belief-columns.ts';
import { boundKnown, boundRows } from './bounds.ts';
import type { Kept } from './kept.ts';
import { keepNear } from './near.ts';
import { type QueryColumns, querySignals } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';
import { signalsReader } from './row-signals.ts';

/** What the search needs from the store, which keeps the full vectors. */
export interface VectorSource {
  /** Returns the unit vectors of `keys`, in order. `soon(most)` returns up to `most` keys that may be needed next. */
  vectors(
    keys: readonly number[],
    soon?: (most: number) => readonly number[],
  ): Awaitable<readonly (Float32Array | undefined)[]>;
}

/** A value, or a promise of it. A source that has the value in memory returns it directly. */
export type Awaitable<Value> = Value | Promise<Value>;

export interface IndexSearch {
  readonly profile: ResolvedProfile;
  /** Rows that may be returned, ascending. */
  readonly rows: Int32Array;
  /** How the recall sees each row: `ELIGIBLE` if it may be returned. */
  readonly standing: Uint8Array;
  readonly belief: BeliefColumns;
  readonly kept?: Kept | undefined;
  /**
   * Whether groups of rows may be skipped by bounds that they share (see `skim.ts`). Needs a recall that sees all of
   * them.
   */
  readonly skims: boolean;
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
  /** Rows that meet the profile's requirements and floor. Rows that were not evaluated count if they may meet them. */
  readonly candidates: number;
  /** Rows that meet, or may meet, all requirements but not the floor. */
  readonly belowFloor: number;
  /** Rows whose score was evaluated exactly. */
  readonly scored: number;
  /** Milliseconds spent on bounding the rows. */
  readonly scanMs: number;
}

/**
 * Vectors are fetched and rows evaluated in groups, best upper bound first. Each group is twice as large as the last.
 */
const FIRST_GROUP = 16;
const LARGEST_GROUP = 512;

/** Rows that could be among the best, in the order in which they are evaluated. */
interface Waiting {
  readonly rows: Int32Array;
  readonly upper: Float64Array;
  /** The exact similarities, where they are known already; NaN for a row without one. */
  readonly similarities?: Float64Array;
}

/**
 * Finds the exact top `limit` rows of a formula. It bounds the rows, then evaluates those that could be among the best
 * in the order of their upper bounds, until no other row can enter. The bound that ended it is the certificate.
 */
export async function searchIndex(
  index: ResidentIndex,
  search: IndexSearch,
  source: VectorSource,
): Promise<IndexAnswer> {
  const { root } = search.profile;
  const slack = slackOf(root);
  const started = performance.now();
  const survivors = boundRows(index, search);
  const scanMs = performance.now() - started;
  const evaluateRow = evaluator(index, search);
  const best: Ranked[] = [];
  let bound = certain(survivors.discarded, root);
  let scored = 0;
  let below = survivors.belowFloor;
  let refused = 0;
  let waiting: Waiting = byUpper(survivors.rows, survivors.upper);
  let size = FIRST_GROUP;
  for (let start = 0; start < waiting.rows.length; ) {
    const weakest = best.length === search.limit ? best[best.length - 1]! : undefined;
    const nextUpper = waiting.upper[start]!;
    if (weakest && nextUpper + slack < weakest.score) {
      bound = Math.max(bound, certain(nextUpper, root));
      break;
    }
    if (size === LARGEST_GROUP && search.vector && !waiting.similarities) {
      // The 8-bit codes cannot tell so many rows apart. Their exact similarities show which are worth evaluating.
      waiting = await compareExactly(index, search, source, waiting, start);
      start = 0;
      size = FIRST_GROUP;
      continue;
    }
    const next = Math.min(start + size, waiting.rows.length);
    const similarities = waiting.similarities
      ? waiting.similarities.subarray(start, next)
      : await similaritiesOf(index, search, source, waiting.rows, start, next);
    for (let at = start; at < next; at++) {
      const found = evaluateRow(waiting.rows[at]!, similarities[at - start]!);
      if (found === 'below') below++;
      if (found === 'refused') refused++;
      if (typeof found === 'string') continue;
      scored++;
      bound = Math.max(bound, insert(best, found, search.limit));
    }
    start = next;
    size = Math.min(2 * size, LARGEST_GROUP);
  }
  return {
    hits: best.map(({ row, key, bm25, score, similarity }) => {
      const signals = signalsForQuery(
        index,
        search.belief,
        row,
        querySignals(search.columns, row, similarity),
      );
      return { key, signals, bm25, score };
    }),
    upperBound: Math.min(1, bound),
    lexicalMatches: survivors.lexicalMatches,
    withVector: survivors.withVector,
    candidates: survivors.candidates - (below - survivors.belowFloor) - refused,
    belowFloor: below,
    scored,
    scanMs,
  };
}

function byUpper(
  rows: ArrayLike<number>,
  upper: ArrayLike<number>,
  similarities?: ArrayLike<number>,
): Waiting {
  const count = upper.length;
  const order = new Int32Array(count);
  let isSorted = true;
  for (let at = 0; at < count; at++) {
    order[at] = at;
    // Rows that are equal in everything have the same upper bound.
    if (at > 0 && upper[at]! > upper[at - 1]!) isSorted = false;
  }
  if (!isSorted) order.sort((a, b) => upper[b]! - upper[a]!);
  const sorted = { rows: new Int32Array(count), upper: new Float64Array(count) };
  const known = similarities && new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const place = order[at]!;
    sorted.rows[at] = rows[place]!;
    sorted.upper[at] = upper[place]!;
    if (known) known[at] = similarities[place]!;
  }
  return known ? { ...sorted, similarities: known } : sorted;
}

/**
 * Orders the rows from place `start` on by the upper bounds that their exact similarities give. Keeps their vectors
 * while there is room.
 */
async function compareExactly(
  index: ResidentIndex,
  search: IndexSearch,
  source: VectorSource,
  waiting: Waiting,
  start: number,
): Promise<Waiting> {
  const rows = waiting.rows.slice(start).sort();
  const similarities = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at += LARGEST_GROUP) {
    const end = Math.min(at + LARGEST_GROUP, rows.length);
    similarities.set(await similaritiesOf(index, search, source, rows, at, end, true), at);
  }
  return byUpper(rows, boundKnown(index, search, rows, similarities), similarities);
}

/** Returns the exact similarities of the rows from place `start` to before `end`; NaN for a row without one. */
async function similaritiesOf(
  { near, keys, codes, scales }: ResidentIndex,
  { vector }: IndexSearch,
  source: VectorSource,
  rows: Int32Array,
  start: number,
  end: number,
  keeps = false,
): Promise<Float64Array> {
  const similarities = new Float64Array(end - start).fill(Number.NaN);
  if (vector === undefined) return similarities;
  const missing: number[] = [];
  let last = -1;
  let ofLast = Number.NaN;
  for (let at = start; at < end; at++) {
    const row = rows[at]!;
    if (Number.isNaN(scales[row]!)) continue;
    const known = near.numbers.get(row);
    if (known === undefined) missing.push(at);
    else {
      // Most rows that share a vector are neighbours here.
      if (known !== last) ofLast = cosine(vector, near.vectors[known]!);
      last = known;
      similarities[at - start] = ofLast;
    }
  }
  if (missing.length === 0) return similarities;
  const vectors = await source.vectors(
    missing.map((at) => keys[rows[at]!]!),
    (most) => Array.from(rows.subarray(end, end + most), (row) => keys[row]!),
  );
  for (const [place, at] of missing.entries()) {
    const stored = vectors[place];
    if (!stored) continue;
    similarities[at - start] = cosine(vector, stored);
    if (keeps) keepNear(near, rows[at]!, stored, codes?.byteLength ?? 0);
  }
  return similarities;
}

interface Ranked extends Omit<IndexHit, 'signals'> {
  readonly row: number;
  readonly similarity: number | undefined;
  readonly updatedAt: number;
  readonly ordinal: number;
}

/**
 * Returns a function that evaluates a row: a hit, or why it is not one. Pass NaN for a similarity that is not known.
 */
function evaluator(
  index: ResidentIndex,
  { profile, belief, columns, now }: IndexSearch,
): (row: number, similarity: number) => Ranked | 'below' | 'refused' | 'unscored' {
  const signalsAt = signalsReader(index, belief, columns, signalsRanked(profile));
  return (row, known) => {
    const similarity = Number.isNaN(known) ? undefined : known;
    const signals = signalsAt(row, similarity);
    const failed = failedRequirement(profile, signals, now);
    if (failed !== undefined) return failed === profile.require.length ? 'below' : 'refused';
    const score = evaluate(profile.root, signals, now);
    if (score <= 0) return 'unscored';
    return {
      row,
      key: index.keys[row]!,
      bm25: columns.lexical.bm25(row),
      score,
      similarity,
      updatedAt: valueAt(index.columns.clocks.updatedAt, row),
      ordinal: index.ordinals[row]!,
    };
  };
}

/** Inserts a hit into the best `limit`. Returns the score of the hit that was left out, 0 if none. */
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
