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
 * @throws `invalid_argument`. `not_found`. `store_busy`: another process, or another store of this one, has it open; nothing is deleted then.
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

// The compiler leaves the ending of an import alone that stands beside `using`.
const loadSqlite = () => import('./stores/sqlite/index.ts');
