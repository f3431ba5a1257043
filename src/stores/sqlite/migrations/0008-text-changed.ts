import type { Migration } from '../schema.ts';

/** When the text of a memory changed last; rows that there are do not say it: see `textChangeOf`. */
export const textChanged: Migration = {
  version: 8,
  sql: 'ALTER TABLE memory ADD COLUMN text_changed_at INTEGER',
};
