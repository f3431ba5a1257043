import type { Embedder } from '../providers/embedder.ts';
import { angleEmbedder } from './angle-embedder.ts';

/** Creates an embedder that has one vector for all texts, and counts how many it was asked for. */
export function countingEmbedder(): Embedder & { asked: number } {
  return {
    ...angleEmbedder({}),
    model: 'counting-2',
    asked: 0,
    async embed(texts) {
      this.asked += texts.length;
      return texts.map(() => Float32Array.of(1, 0));
    },
  };
}
