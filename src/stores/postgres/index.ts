/**
 * A store of memories in PostgreSQL, for many processes on many machines. Needs no extension. The driver is the package `pg`.
 *
 * @module
 */

import { callback, invalidArgument, wholeNumber } from '../../domain/check.ts';
import { SalienceError } from '../../domain/errors.ts';
import { keysOf, onlyKeys } from '../../domain/options.ts';
import type { Store } from '../../store/store.ts';
import { type Database, openDatabase, type PostgresPool, sourceOfPool, sourceOfUrl } from './connection.ts';
import { type ErasedTable, eraseTables } from './erase.ts';
import { identify, migrate, SCHEMA_VERSION } from './schema.ts';
import { openStoreIn } from './store.ts';

export type { PostgresConnection, PostgresPool, PostgresQuery } from './connection.ts';
export type { ErasedTable } from './erase.ts';

export interface PostgresOptions {
  /** The schema that holds the tables: letters, digits and `_`. Created if it does not exist. Default is `salience`. */
  readonly schema?: string | undefined;
  /** Milliseconds that a write waits for other writes before `store_busy`. Default is 10,000. */
  readonly busyTimeout?: number | undefined;
  /** The most connections of the pool that is created for a URL. Default is 10. */
  readonly maxConnections?: number | undefined;
  /** Milliseconds to wait for a connection of that pool. Default is 10,000. */
  readonly connectTimeout?: number | undefined;
}

const optionKeys = keysOf<PostgresOptions>()({
  schema: true,
  busyTimeout: true,
  maxConnections: true,
  connectTimeout: true,
});

/**
 * Creates a store of the spaces in one schema of a PostgreSQL database, version 15 or newer. Connects when the first space is
 * opened. A pool that you pass in stays open when the store is closed.
 *
 * @throws `invalid_argument`: `source` is neither a URL nor a pool, or an option is unknown or out of range.
 * @example
 * ```ts
 * import { postgres } from 'salience/postgres';
 * await using store = postgres(process.env['SALIENCE_STORE'] ?? 'postgresql://localhost/memories', { schema: 'salience' });
 * await using memory = await openMemory({ store, space: 'alice' });
 * await memory.remember('Prefers dark roast coffee');
 * ```
 */
export function postgres(source: string | PostgresPool, options: PostgresOptions = {}): Store {
  return openStoreIn(databaseOf(source, options, 'postgres'));
}

/**
 * Creates the schema, or migrates an older one to this version. Opening a space for writing does the same. Use this function if
 * the programs' database user may not create tables: call it as the owner of the schema, before the new version starts.
 *
 * @returns The version that the schema had, 0 if there was none, and the version that it has now.
 * @throws `invalid_argument`, `newer_store`, and the codes that begin with `store_`.
 * @example
 * ```ts
 * import { migratePostgres } from 'salience/postgres';
 * const { from, to } = await migratePostgres('postgresql://owner@localhost/memories');
 * console.log(`schema ${from} → ${to}`);
 * ```
 */
export async function migratePostgres(
  source: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<{ readonly from: number; readonly to: number }> {
  const database = databaseOf(source, options, 'migratePostgres');
  try {
    return { from: await migrate(database), to: SCHEMA_VERSION };
  } finally {
    await database.close();
  }
}

export interface ErasePostgresOptions extends PostgresOptions {
  /** Called before each table, with the numbers of finished tables and of all tables. */
  progress?(table: string, done: number, total: number): void;
}

/**
 * Rewrites every table of a schema, so that the files of tables, indexes and long values no longer contain forgotten or replaced
 * data. `forget` deletes rows, but PostgreSQL leaves their bytes in its files. Tables are rewritten one after the other. Each is
 * locked against reading and writing meanwhile, and needs twice its disk space; recalls and writes wait, or fail with `store_busy`.
 * Call it as the owner of the tables. The write-ahead log, standbys and backups keep their data for as long as their settings say.
 *
 * @returns The tables with their sizes in bytes, before and after.
 * @throws `store_busy`: a transaction, a prepared transaction or a replication slot needed an older state for longer than
 * `busyTimeout`, or a table could not be locked in that time. `invalid_argument`, and the codes that begin with `store_`.
 * @example
 * ```ts
 * import { erasePostgres } from 'salience/postgres';
 * const tables = await erasePostgres('postgresql://owner@localhost/memories');
 * console.log(tables.map(({ table, before, after }) => `${table}: ${before} → ${after} bytes`).join('\n'));
 * ```
 */
export async function erasePostgres(
  source: string | PostgresPool,
  options: ErasePostgresOptions = {},
): Promise<readonly ErasedTable[]> {
  onlyKeys(options, [...optionKeys, 'progress'], 'erasePostgres');
  const { progress, ...rest } = options;
  if (progress !== undefined) callback(progress, 'progress');
  const database = databaseOf(source, rest, 'erasePostgres');
  try {
    if ((await identify(database)) === 0) {
      throw new SalienceError(
        'not_a_store',
        `PostgreSQL at ${database.place}: the schema ${JSON.stringify(database.schema)} does not exist or contains no store; correct its name`,
      );
    }
    return await eraseTables(database, progress);
  } finally {
    await database.close();
  }
}

/** A method that clients of `pg` have and pools do not. The `connect` of a client returns no separate connection. */
interface WithEscapes {
  escapeIdentifier(name: string): string;
}

function databaseOf(source: string | PostgresPool, options: PostgresOptions, verb: string): Database {
  onlyKeys(options, optionKeys, verb);
  const { schema = 'salience', busyTimeout = 10_000, maxConnections = 10, connectTimeout = 10_000 } = options;
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/i.test(schema))
    throw invalidArgument('schema', 'expected a name of letters, digits and "_", of at most 63 characters');
  if (/^pg_/.test(schema))
    throw invalidArgument(
      'schema',
      'names that begin with "pg_" are those of PostgreSQL itself; choose another one',
    );
  const pool = {
    max: wholeNumber(maxConnections, 'maxConnections', 1, 10_000),
    connectTimeout: wholeNumber(connectTimeout, 'connectTimeout', 1, 3_600_000),
  };
  const patience = wholeNumber(busyTimeout, 'busyTimeout', 1, 3_600_000);
  if (typeof source !== 'string' && typeof (source as PostgresPool | undefined)?.query !== 'function')
    throw invalidArgument('store', 'expected the URL of a database, or a pool such as new pg.Pool() makes');
  if (typeof (source as Partial<WithEscapes>).escapeIdentifier === 'function')
    throw invalidArgument(
      'store',
      'this is one connection of pg, a Client; hand over a pool, such as new pg.Pool() makes, or a URL',
    );
  const from = typeof source === 'string' ? sourceOfUrl(source, pool) : sourceOfPool(source);
  return openDatabase(from, schema, patience);
}
