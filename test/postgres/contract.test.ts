import { afterAll } from 'vitest';
import { storeContract } from '../../src/testing/store-contract.ts';
import { startPglite } from './pglite.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

await storeContract('postgres (PGlite)', () => server.freshStore());
