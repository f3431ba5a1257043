import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { load } from 'sqlite-vec';
import { bytesOf, DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'sqlite-vec',
  version: versionOf('sqlite-vec'),
  what: 'vectors, exact; on disk',
  ranksByVector: true,
  async open(directory) {
    const database = new DatabaseSync(join(directory, 'vec.db'), { allowExtension: true });
    database.enableLoadExtension(true);
    load(database);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS memory USING vec0(vector float[${DIMENSIONS}] distance_metric=cosine, +id TEXT, +content TEXT)`,
    );
    const insert = database.prepare('INSERT INTO memory (vector, id, content) VALUES (?, ?, ?)');
    const find = database.prepare(`SELECT id, content FROM memory WHERE vector MATCH ? AND k = ${K}`);
    return {
      ingest(memories) {
        database.exec('BEGIN');
        for (const { id, content, vector } of memories) insert.run(bytesOf(vector), id, content);
        database.exec('COMMIT');
      },
      recall: ({ vector }) => find.all(bytesOf(vector)).map(({ id }) => id),
      memory: ownMemory,
      close: () => database.close(),
    };
  },
};
