import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storeContract } from '../../testing/store-contract.ts';
import { createSqliteStore } from './index.ts';

await storeContract('sqlite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-contract-'));
  // Power cuts are not tested here, and hundreds of small writes wait for the disk otherwise.
  const store = createSqliteStore({ directory, synchronous: 'normal' });
  return {
    store,
    async cleanup() {
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
});
