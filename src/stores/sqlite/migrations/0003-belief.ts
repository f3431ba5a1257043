import { writeAttributes } from '../attributes.ts';
import type { Migration } from '../schema.ts';

/** Beliefs: supersessions, judged pairs (kept for `asOf`), sessions, tombstones and indexed metadata. */
export const belief: Migration = {
  version: 3,
  sql: `
    ALTER TABLE memory ADD COLUMN invalid_reason TEXT;
    UPDATE memory SET supersedes = CASE WHEN supersedes IS NULL THEN '[]' ELSE json_array(supersedes) END;
    -- Equal texts are found by their length and beginning.
    CREATE INDEX memory_content ON memory (length(content), substr(content, 1, 64));
    CREATE INDEX memory_created ON memory (created_at, id);
    CREATE INDEX memory_topic ON memory (topic_key) WHERE topic_key IS NOT NULL;

    -- Which memory takes the place of which; the older one may be gone.
    CREATE TABLE supersession (
      older_id  TEXT NOT NULL,
      newer_row INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      PRIMARY KEY (older_id, newer_row)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX supersession_newer ON supersession (newer_row);
    INSERT INTO supersession SELECT value, row FROM memory, json_each(memory.supersedes);

    -- Top-level properties of metadata; key and value as JSON, '[]' for every value that is no scalar.
    CREATE TABLE attribute (
      key   TEXT NOT NULL,
      value TEXT NOT NULL,
      row   INTEGER NOT NULL REFERENCES memory (row) ON DELETE CASCADE,
      PRIMARY KEY (key, value, row)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX attribute_row ON attribute (row);

    -- What was judged, or dropped because a text changed, is kept with its end, so that one can look back.
    ALTER TABLE similar_pair RENAME TO old_pair;
    DROP INDEX similar_pair_other_end;
    DROP INDEX similar_pair_pending;
    CREATE TABLE similar_pair (
      sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
      older_id   TEXT NOT NULL,
      newer_id   TEXT NOT NULL,
      kind       TEXT NOT NULL DEFAULT 'similar',
      similarity REAL NOT NULL,
      at         INTEGER NOT NULL,
      ended_at   INTEGER,
      -- The operation that judged or dropped it, where that one can be undone.
      ended_by   INTEGER,
      resolution TEXT,
      dropped    INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO similar_pair (older_id, newer_id, similarity, at, ended_at, resolution)
      SELECT iif((a.updated_at, a.created_at, a.id) <= (b.updated_at, b.created_at, b.id), a.id, b.id),
             iif((a.updated_at, a.created_at, a.id) <= (b.updated_at, b.created_at, b.id), b.id, a.id),
             similarity, at, iif(settled, at, NULL), iif(settled, 'settled', NULL)
      FROM old_pair JOIN memory AS a ON a.row = a_row JOIN memory AS b ON b.row = b_row ORDER BY sequence;
    DROP TABLE old_pair;
    CREATE INDEX similar_pair_older ON similar_pair (older_id);
    CREATE INDEX similar_pair_newer ON similar_pair (newer_id);
    CREATE INDEX similar_pair_pending ON similar_pair (sequence) WHERE ended_at IS NULL;
    CREATE INDEX similar_pair_ended ON similar_pair (ended_by) WHERE ended_by IS NOT NULL;

    CREATE TABLE session (
      id         TEXT PRIMARY KEY,
      scope      TEXT NOT NULL,
      started_at INTEGER NOT NULL,
      active_at  INTEGER NOT NULL,
      ended_at   INTEGER
    ) STRICT, WITHOUT ROWID;

    -- hash: HMAC-SHA256 of scope and content with the space's own key.
    CREATE TABLE tombstone (
      hash   BLOB PRIMARY KEY,
      at     INTEGER NOT NULL,
      reason TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The last event before the use, and what the use changed, as it was, as JSON.
    ALTER TABLE usage ADD COLUMN after_event INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE usage ADD COLUMN before TEXT;

    -- The latest vote of a voter on a memory counts; undoing an operation deletes the votes that it cast.
    CREATE TABLE vote (
      memory_id TEXT NOT NULL,
      voter     TEXT NOT NULL,
      operation INTEGER NOT NULL,
      vote      INTEGER NOT NULL,
      PRIMARY KEY (memory_id, voter, operation)
    ) STRICT, WITHOUT ROWID;
  `,
  run(connection) {
    const rows = connection.all("SELECT row, metadata FROM memory WHERE metadata <> '{}'");
    for (const { row, metadata } of rows as { row: number; metadata: string }[]) {
      writeAttributes(connection, row, JSON.parse(metadata));
    }
  },
};
