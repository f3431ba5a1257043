import type { Migration } from '../schema.ts';

/** The time when the text of a memory last changed. Existing rows have no value: see `textChangeOf`. */
export const textChanged: Migration = {
  version: 5,
  sql: 'ALTER TABLE memory ADD COLUMN text_changed_at bigint',
};
