import { afterAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, type OperationOptions, openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { startPglite } from './pglite.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

/** A memory that is told of each statement that comes after a write. */
async function watched(schema: string) {
  const after = { write: (_: number) => {} };
  let since: number | undefined;
  const store = postgres(
    {
      async query(query) {
        if (since !== undefined) after.write(++since);
        const answer = await server.pool.query(query);
        if (query.text.includes('moved AS')) since = 0;
        return answer;
      },
    },
    { schema },
  );
  const memory = await openMemory({ store, space: 'alice' });
  await memory.remember('Anna drinks coffee', { id: 'a' });
  since = undefined;
  return {
    memory,
    after,
    store,
    begin() {
      since = undefined;
    },
  };
}

const verbs: Readonly<Record<string, (memory: MemoryEngine, options: OperationOptions) => Promise<unknown>>> =
  {
    remember: (memory, options) => memory.remember('Anna drinks coffees', { id: 'b', ...options }),
    update: (memory, options) => memory.update('a', { content: 'Anna drinks tea' }, options),
    invalidate: (memory, options) => memory.invalidate('a', 'it was wrong', options),
    reinstate: (memory, options) => memory.reinstate('a', options),
    relate: (memory, options) => memory.relate('a', 'replaces', 'b', options),
    startSession: (memory, options) => memory.startSession(options),
  };

describe('a write that was committed', () => {
  it('is said to be done, though the caller gives up or a connection is lost before it is told of', async () => {
    const { memory, after, store, begin } = await watched('after_write');
    for (const [name, verb] of Object.entries(verbs)) {
      const controller = new AbortController();
      let reads = 0;
      after.write = (number) => {
        reads = number;
        if (number > 1) return;
        controller.abort();
        throw new Error('Connection terminated unexpectedly');
      };
      begin();
      await expect(verb(memory, { signal: controller.signal }), name).resolves.toBeDefined();
      expect(reads, name).toBeGreaterThan(1);
    }
    await store.close();
  });

  it('and cannot be told of is an error that says that it was written', async () => {
    const { memory, after, store, begin } = await watched('never_told');
    after.write = () => {
      throw new Error('Connection terminated unexpectedly');
    };
    begin();
    await expect(memory.update('a', { content: 'Anna drinks tea' })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/^this was written/),
      details: { written: true },
    });
    begin();
    expect(await memory.remember('Anna drinks teas', { id: 'b' })).toMatchObject({
      outcome: 'created',
      unchecked: expect.stringContaining('store_failed'),
    });
    await store.close();
  });
});
