import type { Store } from '../store/store.ts';

/** Creates an empty store for one test. `cleanup` runs after the test and must close the store. */
export type MakeStore = () => Promise<{ readonly store: Store; cleanup(): Promise<void> }>;

export interface StoreContractOptions {
  /** Titles of tests that the store cannot pass, with the reason. */
  readonly skip?: readonly { readonly reason: string; readonly tests: readonly string[] }[] | undefined;
}

/**
 * Registers the tests that every store must pass with vitest. Await it at the top level of a test file. Needs `vitest` and
 * `fast-check`, which are loaded by this call. Each test may take five minutes, whatever the settings of vitest are.
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
