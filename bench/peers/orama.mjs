import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, insertMultiple, load, save, search } from '@orama/orama';
import { DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'Orama',
  version: versionOf('@orama/orama'),
  what: 'words and vectors (`hybrid`), in memory; written as JSON, and read back at the start',
  async open(directory) {
    const file = join(directory, 'orama.json');
    const database = create({ schema: { content: 'string', vector: `vector[${DIMENSIONS}]` } });
    const isThere = existsSync(file);
    if (isThere) load(database, JSON.parse(readFileSync(file, 'utf8')));
    const find = async (vector, rest) => {
      const { hits } = await search(database, {
        ...rest,
        vector: { value: Array.from(vector), property: 'vector' },
        similarity: 0,
        limit: K,
      });
      return hits.map(({ id }) => id);
    };
    return {
      ingest: (memories) =>
        insertMultiple(
          database,
          memories.map(({ id, content, vector }) => ({ id, content, vector: Array.from(vector) })),
        ),
      recall: ({ text, vector }) => find(vector, { mode: 'hybrid', term: text }),
      nearest: (vector) => find(vector, { mode: 'vector' }),
      memory: ownMemory,
      close() {
        if (!isThere) writeFileSync(file, JSON.stringify(save(database)));
      },
    };
  },
};
