import type { Migration } from '../schema.ts';

/** Columns without planner statistics, because statistics would keep their texts after the rows are deleted. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  memory: [
    'content',
    'title',
    'tags',
    'metadata',
    'aliases',
    'relations',
    'author',
    'source_ref',
    'invalid_reason',
  ],
  derived: ['terms', 'vector'],
  event: ['before', 'link', 'settings'],
  usage: ['used', 'before'],
  recall: ['query', 'hits', 'details'],
  attribute: ['name', 'value'],
  entity_name: ['name'],
  relation: ['name'],
  tombstone: ['reason'],
};

/** Marks a space into which a copy is unfinished, so that nobody can open it. */
export const copying: Migration = {
  version: 2,
  sql: [
    'ALTER TABLE space ADD COLUMN copying boolean NOT NULL DEFAULT false',
    ...Object.entries(TEXTS).map(
      ([table, columns]) =>
        `ALTER TABLE ${table} ${columns.map((column) => `ALTER COLUMN ${column} SET STATISTICS 0`).join(', ')}`,
    ),
  ].join(';\n'),
};
