import { certain, SLACK } from '../scoring/compile.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { compareRanked } from '../scoring/order.ts';
import type { ResolvedProfile } from '../scoring/profile.ts';
import { failedRequirement } from '../scoring/score.ts';
import type { Signals } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import { type BeliefColumns, signalsForQuery } from './belief-columns.ts';
import { boundRows } from './bounds.ts';
import type { Kept } from './kept.ts';
import { type QueryColumns, querySignals } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';
import { scoreOf } from './word-scores.ts';

/** What the search needs of the store: it keeps the vectors themselves. */
export interface VectorSource {
  /** The unit vectors of these keys, in order; `soon` tells which may be asked for next, so many at most. */
  vectors(
    keys: readonly number[],
    soon?: (most: number) => readonly number[],
  ): Awaitable<readonly (Float32Array | undefined)[]>;
}

/** A value, or a promise of it: a source that has it at hand need not wait. */
export type Awaitable<Value> = Value | Promise<Value>;

export interface IndexSearch {
  readonly profile: ResolvedProfile;
  /** Rows that may be returned, ascending. */
  readonly rows: Int32Array;
  /** How each row stands to the recall: `ELIGIBLE` if it may be returned. */
  readonly standing: Uint8Array;
  readonly belief: BeliefColumns;
  readonly kept?: Kept | undefined;
  /** Whether rows are passed over by what they have in common: a recall must see all of them. */
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
  let bound = certain(survivors.discarded);
  let scored = 0;
  let below = survivors.belowFloor;
  const order = Array.from(survivors.rows.keys()).sort((a, b) => survivors.upper[b]! - survivors.upper[a]!);
  let size = FIRST_GROUP;
  for (let start = 0; start < order.length; ) {
    const weakest = best.length === search.limit ? best[best.length - 1]! : undefined;
    const nextUpper = survivors.upper[order[start]!]!;
    if (weakest && nextUpper + SLACK < weakest.score) {
      bound = Math.max(bound, certain(nextUpper));
      break;
    }
    const rows = order.slice(start, start + size).map((at) => survivors.rows[at]!);
    start += size;
    size = Math.min(2 * size, LARGEST_GROUP);
    const next = start;
    const soon = (most: number) =>
      order.slice(next, next + most).map((at) => index.keys[survivors.rows[at]!]!);
    const { ranked: found, belowFloor } = await evaluateRows(index, search, source, rows, soon);
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
  soon: (most: number) => readonly number[],
): Promise<{ readonly ranked: readonly Ranked[]; readonly belowFloor: number }> {
  const keys = rows.map((row) => index.keys[row]!);
  const needed = vector === undefined ? [] : keys.filter((_, at) => hasVector(index, rows[at]!));
  const vectors = needed.length === 0 ? [] : await source.vectors(needed, soon);
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
      bm25: scoreOf(columns.lexical.rows, columns.lexical.bm25, row, 0),
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

function hasVector(index: ResidentIndex, row: number): boolean {
  return !Number.isNaN(index.scales[row]!);
}
