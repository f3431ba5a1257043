/**
 * A store of memories in SQLite: one file per space, in one directory on a local disk, or in memory.
 *
 * @module
 */

import { keysOf, onlyKeys } from '../../domain/options.ts';
import type { Store } from '../../store/store.ts';
import { createObservedSqliteStore, type SqliteStoreOptions } from './store.ts';

export type { SqliteStoreOptions } from './store.ts';

const optionKeys = keysOf<SqliteStoreOptions>()({ directory: true, synchronous: true, busyTimeout: true });

/**
 * Creates a store of SQLite files. The driver is loaded and the directory is created when the first space is opened.
 *
 * @example
 * ```ts
 * import { createSqliteStore } from 'salience/sqlite';
 * await using store = createSqliteStore({ directory: './memory', busyTimeout: 30_000 });
 * await using memory = await openMemory({ path: './memory', space: 'alice', store });
 * console.log(await store.listSpaces());
 * ```
 */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  onlyKeys(options, optionKeys, 'createSqliteStore');
  return createObservedSqliteStore(options);
}
