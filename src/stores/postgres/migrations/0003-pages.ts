import type { Migration } from '../schema.ts';

/**
 * Saved indexes, so that the next process opens a space quickly. Each has its own id, and is valid once `saved_index` names it.
 * `parts` holds the names and lengths of the parts that its pages hold, one after the other.
 */
export const pages: Migration = {
  version: 3,
  sql: `
    CREATE TABLE saved_index (
      space_id uuid PRIMARY KEY,
      saved    text COLLATE "C" NOT NULL,
      replaced text COLLATE "C",
      sequence bigint NOT NULL,
      usage    bigint NOT NULL,
      stamp    text COLLATE "C" NOT NULL,
      parts    text COLLATE "C" NOT NULL
    );
    CREATE TABLE page (
      space_id uuid NOT NULL,
      saved    text COLLATE "C" NOT NULL,
      number   bigint NOT NULL,
      at       timestamptz NOT NULL DEFAULT now(),
      bytes    bytea NOT NULL,
      PRIMARY KEY (space_id, saved, number)
    );
    ALTER TABLE page ALTER COLUMN bytes SET STORAGE EXTERNAL, ALTER COLUMN bytes SET STATISTICS 0`,
  likeMemory: ['saved_index', 'page'],
};
