import { writeGraphKeys } from '../graph-keys.ts';
import type { Migration } from '../schema.ts';

/** Entities have names and kinds, and memories state relations. */
export const graph: Migration = {
  version: 6,
  sql: `
    -- aliases and relations: JSON.
    ALTER TABLE memory ADD COLUMN aliases TEXT;
    ALTER TABLE memory ADD COLUMN kind TEXT;
    ALTER TABLE memory ADD COLUMN relations TEXT;

    -- By what else a memory is found: 'name' of an entity, folded; of the relations that it states, the ids of their
    -- ends ('end') and their own ('relation').
    CREATE TABLE graph_key (
      part  TEXT NOT NULL,
      value TEXT NOT NULL,
      row   INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      PRIMARY KEY (part, value, row)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX graph_key_row ON graph_key (row);
  `,
  run(connection) {
    const rows = connection.all(
      "SELECT row, type, title FROM memory WHERE type = 'entity' AND title IS NOT NULL",
    ) as { row: number; type: string; title: string }[];
    for (const { row, ...entity } of rows) writeGraphKeys(connection, row, entity, undefined);
  },
};
