import { describe, test } from 'vitest';
import { storeContract } from '../../src/testing/store-contract.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

if (SERVER === undefined) {
  describe('store contract: postgres', () => {
    test.skip(`all of it (${WITHOUT_SERVER})`);
  });
} else {
  await storeContract('postgres', async () => {
    const fresh = freshSchema();
    return { store: fresh.open({ maxConnections: 3 }), cleanup: async () => fresh[Symbol.asyncDispose]() };
  });
}
