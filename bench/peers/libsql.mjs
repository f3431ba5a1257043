import { join } from 'node:path';
import Database from 'libsql';
import { bytesOf, DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

export const peer = {
  name: 'libSQL',
  version: versionOf('libsql'),
  what: 'vectors, exact (no index); on disk',
  ranksByVector: true,
  async open(directory) {
    const database = new Database(join(directory, 'libsql.db'));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec(
      `CREATE TABLE IF NOT EXISTS memory (id TEXT, content TEXT, vector F32_BLOB(${DIMENSIONS}) NOT NULL)`,
    );
    const insert = database.prepare('INSERT INTO memory VALUES (?, ?, ?)');
    const find = database.prepare(
      `SELECT id, content FROM memory ORDER BY vector_distance_cos(vector, ?) LIMIT ${K}`,
    );
    return {
      ingest(memories) {
        database.exec('BEGIN');
        for (const { id, content, vector } of memories) insert.run([id, content, bytesOf(vector)]);
        database.exec('COMMIT');
      },
      recall: ({ vector }) => find.all([bytesOf(vector)]).map(({ id }) => id),
      memory: ownMemory,
      close: () => database.close(),
    };
  },
};
