import type { Embedder } from './embedder.ts';

/** Most cached vectors: some 400 KB at 384 dimensions. */
const MOST = 256;

/**
 * Wraps an embedder with a cache for the latest queries. Agents repeat their questions, and a model on a server takes
 * longer than the rest of a recall. Failures and vectors of memories are not cached.
 */
export function withQueryCache(embedder: Embedder): Embedder {
  // In order of use: the first entry is the least recently used one.
  const kept = new Map<string, Float32Array | undefined>();
  const { model, dimensions, calibration, thresholds } = embedder;
  return {
    model,
    dimensions,
    calibration,
    thresholds,
    async embed(texts, options) {
      const [text] = texts;
      if (options?.purpose !== 'query' || texts.length !== 1 || text === undefined) {
        return embedder.embed(texts, options);
      }
      const known = kept.has(text);
      const vector = known ? kept.get(text) : (await embedder.embed(texts, options))[0];
      kept.delete(text);
      kept.set(text, vector);
      if (kept.size > MOST) kept.delete(kept.keys().next().value as string);
      return [vector];
    },
  };
}
