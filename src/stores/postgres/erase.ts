import { SalienceError } from '../../domain/errors.ts';
import { withoutUnchanged } from '../../domain/written.ts';
import { pause } from './commit.ts';
import { type Database, translated } from './connection.ts';
import { translateError } from './faults.ts';
import { statementOf } from './sql.ts';
import { TABLES, type TableName } from './tables.ts';

/** A rewritten table, with its size in bytes before and after, including indexes and long values. */
export interface ErasedTable {
  readonly table: string;
  readonly before: number;
  readonly after: number;
}

/**
 * Counts the transactions and replication slots that need an older state: a rewrite keeps the rows that they may still see. Those
 * that the user may not see are not counted.
 */
const OPEN = `SELECT count(*)::text FROM (
    SELECT backend_xmin AS xmin FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database = current_database()
    UNION ALL SELECT xmin FROM pg_replication_slots) AS held
  WHERE xmin IS NOT NULL AND age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)`;

/** Rewrites every table, one after the other, so that their files no longer contain forgotten data. */
export async function eraseTables(
  database: Database,
  progress?: (table: string, done: number, total: number) => void,
): Promise<readonly ErasedTable[]> {
  const names = Object.keys(TABLES) as TableName[];
  return translated(database, () =>
    database.session(async (tell) => {
      const one = async (text: string) => Number((await tell(text))[0]?.[0]);
      const deadline = performance.now() + database.busyTimeout;
      while ((await one(OPEN)) > 0) {
        if (performance.now() > deadline) throw heldOpen(database.place);
        await pause(50);
      }
      await tell(`SET lock_timeout = ${database.busyTimeout}`);
      // Pages of an unfinished save are never read, but may contain data that was forgotten since.
      const [saved, page] = [database.tables.saved_index, database.tables.page].map(
        (table) => statementOf(table).text,
      );
      await tell(`DELETE FROM ${page} WHERE saved NOT IN (SELECT saved FROM ${saved})`);
      const erased: ErasedTable[] = [];
      for (const [done, table] of names.entries()) {
        progress?.(table, done, names.length);
        const name = statementOf(database.tables[table]).text;
        const size = `SELECT pg_total_relation_size('${name}')::text`;
        const before = await one(size);
        const file = `SELECT pg_relation_filenode('${name}')::text`;
        const old = await one(file);
        await tell(`VACUUM (FULL, ANALYZE) ${name}`).catch((error: unknown) => {
          throw stoppedAt(translateError(error, database.place), table, done);
        });
        // If the user may not rewrite a table, the server only warns and skips it.
        if ((await one(file)) === old) throw notRewritten(database.place, table, done);
        erased.push({ table, before, after: await one(size) });
      }
      return erased;
    }),
  );
}

function heldOpen(place: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `PostgreSQL at ${place}: a transaction or a replication slot still needs an older state, so that erased rows would be kept; end it (pg_stat_activity, pg_prepared_xacts and pg_replication_slots name it), and try again. Nothing was rewritten`,
    { details: { place } },
  );
}

/** Adds to the error of a table that those before it are rewritten, and the others are not. */
function stoppedAt(error: unknown, table: TableName, done: number): unknown {
  if (!SalienceError.isInstance(error)) return error;
  const { code, details, cause } = error;
  return new SalienceError(
    code,
    `${withoutUnchanged(error)}. The table ${table} was not rewritten, nor were those after it, so what was forgotten may still be in their files; erase again. ${rewritten(done)}`,
    { details: { ...details, table }, cause },
  );
}

function rewritten(done: number): string {
  return `${done === 0 ? 'Nothing was' : `Only the ${done} tables before it were`} rewritten`;
}

function notRewritten(place: string, table: TableName, done: number): SalienceError {
  return new SalienceError(
    'store_read_only',
    `PostgreSQL at ${place}: the user may not rewrite the table ${table}, so what was forgotten is still in its files; erase as the owner of the tables. ${rewritten(done)}`,
    { details: { place, table } },
  );
}
