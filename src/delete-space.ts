import { text } from './domain/check.ts';
import { keysOf, onlyKeys } from './domain/options.ts';
import { parseSpaceName } from './domain/space.ts';

export interface DeleteSpaceOptions {
  /** The directory of the store. */
  readonly path: string;
  readonly space: string;
}

const optionKeys = keysOf<DeleteSpaceOptions>()({ path: true, space: true });

/**
 * Deletes a space: its files, with everything in them. There is no undo.
 *
 * @throws `invalid_argument`. `not_found`. `store_busy`: another process, or another store in this process, has the space
 * open; nothing is deleted.
 * @example
 * ```ts
 * const memory = await openMemory({ path: './memory', space: 'bob' });
 * await memory.close();
 * await deleteSpace({ path: './memory', space: 'bob' });
 * ```
 */
export async function deleteSpace(options: DeleteSpaceOptions): Promise<void> {
  onlyKeys(options, optionKeys, 'deleteSpace');
  const { path, space } = options;
  text(path, 'path');
  parseSpaceName(space);
  const { createSqliteStore } = await loadSqlite();
  await using store = createSqliteStore({ directory: path });
  await store.deleteSpace(space);
}

// A separate function, because the compiler does not rewrite the file extension of an import in a function with `using`.
const loadSqlite = () => import('./stores/sqlite/index.ts');
