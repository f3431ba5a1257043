import { storeContract } from '../../testing/store-contract.ts';
import { createMemoryStore } from './index.ts';

await storeContract('memory', async () => {
  const store = createMemoryStore();
  return { store, cleanup: () => store.close() };
});
