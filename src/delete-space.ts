import { parseSpaceName } from './domain/space.ts';

export interface DeleteSpaceOptions {
  /** The directory of the store. */
  readonly path: string;
  readonly space: string;
}

/**
 * Deletes a space: its files, with everything in them. There is no undo.
 *
 * @throws `not_found`. `store_busy`: another process, or another store of this one, has it open; nothing is deleted then.
 * @example
 * ```ts
 * const memory = await openMemory({ path: './memory', space: 'bob' });
 * await memory.close();
 * await deleteSpace({ path: './memory', space: 'bob' });
 * ```
 */
export async function deleteSpace(options: DeleteSpaceOptions): Promise<void> {
  const { path, space } = options;
  parseSpaceName(space);
  const { createSqliteStore } = await loadSqlite();
  await using store = createSqliteStore({ directory: path });
  await store.deleteSpace(space);
}

// The compiler leaves the ending of an import alone that stands beside `using`.
const loadSqlite = () => import('./stores/sqlite/index.ts');
