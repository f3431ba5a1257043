import type { Embedder } from '../providers/embedder.ts';
import { angleEmbedder } from './angle-embedder.ts';

/** Creates an embedder whose next call first runs `meanwhile` once, to simulate what others do while a text is embedded. */
export function interruptedEmbedder(
  angles: Parameters<typeof angleEmbedder>[0],
): Embedder & { meanwhile: (() => Promise<unknown>) | undefined } {
  const embedder = angleEmbedder(angles);
  return {
    ...embedder,
    meanwhile: undefined,
    async embed(texts, options) {
      const { meanwhile } = this;
      this.meanwhile = undefined;
      await meanwhile?.();
      return embedder.embed(texts, options);
    },
  };
}
