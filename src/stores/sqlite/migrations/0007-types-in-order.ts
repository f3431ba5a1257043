import type { Migration } from '../schema.ts';

/** An index, so that a list of a rare type does not read all memories. */
export const typesInOrder: Migration = {
  version: 7,
  sql: `
    DROP INDEX memory_updated;
    CREATE INDEX memory_updated ON memory (updated_at DESC, ordinal DESC, type);
  `,
};
