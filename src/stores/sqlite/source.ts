import type { RowSource } from '../../search/conduct.ts';
import { containsText } from '../../store/substring.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection } from './connection.ts';
import { damagedRow, isTextList, storedJson } from './damage.ts';
import { type BytesRow, fromRow, fromVectorRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';

/** The rows of a file as ranking asks for them, by their numbers. To be used inside a read transaction. */
export function rowSource(connection: Connection, dimensions: number): RowSource {
  return {
    vectors: (keys) =>
      keys.map((key) => {
        const found = connection.get('SELECT row, bytes, checksum FROM vector WHERE row = ?', key);
        return found === undefined ? undefined : fromVectorRow(found as BytesRow, dimensions);
      }),
    records: (keys) =>
      keys.map((key) => {
        const found = connection.get(`SELECT ${ROW_COLUMN_LIST} FROM memory WHERE row = ?`, key);
        if (found === undefined) throw damagedRow({ table: 'memory', row: key }, 'it is missing');
        return fromRow(found as MemoryRow);
      }),
    keysOf(ids) {
      const found = connection.all(
        'SELECT id, row FROM memory WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(ids),
      ) as { id: string; row: number }[];
      const rows = new Map(found.map(({ id, row }) => [id, row]));
      return ids.map((id) => rows.get(id));
    },
    termIds: (terms) =>
      terms.map((term) => {
        const found = connection.get('SELECT id FROM term WHERE text = ?', term);
        return (found as { id: number } | undefined)?.id;
      }),
    keysWithMetadata: (conditions) => rowsWithMetadata(connection, conditions) ?? new Set(),
    keysContaining: (text, among) => [...keysContaining(connection, text, among)],
  };
}

/** Rare enough to read every text: a query of which no term is left. */
function* keysContaining(
  connection: Connection,
  text: string,
  rows: readonly number[] | undefined,
): Generator<number> {
  const all = 'SELECT row, title, content, tags FROM memory';
  const found = rows
    ? connection.each(`${all} WHERE row IN (SELECT value FROM json_each(?))`, JSON.stringify(rows))
    : connection.each(all);
  for (const row of found) {
    const {
      row: key,
      title,
      content,
      tags,
    } = row as { row: number; title: string | null; content: string; tags: string };
    const texts = {
      title: title ?? undefined,
      content,
      tags: storedJson<string[]>(tags, isTextList, { table: 'memory', row: key }, 'tags'),
    };
    if (containsText(texts, text)) yield key;
  }
}

/** The vectors of these memories, in order. */
export function readVectors(
  connection: Connection,
  ids: readonly string[],
): readonly (Float32Array | undefined)[] {
  const one = connection.statement(
    'SELECT row, bytes, vector.checksum FROM vector JOIN memory USING (row) WHERE id = ?',
  );
  return ids.map((id) => {
    const found = one.get(id) as unknown as BytesRow | undefined;
    return found && fromVectorRow({ ...found, bytes: found.bytes.slice() });
  });
}
