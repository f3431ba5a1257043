import type { Migration } from '../schema.ts';

/** The writer whose turn it is, and the end of the turn, for writers that overtook each other. A turn is not a lock: see `takeTurn`. */
export const turns: Migration = {
  version: 4,
  sql: 'ALTER TABLE space ADD COLUMN turn text COLLATE "C", ADD COLUMN turn_until timestamptz',
};
