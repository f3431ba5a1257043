import type { Instant } from '../domain/time.ts';

/** What the order of an answer looks at. */
export interface Ranked {
  readonly score: number;
  readonly bm25: number;
  /** Unknown ranks below every known one. */
  readonly similarity: number | undefined;
  readonly updatedAt: Instant;
  /** Its place in the order of insertion. */
  readonly ordinal: number;
}

/**
 * Negative when `a` ranks before `b`: score, BM25, similarity (where the formula reads it), the newest update, then what was inserted last. Total over
 * memories of one space: 0 only for the same memory.
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
