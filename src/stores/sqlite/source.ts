import { inSlices, startLongSlices } from '../../domain/slices.ts';
import { damagedRow, isTextList, storedJson } from '../../store/damage.ts';
import type { KeyedRows } from '../../store/rows.ts';
import { containsText, isPlainText } from '../../store/substring.ts';
import { rowsWithMetadata } from './attributes.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { rangesOf } from './ranges.ts';
import { type BytesRow, fromValues, fromVectorRow, ROW_AT, VALUE_COLUMN_LIST } from './rows.ts';

/** Reads rows of a file by row number, inside the open transaction of a connection. */
export function rowSource(
  connection: () => Connection,
  dimensionsOf: (open: Connection) => number | undefined,
): KeyedRows {
  return {
    vectors(keys) {
      const open = connection();
      const dimensions = dimensionsOf(open);
      const found = open.lists(
        'SELECT row, bytes, checksum FROM vector WHERE row IN (SELECT value FROM json_each(?))',
        JSON.stringify(keys),
      );
      const vectors = new Map(
        found.map(([row, bytes, checksum]) => {
          const stored = { row, bytes, checksum } as BytesRow;
          return [row, fromVectorRow(stored, dimensions)];
        }),
      );
      return keys.map((key) => vectors.get(key));
    },
    records(keys) {
      const found = connection().lists(
        `SELECT ${VALUE_COLUMN_LIST} FROM memory WHERE row IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys),
      );
      const records = new Map(found.map((values) => [values[ROW_AT], fromValues(values)]));
      return keys.map((key) => {
        const record = records.get(key);
        if (!record) throw damagedRow({ table: 'memory', row: key }, 'it is missing');
        return record;
      });
    },
    keysOf(ids) {
      const found = connection().all(
        'SELECT id, row FROM memory WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(ids),
      ) as { id: string; row: number }[];
      const rows = new Map(found.map(({ id, row }) => [id, row]));
      return ids.map((id) => rows.get(id));
    },
    idsOf(keys) {
      const found = connection().all(
        'SELECT id, row FROM memory WHERE row IN (SELECT value FROM json_each(?))',
        JSON.stringify(keys),
      ) as { id: string; row: number }[];
      const ids = new Map(found.map(({ id, row }) => [row, id]));
      return keys.map((key) => ids.get(key));
    },
    termIds: (terms) =>
      terms.map((term) => {
        const found = connection().get('SELECT id FROM term WHERE text = ?', term);
        return (found as { id: number } | undefined)?.id;
      }),
    termsOf(ids) {
      // A call may ask for all terms of a space: one JSON text is read five times as fast as a row for each term.
      const { texts } = connection().get(
        `SELECT json_group_array(term.text ORDER BY asked.key) AS texts
         FROM json_each(?) AS asked LEFT JOIN term ON term.id = asked.value`,
        JSON.stringify(ids),
      ) as { texts: string };
      return (JSON.parse(texts) as (string | null)[]).map((text) => text ?? undefined);
    },
    keysWithMetadata: (conditions) => rowsWithMetadata(connection(), conditions) ?? new Set(),
    keysContaining: (text, among) => inSlices(keysContaining(connection, text, among), startLongSlices()),
  };
}

/**
 * Selects rows that match LIKE, and all rows with non-ASCII text, whose lower case SQLite cannot compute. Six times as fast
 * as reading all texts.
 */
const MAY_CONTAIN = ['title', 'content', 'tags']
  .map((column) => `${column} LIKE ?3 ESCAPE '~' OR length(${column}) <> length(CAST(${column} AS BLOB))`)
  .join(' OR ');

/** Rows of one step of a text search, which takes a millisecond. */
const RANGE = 1024;

/** Searches all texts, in steps. Only queries without terms need it, and these are rare. */
function* keysContaining(
  connection: () => Connection,
  text: string,
  rows: readonly number[] | undefined,
): Generator<undefined, readonly number[]> {
  const all = 'SELECT row, title, content, tags FROM memory';
  if (rows) {
    const among = `${all} WHERE row IN (SELECT value FROM json_each(?))`;
    return containing(connection().lists(among, JSON.stringify(rows)), text);
  }
  const inRange = `${all} WHERE row >= ?1 AND row < ?2`;
  const keys: number[] = [];
  for (const range of rangesOf(connection(), 'memory', RANGE)) {
    const found = isPlainText(text)
      ? connection().lists(`${inRange} AND (${MAY_CONTAIN})`, ...range, `%${text.replace(/[%_~]/g, '~$&')}%`)
      : connection().lists(inRange, ...range);
    keys.push(...containing(found, text));
    yield;
  }
  return keys;
}

function containing(found: readonly (readonly SqlValue[])[], text: string): readonly number[] {
  return (found as [number, string | null, string, string][]).flatMap(([row, title, content, tags]) => {
    const texts = {
      title: title ?? undefined,
      content,
      tags: storedJson<string[]>(tags, isTextList, { table: 'memory', row }, 'tags'),
    };
    return containsText(texts, text) ? [row] : [];
  });
}
