import { CHECKSUM_FUNCTION } from './checksum.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { CHECKED_COLUMNS } from './rows.ts';

/** The tables that triggers keep where a statement brings no checksum, with the columns that their checksum covers: by default all. */
const kept: Readonly<Record<string, readonly string[] | undefined>> = {
  // Without `compared`, which changes no answer and is not part of the record.
  memory: CHECKED_COLUMNS,
  event: undefined,
  usage: undefined,
  link: undefined,
  similar_pair: undefined,
  session: undefined,
  tombstone: undefined,
  vote: undefined,
  recall: undefined,
  meta: undefined,
};

/** Those of them whose rows are inserted with their checksum: a trigger makes every INSERT write a statement journal. */
const insertedWithChecksum: ReadonlySet<string> = new Set(['memory', 'event', 'meta']);

/** The tables whose statements always write the checksum. */
const brought: Readonly<Record<string, readonly string[]>> = {
  vector: ['row', 'bytes'],
  term_vector: ['row', 'bytes'],
  page: ['part', 'number', 'bytes'],
};

/**
 * Adds to every table the column of checksums and its triggers, for the current columns, and computes all checksums. Called
 * at the end of every migration, inside its transaction.
 */
export function protectTables(connection: Connection): void {
  for (const { table, key, columns, hasChecksum } of protectedTables(connection)) {
    if (!hasChecksum) connection.database.exec(`ALTER TABLE ${table} ADD COLUMN checksum INTEGER`);
    const update = `UPDATE ${table} SET checksum = ${CHECKSUM_FUNCTION}(${columns.join(', ')})`;
    connection.database.exec(`
      DROP TRIGGER IF EXISTS space.${table}_inserted;
      DROP TRIGGER IF EXISTS space.${table}_updated;
      ${update};
    `);
    if (table in brought) continue;
    const same = key.map((column) => `${column} = NEW.${column}`).join(' AND ');
    if (!insertedWithChecksum.has(table)) {
      connection.database.exec(`
        CREATE TRIGGER space.${table}_inserted AFTER INSERT ON ${table} WHEN NEW.checksum IS NULL
          BEGIN ${update} WHERE ${same}; END;
      `);
    }
    connection.database.exec(`
      CREATE TRIGGER space.${table}_updated AFTER UPDATE OF ${columns.join(', ')} ON ${table} WHEN NEW.checksum IS NULL OR NEW.checksum IS OLD.checksum
        BEGIN ${update} WHERE ${same}; END;
    `);
  }
}

/** The key of a row whose checksum is wrong. */
export interface WrongRow {
  readonly table: string;
  readonly key: readonly SqlValue[];
}

/** The rows of a file of an older schema that have another checksum than their values. */
export function rowsWithWrongChecksum(connection: Connection): readonly WrongRow[] {
  return protectedTables(connection).flatMap(({ table, key, columns, hasChecksum }) =>
    hasChecksum
      ? connection
          .lists(
            `SELECT ${key.join(', ')} FROM ${table} WHERE checksum IS NOT ${CHECKSUM_FUNCTION}(${columns.join(', ')})`,
          )
          .map((each) => ({ table, key: each }))
      : [],
  );
}

/** Clears the checksums of these rows, so that they stay known as damaged. */
export function leaveWithoutChecksum(connection: Connection, rows: readonly WrongRow[]): void {
  if (rows.length === 0) return;
  const keys = new Map(protectedTables(connection).map(({ table, key }) => [table, key]));
  for (const { table, key } of rows) {
    const same = keys
      .get(table)
      ?.map((column) => `${column} IS ?`)
      .join(' AND ');
    connection.run(`UPDATE ${table} SET checksum = NULL WHERE ${same}`, ...key);
  }
}

/** A sentence for each table with rows that have another checksum than their values; inside a read transaction, row by row. */
export function* wrongChecksums(connection: Connection): Generator<undefined, readonly string[]> {
  const findings: string[] = [];
  for (const { table, key, columns, hasChecksum } of protectedTables(connection)) {
    if (!hasChecksum) {
      findings.push(`${table} has no checksums: restore the space from a backup`);
      continue;
    }
    let wrong = 0;
    let first: readonly SqlValue[] = [];
    const rows = connection.eachList(
      `SELECT checksum IS NOT ${CHECKSUM_FUNCTION}(${columns.join(', ')}), ${key.join(', ')} FROM ${table}`,
    );
    for (const [isWrong, ...keys] of rows) {
      if (isWrong === 1 && wrong++ === 0) first = keys;
      yield;
    }
    if (wrong === 0) continue;
    const named = first.map((part) =>
      part instanceof Uint8Array ? Buffer.from(part).toString('hex') : String(part),
    );
    findings.push(
      `${wrong} rows of ${table} are damaged, the first is ${named.join(' ')}: ${remedyOf(table, named)}`,
    );
  }
  return findings;
}

function remedyOf(table: string, [key]: readonly string[]): string {
  if (table === 'page') return 'it is a cache, and reindexing the space recreates it';
  // What the pages reflect goes with them.
  if (table === 'meta' && key?.startsWith('snapshot')) return 'reindex the space';
  return table in brought ? 'reindex the space' : 'restore the space from a backup';
}

interface ProtectedTable {
  readonly table: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  readonly hasChecksum: boolean;
}

function protectedTables(connection: Connection): readonly ProtectedTable[] {
  return Object.entries({ ...kept, ...brought }).map(([table, chosen]) => {
    const found = connection.all(`PRAGMA space.table_info(${table})`) as { name: string; pk: number }[];
    const names = found.map(({ name }) => name).filter((name) => name !== 'checksum');
    return {
      table,
      key: found.filter(({ pk }) => pk > 0).map(({ name }) => name),
      // An older schema has fewer of them.
      columns: (chosen ?? names).filter((column) => names.includes(column)),
      hasChecksum: names.length < found.length,
    };
  });
}
