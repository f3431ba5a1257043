/**
 * Cosine of two vectors of unit length, negatives clamped to 0 (and what rounding puts above 1, to 1).
 *
 * The sum runs in float64, first dimension to last: every reader gets the same bits. Both vectors have the same
 * length; the caller sees to it.
 */
export function cosine(query: Float32Array, memory: Float32Array): number {
  let dot = 0;
  for (let dimension = 0; dimension < query.length; dimension++) {
    dot += query[dimension]! * memory[dimension]!;
  }
  return dot > 0 ? Math.min(dot, 1) : 0;
}
