import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { K, ownMemory, versionOf } from './shared.mjs';

const options = { fields: ['content'], storeFields: ['content'] };

export const peer = {
  name: 'MiniSearch',
  version: versionOf('minisearch'),
  what: 'words, in memory; written as JSON, and read back at the start',
  async open(directory) {
    const file = join(directory, 'minisearch.json');
    const isThere = existsSync(file);
    const index = isThere
      ? MiniSearch.loadJSON(readFileSync(file, 'utf8'), options)
      : new MiniSearch(options);
    return {
      ingest: (memories) => index.addAll(memories.map(({ id, content }) => ({ id, content }))),
      recall: ({ text }) =>
        index
          .search(text)
          .slice(0, K)
          .map(({ id }) => id),
      memory: ownMemory,
      close() {
        if (!isThere) writeFileSync(file, JSON.stringify(index));
      },
    };
  },
};
