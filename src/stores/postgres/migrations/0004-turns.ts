import type { Migration } from '../schema.ts';

/** Whose turn it is to write to a space, and until when: of writers that overtook each other. No lock: only the others wait. */
export const turns: Migration = {
  version: 4,
  sql: 'ALTER TABLE space ADD COLUMN turn text COLLATE "C", ADD COLUMN turn_until timestamptz',
};
