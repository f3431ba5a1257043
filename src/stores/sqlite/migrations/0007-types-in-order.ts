import type { Migration } from '../schema.ts';

/** A list of a rare type reads an index instead of all memories. */
export const typesInOrder: Migration = {
  version: 7,
  sql: `
    DROP INDEX memory_updated;
    CREATE INDEX memory_updated ON memory (updated_at DESC, ordinal DESC, type);
  `,
};
