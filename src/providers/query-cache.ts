import type { Embedder } from './embedder.ts';

/** Most vectors that are kept: some 400 KB at 384 dimensions. */
const MOST = 256;

/**
 * An embedder that keeps the vectors of the latest queries: agents ask the same thing again and again, and a server's
 * model takes longer than all the rest of a recall. Failures are not kept, nor are the vectors of memories.
 */
export function withQueryCache(embedder: Embedder): Embedder {
  // In the order of use: the first is the one that nobody has asked for longest.
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
