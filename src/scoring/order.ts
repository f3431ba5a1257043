import type { Instant } from '../domain/time.ts';

/** What the order of hits depends on. */
export interface Ranked {
  readonly score: number;
  readonly bm25: number;
  /** Unknown ranks below every known one. */
  readonly similarity: number | undefined;
  readonly updatedAt: Instant;
  /** The memory's place in the order of insertion. */
  readonly ordinal: number;
}

/**
 * Compares two hits; negative if `a` ranks before `b`. Order: score, BM25, similarity (if the formula reads it), newest
 * update, last inserted. Total over the memories of one space: 0 only for the same memory.
 */
export function compareRanked(a: Ranked, b: Ranked): number {
  return (
    b.score - a.score ||
    b.bm25 - a.bm25 ||
    (b.similarity ?? -1) - (a.similarity ?? -1) ||
    b.updatedAt - a.updatedAt ||
    b.ordinal - a.ordinal
  );
}
