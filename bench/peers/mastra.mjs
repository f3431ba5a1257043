import { join } from 'node:path';
import { LibSQLStore, LibSQLVector } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { K, ownMemory, versionOf } from './shared.mjs';

const thread = { threadId: 'thread', resourceId: 'bench' };

export const peer = {
  name: 'Mastra memory',
  version: `${versionOf('@mastra/memory')} on @mastra/libsql ${versionOf('@mastra/libsql')}`,
  what: 'semantic recall of messages on libSQL; on disk',
  ranksByVector: true,
  async open(directory, vectorOf) {
    const url = `file:${join(directory, 'mastra.db')}`;
    const embedder = {
      specificationVersion: 'v2',
      provider: 'bench',
      modelId: 'given',
      maxEmbeddingsPerCall: 1000,
      supportsParallelCalls: false,
      doEmbed: async ({ values }) => ({ embeddings: values.map((text) => Array.from(vectorOf(text))) }),
    };
    const storage = new LibSQLStore({ id: 'store', url });
    const memory = new Memory({
      storage,
      vector: new LibSQLVector({ id: 'vectors', url }),
      embedder,
      options: { lastMessages: false, semanticRecall: { topK: K, messageRange: 0, scope: 'resource' } },
    });
    await storage.init();
    if (!(await memory.getThreadById({ threadId: thread.threadId })))
      await memory.createThread({ ...thread, title: 'bench' });
    return {
      ingest: (memories) =>
        memory.saveMessages({
          messages: memories.map(({ id, content, createdAt }) => ({
            id,
            ...thread,
            role: 'user',
            type: 'text',
            createdAt: new Date(createdAt),
            content: { format: 2, parts: [{ type: 'text', text: content }], content },
          })),
        }),
      // Messages come back in the order of their time: the ten are a set.
      async recall({ text }) {
        const { messages } = await memory.recall({ ...thread, vectorSearchString: text });
        return messages.map(({ id }) => id);
      },
      memory: ownMemory,
      close() {},
    };
  },
};
