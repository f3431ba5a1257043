import type { EmbedderInput } from '../index.ts';

/** Wraps an embedder so that each text is embedded once per purpose, because all strategies ask the same questions. */
export function embedOnce(embedder: EmbedderInput): EmbedderInput {
  const known = new Map<string, Float32Array | undefined>();
  const { model, dimensions, calibration, thresholds } = embedder;
  return {
    ...{ model, dimensions, calibration, thresholds },
    async embed(texts, options = {}) {
      const keyOf = (text: string) => `${options.purpose ?? 'memory'}\n${text}`;
      const missing = [...new Set(texts)].filter((text) => !known.has(keyOf(text)));
      if (missing.length > 0) {
        const vectors = await embedder.embed(missing, options);
        for (const [at, text] of missing.entries()) known.set(keyOf(text), vectors[at]);
      }
      return texts.map((text) => known.get(keyOf(text)));
    },
  };
}
