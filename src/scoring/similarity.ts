/**
 * Returns the cosine of two unit vectors, clamped to [0, 1].
 *
 * The sum runs in float64 from the first dimension to the last, so that every reader gets the same bits. The caller
 * must pass vectors of the same length.
 */
export function cosine(query: Float32Array, memory: Float32Array): number {
  let dot = 0;
  for (let dimension = 0; dimension < query.length; dimension++) {
    dot += query[dimension]! * memory[dimension]!;
  }
  return dot > 0 ? Math.min(dot, 1) : 0;
}
