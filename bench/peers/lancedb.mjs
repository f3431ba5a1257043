import { connect, Index, rerankers } from '@lancedb/lancedb';
import { K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'LanceDB',
  version: versionOf('@lancedb/lancedb'),
  what: 'words and vectors, joined by reciprocal ranks; vectors without an index, so exact; on disk',
  async open(directory) {
    const database = await connect(directory);
    let table = (await database.tableNames()).includes('memory')
      ? await database.openTable('memory')
      : undefined;
    let isIndexed = table !== undefined;
    const fuser = await rerankers.RRFReranker.create();
    const ids = async (query) =>
      (await query.select(['id', 'content']).limit(K).toArray()).map(({ id }) => id);
    return {
      async ingest(memories) {
        const rows = memories.map(({ id, content, vector }) => ({ id, content, vector: Array.from(vector) }));
        if (table) await table.add(rows);
        else table = await database.createTable('memory', rows);
      },
      recall: async ({ text, vector }) => {
        const query = table
          .query()
          .nearestTo(vector)
          .distanceType('cosine')
          .fullTextSearch(text)
          .rerank(fuser);
        return (await query.limit(K).toArray()).map(({ id }) => id);
      },
      nearest: (vector) => ids(table.query().nearestTo(vector).distanceType('cosine')),
      memory: ownMemory,
      async close() {
        if (!isIndexed) await table.createIndex('content', { config: Index.fts() });
        isIndexed = true;
        database.close();
      },
    };
  },
};
