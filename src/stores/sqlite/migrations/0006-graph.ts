import { writeGraph } from '../relations.ts';
import type { Migration } from '../schema.ts';

/** Entities have names and kinds, and memories state relations. */
export const graph: Migration = {
  version: 6,
  sql: `
    -- aliases and relations: JSON.
    ALTER TABLE memory ADD COLUMN aliases TEXT;
    ALTER TABLE memory ADD COLUMN kind TEXT;
    ALTER TABLE memory ADD COLUMN relations TEXT;

    -- The names of entities, folded.
    CREATE TABLE entity_name (
      name TEXT NOT NULL,
      row  INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      PRIMARY KEY (name, row)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entity_name_row ON entity_name (row);

    -- What memories state, one row a relation; the ends may be gone.
    CREATE TABLE relation (
      number      INTEGER PRIMARY KEY,
      from_id     TEXT NOT NULL,
      name        TEXT NOT NULL,
      to_id       TEXT NOT NULL,
      weight      REAL NOT NULL,
      confidence  REAL NOT NULL,
      valid_from  INTEGER,
      valid_until INTEGER,
      row         INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX relation_from ON relation (from_id, name, to_id);
    CREATE INDEX relation_to ON relation (to_id);
    CREATE INDEX relation_row ON relation (row);
  `,
  run(connection) {
    const rows = connection.all(
      "SELECT row, type, title FROM memory WHERE type = 'entity' AND title IS NOT NULL",
    ) as { row: number; type: string; title: string }[];
    for (const { row, ...entity } of rows) writeGraph(connection, row, entity, undefined);
  },
};
