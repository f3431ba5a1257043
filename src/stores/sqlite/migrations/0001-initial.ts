import type { Migration } from '../schema.ts';

/**
 * Instants are milliseconds. A `row` number is never used twice, so that derived data cannot confuse a memory with
 * one that came back under the same id.
 */
export const initial: Migration = {
  version: 1,
  sql: `
    CREATE TABLE meta (
      key   TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE memory (
      row              INTEGER PRIMARY KEY AUTOINCREMENT,
      id               TEXT NOT NULL UNIQUE,
      scope            TEXT NOT NULL,
      type             TEXT NOT NULL,
      title            TEXT,
      content          TEXT NOT NULL,
      tags             TEXT NOT NULL,
      metadata         TEXT NOT NULL,
      topic_key        TEXT,
      session_id       TEXT,
      created_at       INTEGER NOT NULL,
      updated_at       INTEGER NOT NULL,
      last_accessed_at INTEGER,
      valid_from       INTEGER,
      valid_until      INTEGER,
      expires_at       INTEGER,
      invalidated_at   INTEGER,
      importance       REAL NOT NULL,
      importance_judge TEXT NOT NULL,
      confidence       REAL NOT NULL,
      usefulness       REAL NOT NULL,
      weight           REAL NOT NULL,
      stability        REAL NOT NULL,
      access_count     INTEGER NOT NULL,
      sessions         TEXT NOT NULL,
      revision_count   INTEGER NOT NULL,
      tier             TEXT NOT NULL,
      core             INTEGER NOT NULL,
      supersedes       TEXT,
      source           TEXT NOT NULL,
      source_ref       TEXT
    ) STRICT;
    CREATE INDEX memory_updated ON memory (updated_at DESC, id);

    -- float32, little endian; all of the one model named in meta.
    CREATE TABLE vector (
      row   INTEGER PRIMARY KEY REFERENCES memory (row) ON DELETE CASCADE,
      bytes BLOB NOT NULL
    ) STRICT;

    CREATE TABLE term (
      id   INTEGER PRIMARY KEY,
      text TEXT NOT NULL UNIQUE
    ) STRICT;

    -- Pairs of term id and count as varints, by ascending id: postings are rebuilt without analysing texts again.
    CREATE TABLE term_vector (
      row   INTEGER PRIMARY KEY REFERENCES memory (row) ON DELETE CASCADE,
      bytes BLOB NOT NULL
    ) STRICT;

    -- before: the memory before the write, as JSON; NULL where the write made it, or where it was forgotten.
    CREATE TABLE event (
      sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
      operation  INTEGER NOT NULL,
      at         INTEGER NOT NULL,
      verb       TEXT NOT NULL,
      memory_row INTEGER NOT NULL,
      memory_id  TEXT NOT NULL,
      before     TEXT,
      redacted   INTEGER NOT NULL,
      undoes     INTEGER
    ) STRICT;
    CREATE INDEX event_memory ON event (memory_id);
    CREATE INDEX event_operation ON event (operation, verb, redacted);
    CREATE INDEX event_undoes ON event (undoes) WHERE undoes IS NOT NULL;

    -- A snapshot of the resident index, in parts of several pages: a cache, which may be dropped at any time.
    CREATE TABLE page (
      part   TEXT NOT NULL,
      number INTEGER NOT NULL,
      bytes  BLOB NOT NULL,
      PRIMARY KEY (part, number)
    ) STRICT;
  `,
};
