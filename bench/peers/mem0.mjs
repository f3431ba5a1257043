import { join } from 'node:path';
import { DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'mem0',
  version: versionOf('mem0ai'),
  what: 'words, vectors and entities on its own SQLite store; `infer: false`, so without a language model; on disk',
  async open(directory, vectorOf) {
    process.env.MEM0_TELEMETRY = 'false';
    process.env.MEM0_DIR = directory;
    const { Memory } = await import('mem0ai/oss');
    const numbers = (text) => Array.from(vectorOf(text));
    const model = {
      embedQuery: async (text) => numbers(text),
      embedDocuments: async (texts) => texts.map(numbers),
    };
    const memory = new Memory({
      embedder: { provider: 'langchain', config: { model, embeddingDims: DIMENSIONS } },
      vectorStore: {
        provider: 'memory',
        config: {
          collectionName: 'memories',
          dimension: DIMENSIONS,
          dbPath: join(directory, 'vectors.db'),
        },
      },
      // Never called: nothing is inferred.
      llm: { provider: 'openai', config: { apiKey: 'none', baseURL: 'http://127.0.0.1:9' } },
      historyDbPath: join(directory, 'history.db'),
    });
    return {
      async ingest(memories) {
        for (const { id, content } of memories)
          await memory.add(content, { userId: 'bench', infer: false, metadata: { given: id } });
      },
      async recall({ text }) {
        const { results } = await memory.search(text, {
          filters: { user_id: 'bench' },
          topK: K,
          threshold: 0,
        });
        return results.map(({ metadata }) => metadata.given);
      },
      memory: ownMemory,
      close() {},
    };
  },
};
