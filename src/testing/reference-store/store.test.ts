import { storeContract } from '../store-contract.ts';
import { createReferenceStore } from './index.ts';

await storeContract('reference', async () => {
  const store = createReferenceStore();
  return { store, cleanup: () => store.close() };
});
