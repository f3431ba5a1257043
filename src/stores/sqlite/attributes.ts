import type { JsonValue, Metadata } from '../../domain/memory.ts';
import { type MetadataCondition, meetsMetadata } from '../../domain/metadata-condition.ts';
import { storedJson } from '../../store/damage.ts';
import type { Connection } from './connection.ts';

/** Indexes the top-level properties of a memory's metadata. Replaces those indexed before. */
export function writeAttributes(connection: Connection, row: number, metadata: Metadata): void {
  connection.run('DELETE FROM attribute WHERE row = ?', row);
  for (const [key, value] of attributesOf(metadata)) {
    connection.run('INSERT INTO attribute (key, value, row) VALUES (?, ?, ?)', key, value, row);
  }
}

/** Returns the keys and values to index for `metadata`, in their stored form. */
export function attributesOf(metadata: Metadata): readonly (readonly [key: string, value: string])[] {
  return Object.entries(metadata).map(([key, value]) => [JSON.stringify(key), storedValue(value)]);
}

/** Finds the rows of the memories whose metadata meets all conditions. Returns `undefined` if there are no conditions. */
export function rowsWithMetadata(
  connection: Connection,
  conditions: readonly MetadataCondition[] | undefined,
): ReadonlySet<number> | undefined {
  if (!conditions || conditions.length === 0) return undefined;
  let rows: ReadonlySet<number> | undefined;
  for (const condition of conditions) {
    const found = rowsMeeting(connection, condition);
    rows = rows ? new Set([...rows].filter((row) => found.has(row))) : found;
  }
  return rows;
}

function rowsMeeting(connection: Connection, condition: MetadataCondition): ReadonlySet<number> {
  const { key, test } = condition;
  if ('exists' in test && !test.exists) {
    return rowsOf(
      connection,
      'SELECT row FROM memory WHERE row NOT IN (SELECT row FROM attribute WHERE key = ?)',
      JSON.stringify(key),
    );
  }
  const values =
    'in' in test ? test.in.map(storedValue) : valuesMeeting(connection, condition, JSON.stringify(key));
  return rowsOf(
    connection,
    'SELECT row FROM attribute WHERE key = ? AND value IN (SELECT value FROM json_each(?))',
    JSON.stringify(key),
    JSON.stringify(values),
  );
}

/**
 * Finds the stored values that meet a condition. SQLite orders and converts values by its own rules, so `meetsMetadata` decides, once
 * for each distinct value.
 */
function valuesMeeting(
  connection: Connection,
  condition: MetadataCondition,
  storedKey: string,
): readonly string[] {
  const found = connection.all('SELECT DISTINCT value FROM attribute WHERE key = ?', storedKey);
  return (found as { value: string }[])
    .map(({ value }) => value)
    .filter((value) => meetsMetadata({ [condition.key]: storedValueOf(value, storedKey) }, [condition]));
}

function rowsOf(connection: Connection, sql: string, ...values: readonly string[]): ReadonlySet<number> {
  return new Set((connection.all(sql, ...values) as { row: number }[]).map(({ row }) => row));
}

function storedValueOf(value: string, storedKey: string): JsonValue {
  return storedJson(value, () => true, { table: 'attribute', row: storedKey }, 'value');
}

function storedValue(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? '[]' : JSON.stringify(value);
}
