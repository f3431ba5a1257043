import type { Migration } from '../schema.ts';

/**
 * Links, the usage log, cold and joined memories, and the queue of similar pairs. Links between neighbours in a session are not
 * stored: they follow from the index over sessions.
 */
export const living: Migration = {
  version: 2,
  sql: `
    ALTER TABLE memory ADD COLUMN cold_since INTEGER;
    ALTER TABLE memory ADD COLUMN consolidated_at INTEGER;
    -- 1 once it was compared with the others, until its title or content changes.
    ALTER TABLE memory ADD COLUMN compared INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX memory_uncompared ON memory (row) WHERE compared = 0 AND tier = 'hot';
    CREATE INDEX memory_session ON memory (session_id, created_at, id) WHERE session_id IS NOT NULL;

    -- The same both ways: once a pair and kind, the smaller row first.
    CREATE TABLE link (
      a_row  INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      b_row  INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      kind   TEXT NOT NULL,
      weight REAL NOT NULL,
      at     INTEGER NOT NULL,
      PRIMARY KEY (a_row, b_row, kind),
      CHECK (a_row < b_row)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX link_other_end ON link (b_row);

    -- The sequence is that of the queue; settled pairs are kept so that they are not judged again.
    CREATE TABLE similar_pair (
      sequence   INTEGER PRIMARY KEY,
      a_row      INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      b_row      INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      similarity REAL NOT NULL,
      at         INTEGER NOT NULL,
      settled    INTEGER NOT NULL DEFAULT 0,
      UNIQUE (a_row, b_row),
      CHECK (a_row < b_row)
    ) STRICT;
    CREATE INDEX similar_pair_other_end ON similar_pair (b_row);
    CREATE INDEX similar_pair_pending ON similar_pair (sequence) WHERE settled = 0;

    -- used: [{"id", "direct"}] as JSON, without those that were forgotten since.
    CREATE TABLE usage (
      sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
      at         INTEGER NOT NULL,
      strategy   TEXT NOT NULL,
      effect     TEXT NOT NULL,
      query_hash TEXT NOT NULL,
      session_id TEXT,
      used       TEXT NOT NULL
    ) STRICT;

    -- A change of a link, as JSON; before is then NULL.
    ALTER TABLE event ADD COLUMN link TEXT;
  `,
};
