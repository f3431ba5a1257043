import { columnOf, FIELD_NAMES, FIELDS, type FieldKind } from '../../domain/fields.ts';
import { quoted, raw, type Sql } from './sql.ts';

export type ColumnType = 'text' | 'bigint' | 'double precision' | 'boolean' | 'bytea';

/** A table that writes fill. Each also has `space_id` as its first column. */
export interface Table {
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The columns that identify a row within a space. In a table without a key, all rows of a memory are replaced together. */
  readonly key?: readonly string[];
}

const TYPES: Readonly<Record<FieldKind, ColumnType>> = {
  name: 'text',
  names: 'text',
  text: 'text',
  texts: 'text',
  content: 'text',
  scope: 'text',
  metadata: 'text',
  relations: 'text',
  choice: 'text',
  number: 'double precision',
  count: 'bigint',
  instant: 'bigint',
  flag: 'boolean',
};

const record: Readonly<Record<string, ColumnType>> = Object.fromEntries(
  FIELD_NAMES.map((name) => [columnOf(name), TYPES[FIELDS[name].kind]]),
);

/** All tables that writes fill row by row. */
export const TABLES = {
  memory: {
    columns: { key: 'bigint', ...record, content_key: 'bigint', compared: 'boolean' },
    key: ['key'],
  },
  derived: {
    columns: { generation: 'bigint', key: 'bigint', terms: 'text', vector: 'bytea' },
    key: ['generation', 'key'],
  },
  event: {
    columns: {
      sequence: 'bigint',
      operation: 'bigint',
      stamp: 'text',
      at: 'bigint',
      verb: 'text',
      memory_key: 'bigint',
      memory_id: 'text',
      before: 'text',
      redacted: 'boolean',
      undoes: 'bigint',
      link: 'text',
      other_id: 'text',
      run: 'text',
      settings: 'text',
    },
    key: ['sequence'],
  },
  usage: {
    columns: {
      sequence: 'bigint',
      stamp: 'text',
      at: 'bigint',
      strategy: 'text',
      effect: 'text',
      query_hash: 'text',
      session_id: 'text',
      used: 'text',
      after_event: 'bigint',
      before: 'text',
    },
    key: ['sequence'],
  },
  recall: {
    columns: {
      sequence: 'bigint',
      at: 'bigint',
      strategy: 'text',
      session_id: 'text',
      query: 'text',
      hits: 'text',
      details: 'text',
      redacted: 'boolean',
    },
    key: ['sequence'],
  },
  link: {
    columns: { a_id: 'text', b_id: 'text', kind: 'text', weight: 'double precision', at: 'bigint' },
    key: ['a_id', 'b_id', 'kind'],
  },
  similar_pair: {
    columns: {
      sequence: 'bigint',
      older_id: 'text',
      newer_id: 'text',
      kind: 'text',
      similarity: 'double precision',
      at: 'bigint',
      attempts: 'bigint',
      resolution: 'text',
      ended_at: 'bigint',
      ended_by: 'bigint',
      dropped: 'boolean',
    },
    key: ['sequence'],
  },
  session: {
    columns: { id: 'text', scope: 'text', started_at: 'bigint', active_at: 'bigint', ended_at: 'bigint' },
    key: ['id'],
  },
  tombstone: { columns: { hash: 'text', at: 'bigint', reason: 'text' }, key: ['hash'] },
  vote: {
    columns: { memory_id: 'text', voter: 'text', operation: 'bigint', vote: 'bigint' },
    key: ['memory_id', 'voter', 'operation'],
  },
  supersession: { columns: { key: 'bigint', older_id: 'text' } },
  attribute: { columns: { key: 'bigint', name: 'text', value: 'text' } },
  entity_name: { columns: { key: 'bigint', name: 'text' } },
  relation: {
    columns: {
      key: 'bigint',
      from_id: 'text',
      name: 'text',
      to_id: 'text',
      weight: 'double precision',
      confidence: 'double precision',
      valid_from: 'bigint',
      valid_until: 'bigint',
    },
  },
  saved_index: {
    columns: { saved: 'text', sequence: 'bigint', usage: 'bigint', stamp: 'text', parts: 'text' },
    key: [],
  },
  page: { columns: { saved: 'text', number: 'bigint', bytes: 'bytea' }, key: ['saved', 'number'] },
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof TABLES;

/** Every table of a store, by its name as statements write it. */
export type TableNames = Readonly<Record<TableName | 'space' | 'meta' | 'shared', Sql>>;

export function tablesIn(schema: string): TableNames {
  const names = ['meta', 'space', 'shared', ...Object.keys(TABLES)];
  return Object.fromEntries(names.map((name) => [name, raw(`${quoted(schema)}.${name}`)])) as TableNames;
}
