import { PGlite } from '@electric-sql/pglite';
import { vector as extension } from '@electric-sql/pglite-pgvector';
import { DIMENSIONS, K, ownMemory, versionOf } from './shared.mjs';

const text = (vector) => `[${Array.from(vector).join(',')}]`;

export const peer = {
  name: 'PGlite + pgvector',
  version: `${versionOf('@electric-sql/pglite')} + ${versionOf('@electric-sql/pglite-pgvector')}`,
  what: 'vectors, exact (no index); on disk',
  ranksByVector: true,
  async open(directory) {
    const database = await PGlite.create({ dataDir: directory, extensions: { vector: extension } });
    await database.exec('CREATE EXTENSION IF NOT EXISTS vector');
    await database.exec(
      `CREATE TABLE IF NOT EXISTS memory (id text, content text, vector vector(${DIMENSIONS}))`,
    );
    return {
      ingest: (memories) =>
        database.query(
          'INSERT INTO memory SELECT * FROM unnest($1::text[], $2::text[], $3::text[]::vector[])',
          [
            memories.map(({ id }) => id),
            memories.map(({ content }) => content),
            memories.map(({ vector }) => text(vector)),
          ],
        ),
      async recall({ vector }) {
        const { rows } = await database.query(
          `SELECT id, content FROM memory ORDER BY vector <=> $1::vector LIMIT ${K}`,
          [text(vector)],
        );
        return rows.map(({ id }) => id);
      },
      memory: ownMemory,
      close: () => database.close(),
    };
  },
};
