import type { Store } from '../../src/store/store.ts';
import { startPglite } from './pglite.ts';
import { freshSchema, SERVER } from './server.ts';

/** Fresh stores of the real server, if there is one, else of PostgreSQL as WebAssembly. */
export interface AnyServer extends AsyncDisposable {
  freshStore(): Promise<{ readonly store: Store; cleanup(): Promise<void> }>;
}

export async function startAnyServer(): Promise<AnyServer> {
  if (SERVER === undefined) return startPglite();
  return {
    async freshStore() {
      const fresh = freshSchema();
      return { store: fresh.open({ maxConnections: 2 }), cleanup: async () => fresh[Symbol.asyncDispose]() };
    },
    async [Symbol.asyncDispose]() {},
  };
}
