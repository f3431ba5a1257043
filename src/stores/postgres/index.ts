/**
 * Memories in PostgreSQL, for many processes on many machines. No extension is needed; the driver is the package `pg`.
 *
 * @module
 */

import { invalidArgument, wholeNumber } from '../../domain/check.ts';
import { keysOf, onlyKeys } from '../../domain/options.ts';
import type { Store } from '../../store/store.ts';
import { type Database, openDatabase, type PostgresPool, sourceOfPool, sourceOfUrl } from './connection.ts';
import { migrate, SCHEMA_VERSION } from './schema.ts';
import { openStoreIn } from './store.ts';

export type { PostgresConnection, PostgresPool, PostgresQuery } from './connection.ts';

export interface PostgresOptions {
  /** The schema that holds the tables, made if it does not exist: letters, digits and `_`. Default is `salience`. */
  readonly schema?: string | undefined;
  /** Milliseconds that a write waits for those of others before `store_busy`. Default is 10,000. */
  readonly busyTimeout?: number | undefined;
  /** Most connections of the pool that a URL makes. Default is 10. */
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
 * A store of the spaces in one schema of a PostgreSQL database, 15 or newer. Nothing is connected before the first space
 * is opened. A pool that is handed over stays open when the store is closed.
 *
 * @throws `invalid_argument`: this is no URL and no pool, or an option is unknown or out of range.
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
 * Makes the schema of this version, or brings an older one to it; opening a space for writing does so too. For a database
 * where the user of the programs may make no tables: call it as the owner of the schema, before the new version starts.
 *
 * @returns The version that the schema had, 0 for none, and the one that it has now.
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

function databaseOf(source: string | PostgresPool, options: PostgresOptions, verb: string): Database {
  onlyKeys(options, optionKeys, verb);
  const { schema = 'salience', busyTimeout = 10_000, maxConnections = 10, connectTimeout = 10_000 } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/i.test(schema))
    throw invalidArgument('schema', 'expected a name of letters, digits and "_", of at most 63 characters');
  const pool = {
    max: wholeNumber(maxConnections, 'maxConnections', 1, 10_000),
    connectTimeout: wholeNumber(connectTimeout, 'connectTimeout', 1, 3_600_000),
  };
  const patience = wholeNumber(busyTimeout, 'busyTimeout', 1, 3_600_000);
  if (typeof source !== 'string' && typeof (source as PostgresPool | undefined)?.query !== 'function')
    throw invalidArgument('store', 'expected the URL of a database, or a pool such as new pg.Pool() makes');
  const from = typeof source === 'string' ? sourceOfUrl(source, pool) : sourceOfPool(source);
  return openDatabase(from, schema, patience);
}
