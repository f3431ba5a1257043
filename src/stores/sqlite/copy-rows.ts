import { columnOf, FIELD_NAMES, FIELDS } from '../../domain/fields.ts';
import {
  COPY_PARTS,
  type CopyPart,
  type CopyRange,
  type CopyRow,
  copyKeyOf,
  termsToCopy,
} from '../../store/copying.ts';
import { writeAttributes } from './attributes.ts';
import { checksumOf, verify } from './checksum.ts';
import type { Connection } from './connection.ts';
import { real, type SqlValue } from './driver.ts';
import { writeGraph } from './relations.ts';
import {
  type DerivedColumns,
  fromRow,
  fromVectorRow,
  type MemoryRow,
  RECORD_COLUMNS,
  ROW_COLUMN_LIST,
  toVectorBytes,
} from './rows.ts';
import { noticeSuperseded, writeSupersession } from './supersession.ts';
import { decodeTermVector } from './term-vector.ts';
import type { TermIds } from './terms.ts';
import { writeIndexed } from './write.ts';

/** Columns of a copy that have another name in SQLite. */
const RENAMED: Readonly<Record<string, string>> = { key: 'row', memory_key: 'memory_row' };

/** Columns that SQLite stores as 0 or 1, and columns of real numbers. */
const FLAGS: ReadonlySet<string> = new Set([
  ...FIELD_NAMES.filter((name) => FIELDS[name].kind === 'flag').map(columnOf),
  'compared',
  'redacted',
  'dropped',
]);
const REALS: ReadonlySet<string> = new Set([
  ...FIELD_NAMES.filter((name) => FIELDS[name].kind === 'number').map(columnOf),
  'similarity',
]);

/** Tables without a trigger that computes the checksum of an inserted row. They have one only for updates. */
const WITHOUT_TRIGGER: ReadonlySet<string> = new Set(['memory', 'event']);

/** Reads a part of a copy: see `CopyRows.rows`. Runs inside the caller's transaction. */
export function readPart(connection: Connection, part: CopyPart, range: CopyRange): readonly CopyRow[] {
  if (part === 'memory') return readMemories(connection, range);
  if (part === 'compared') {
    const { where, values, limit } = conditionOf(range, ['row']);
    const rows = connection.all(
      `SELECT row AS key, compared = 1 AS compared FROM memory ${where} ORDER BY row ${limit}`,
      ...values,
    ) as { key: number; compared: number }[];
    return rows.map(({ key, compared }) => ({ key, compared: compared === 1 }));
  }
  if (part === 'link') return readLinks(connection, range);
  const key = COPY_PARTS[part].key.map(nameHere);
  const { where, values, limit } = conditionOf(range, key);
  const rows = connection.all(
    `SELECT * FROM ${part} ${where} ORDER BY ${key.join(', ')} ${limit}`,
    ...values,
  ) as Readonly<Record<string, SqlValue>>[];
  return rows.map((row) => {
    const { checksum, ...stored } = row;
    verify(Object.values(stored), checksum, { table: part, row: String(row[key[0] as string]) });
    return Object.fromEntries(
      COPY_PARTS[part].columns.map((column) => [column, copied(column, row[nameHere(column)] ?? null)]),
    );
  });
}

function nameHere(column: string): string {
  return RENAMED[column] ?? column;
}

function copied(column: string, value: SqlValue): CopyRow[string] {
  if (FLAGS.has(column)) return value === 1;
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

function here(column: string, value: CopyRow[string] | undefined): SqlValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (column === 'hash') return Buffer.from(String(value), 'hex');
  if (REALS.has(column)) return real(value as number);
  return value ?? null;
}

function conditionOf(range: CopyRange, key: readonly string[]) {
  if ('among' in range) {
    return {
      where: `WHERE ${key[0]} IN (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(range.among)] as SqlValue[],
      limit: '',
    };
  }
  const { after, upTo, limit } = range;
  const columns = `(${key.join(', ')})`;
  const places = `(${key.map(() => '?').join(', ')})`;
  const bounds = [...(after ? [`${columns} > ${places}`] : []), ...(upTo ? [`${columns} <= ${places}`] : [])];
  return {
    where: bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`,
    values: [...(after ?? []), ...(upTo ?? [])].map((value, at) =>
      here(key[at % key.length] as string, value),
    ),
    limit: limit === undefined ? '' : `LIMIT ${limit}`,
  };
}

function readMemories(connection: Connection, range: CopyRange): readonly CopyRow[] {
  const { where, values, limit } = conditionOf(range, ['memory.row']);
  const rows = connection.all(
    `SELECT ${ROW_COLUMN_LIST}, term_vector.bytes AS terms, term_vector.checksum AS terms_checksum,
       vector.bytes AS vector, vector.checksum AS vector_checksum
     FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row)
     ${where} ORDER BY memory.row ${limit}`,
    ...values,
  ) as (MemoryRow & DerivedColumns)[];
  const counts = rows.map((row) => {
    const found: [id: number, count: number][] = [];
    if (row.terms)
      decodeTermVector({ row: row.row, bytes: row.terms, checksum: row.terms_checksum }, (id, count) =>
        found.push([id, count]),
      );
    return found;
  });
  const wanted = [...new Set(counts.flatMap((found) => found.map(([id]) => id)))];
  const texts = new Map(
    (
      connection.all(
        'SELECT id, text FROM term WHERE id IN (SELECT value FROM json_each(?))',
        JSON.stringify(wanted),
      ) as { id: number; text: string }[]
    ).map(({ id, text }) => [id, text]),
  );
  return rows.map((row, at) => {
    // Throws if the row is damaged. Below, `supersedes` may be NULL: version 1 wrote that for an empty list.
    fromRow(row);
    const vector =
      row.vector && fromVectorRow({ row: row.row, bytes: row.vector, checksum: row.vector_checksum });
    const record = RECORD_COLUMNS.map((column) => [column, copied(column, row[column] ?? null)] as const);
    return {
      ...Object.fromEntries(record),
      supersedes: row['supersedes'] ?? '[]',
      key: row.row,
      content_key: row.content_key,
      terms: row.terms
        ? termsToCopy((counts[at] ?? []).map(([id, count]) => [texts.get(id) ?? '', count]))
        : null,
      vector: vector ? Buffer.from(toVectorBytes(vector)).toString('base64') : null,
    };
  });
}

function readLinks(connection: Connection, range: CopyRange): readonly CopyRow[] {
  const { where, values } = conditionOf(range, ['a_row']);
  const rows = connection.all(
    `SELECT link.*, a.id AS a_id, b.id AS b_id FROM link JOIN memory AS a ON a.row = a_row JOIN memory AS b ON b.row = b_row
     ${where} ORDER BY a_row, b_row, link.kind`,
    ...values,
  ) as Readonly<Record<string, SqlValue>>[];
  return rows.map((row) => {
    const { checksum, a_id, b_id, ...stored } = row;
    verify(Object.values(stored), checksum, { table: 'link', row: `${row['a_row']} ${row['b_row']}` });
    // In copies, as everywhere, the ends of a link are in code-unit order.
    const [first, second] = String(a_id) < String(b_id) ? [a_id, b_id] : [b_id, a_id];
    return { ...stored, a_id: first, b_id: second } as unknown as CopyRow;
  });
}

/** Deletes a row. */
export function removeRow(connection: Connection, part: CopyPart, row: CopyRow): void {
  if (part === 'compared') return;
  if (part === 'link') {
    connection.run(
      `DELETE FROM link WHERE kind = ? AND (a_row, b_row) IN (
         SELECT min(a.row, b.row), max(a.row, b.row) FROM memory AS a, memory AS b WHERE a.id = ? AND b.id = ?)`,
      here('kind', row['kind']),
      here('a_id', row['a_id']),
      here('b_id', row['b_id']),
    );
    return;
  }
  const key = COPY_PARTS[part].key;
  const same = key.map((column) => `${nameHere(column)} = ?`).join(' AND ');
  const values = copyKeyOf(part, row).map((value, at) => here(key[at] as string, value));
  connection.run(`DELETE FROM ${part} WHERE ${same}`, ...values);
}

/** Inserts a row, or replaces the one with its key. */
export function putRow(connection: Connection, termIds: TermIds, part: CopyPart, row: CopyRow): void {
  if (part === 'memory') {
    putMemory(connection, termIds, row);
    return;
  }
  if (part === 'compared') {
    connection.run(
      'UPDATE memory SET compared = ? WHERE row = ?',
      here('compared', row['compared']),
      here('key', row['key']),
    );
    return;
  }
  if (part === 'link') {
    removeRow(connection, part, row);
    connection.run(
      `INSERT INTO link (a_row, b_row, kind, weight, at)
       SELECT min(a.row, b.row), max(a.row, b.row), ?, CAST(? AS REAL), ? FROM memory AS a, memory AS b WHERE a.id = ? AND b.id = ?`,
      here('kind', row['kind']),
      real(row['weight'] as number),
      here('at', row['at']),
      here('a_id', row['a_id']),
      here('b_id', row['b_id']),
    );
    return;
  }
  upsert(connection, part, COPY_PARTS[part].key, COPY_PARTS[part].columns, row);
}

function upsert(
  connection: Connection,
  table: string,
  key: readonly string[],
  columns: readonly string[],
  row: CopyRow,
): void {
  const names = columns.map(nameHere);
  const rest = names.filter((name) => !key.map(nameHere).includes(name));
  connection.run(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
     ON CONFLICT (${key.map(nameHere).join(', ')}) DO UPDATE SET ${rest.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    ...columns.map((column) => here(column, row[column])),
  );
  if (!WITHOUT_TRIGGER.has(table)) return;
  // An update without a change makes the trigger compute the checksum of the row.
  const first = nameHere(key[0] as string);
  connection.run(
    `UPDATE ${table} SET ${first} = ${first} WHERE ${first} = ?`,
    here(first, row[key[0] as string]),
  );
}

function putMemory(connection: Connection, termIds: TermIds, row: CopyRow): void {
  const key = Number(row['key']);
  // Another row may hold this id or ordinal: a memory that was removed and came back has a new key.
  connection.run(
    'DELETE FROM memory WHERE (id = ? OR ordinal = ?) AND row <> ?',
    here('id', row['id']),
    here('ordinal', row['ordinal']),
    key,
  );
  upsert(connection, 'memory', ['key'], ['key', ...RECORD_COLUMNS, 'content_key'], row);
  const stored = connection.get(`SELECT ${ROW_COLUMN_LIST} FROM memory WHERE row = ?`, key) as MemoryRow;
  const memory = fromRow(stored);
  for (const table of ['attribute', 'entity_name', 'relation'])
    connection.run(`DELETE FROM ${table} WHERE row = ?`, key);
  connection.run('DELETE FROM supersession WHERE newer_row = ?', key);
  writeSupersession(connection, key, memory, undefined);
  noticeSuperseded(connection, [memory]);
  writeGraph(connection, key, memory, undefined);
  writeAttributes(connection, key, memory.metadata);
  const terms = row['terms'] === null ? undefined : (JSON.parse(String(row['terms'])) as unknown[]);
  const vector = row['vector'] === null ? undefined : Buffer.from(String(row['vector']), 'base64');
  if (!terms) {
    connection.run('DELETE FROM term_vector WHERE row = ?', key);
    return;
  }
  writeIndexed(connection, termIds, key, {
    terms: new Map(
      Array.from({ length: terms.length / 2 }, (_, at) => [String(terms[2 * at]), Number(terms[2 * at + 1])]),
    ),
    vector: vector && fromVectorRow({ row: key, bytes: vector, checksum: checksumOf([key, vector]) }),
  });
}
