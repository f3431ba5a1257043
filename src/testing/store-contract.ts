import type { Store } from '../store/store.ts';

/** Makes a fresh, empty store for one test; `cleanup` runs after it, and closes the store. */
export type MakeStore = () => Promise<{ readonly store: Store; cleanup(): Promise<void> }>;

export interface StoreContractOptions {
  /** Tests, by their titles, that a store cannot pass, and why. */
  readonly skip?: readonly { readonly reason: string; readonly tests: readonly string[] }[] | undefined;
}

/**
 * Registers with vitest what every store promises: await it at the top of a test file. Needs `vitest` and
 * `fast-check`, which are loaded here and not before.
 *
 * @example
 * ```ts
 * import { createSqliteStore } from 'salience/sqlite'; // a store of your own in its place
 * import { storeContract } from 'salience/testing';
 * await storeContract('my store', async () => {
 *   const store = createSqliteStore({ directory: './test-store' });
 *   return { store, cleanup: () => store.close() };
 * });
 * ```
 */
export async function storeContract(
  name: string,
  makeStore: MakeStore,
  options: StoreContractOptions = {},
): Promise<void> {
  const { registerStoreContract } = await import('./store-contract/register.ts');
  registerStoreContract(name, makeStore, options);
}
