import { readFileSync } from 'node:fs';
import { builtinEmbedder } from '../../build/providers/builtin/embedder.js';
import { openMemory } from '../../dist/index.js';
import { K, ownMemory } from './shared.mjs';

const now = Date.UTC(2026, 0, 1);
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

export const peer = {
  name: 'Salience',
  version,
  what: 'words, vectors, recency and importance in one exact ranking (`hybrid`); on disk',
  async open(directory, vectorOf) {
    const embedder = { ...builtinEmbedder(), embed: async (texts) => texts.map(vectorOf) };
    const memory = await openMemory({ path: directory, space: 'default', clock: () => now, embedder });
    const ask = async (text, strategy) => {
      const { hits } = await memory.recall(text, { strategy, limit: K, track: false, now: new Date(now) });
      return hits.map(({ memory: { id } }) => id);
    };
    return {
      ingest: (memories) => memory.rememberMany(memories.map(({ vector, ...rest }) => rest)),
      recall: ({ text }) => ask(text, 'hybrid'),
      nearest: (_, text) => ask(text, 'vector'),
      memory: ownMemory,
      close: () => memory.close(),
    };
  },
};
