import type { Migration } from '../schema.ts';

/** The log of recalls, which is empty unless a space records them. */
export const recording: Migration = {
  version: 5,
  sql: `
    -- query: absent where it is not kept; hits and details: JSON; redacted: it named a memory that was forgotten.
    CREATE TABLE recall (
      sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
      at         INTEGER NOT NULL,
      strategy   TEXT NOT NULL,
      session_id TEXT,
      query      TEXT,
      hits       TEXT NOT NULL,
      details    TEXT NOT NULL,
      redacted   INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    -- What is too old is found without a look at the rest.
    CREATE INDEX recall_at ON recall (at);
  `,
};
