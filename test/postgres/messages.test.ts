import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import type { PostgresPool } from '../../src/stores/postgres/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { startPglite, type TestServer } from './pglite.ts';

/*
 * Each statement is a message to the server and back, which is what a recall over a network waits for.
 */
let server: TestServer;
let store: Store;
let memory: MemoryEngine;
const sent: string[] = [];

beforeAll(async () => {
  server = await startPglite();
  const pool: PostgresPool = {
    query(query) {
      sent.push(query.text);
      return server.pool.query(query);
    },
  };
  store = postgres(pool, { schema: 'counted' });
  memory = await openMemory({ store, space: 'alice' });
  await memory.rememberMany(
    Array.from({ length: 200 }, (_, at) => ({
      content: `${at % 3 ? 'Anna drinks coffee' : 'The train leaves'} in the morning, case ${at}`,
      sessionId: `s${at % 20}`,
      scope: at % 2 ? 'global' : 'project:a',
    })),
  );
});
afterAll(async () => {
  await memory.close();
  await store.close();
  await server[Symbol.asyncDispose]();
});

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  sent.length = 0;
  await work();
  return sent.length;
}

describe('the statements of a recall that is current', () => {
  const query = 'what does Anna drink?';
  it.each([
    ['bm25', 2],
    ['vector', 2],
    ['balanced', 2],
    ['scoped', 2],
    ['lexical', 2],
    ['hybrid', 3],
    ['retention', 3],
  ] as const)('%s: %i at most', async (strategy, most) => {
    const ask = () => memory.recall(query, { strategy, limit: 5, track: false });
    await ask();
    expect(await statementsOf(ask)).toBeLessThanOrEqual(most);
  });

  it('ambient, which takes no query: 2 at most', async () => {
    const ask = () => memory.recall({ strategy: 'ambient', limit: 5, track: false });
    await ask();
    expect(await statementsOf(ask)).toBeLessThanOrEqual(2);
  });

  it.each([
    ['five-factor', 1],
    // What links led to was not read as it ranked.
    ['retention', 2],
  ] as const)(
    '%s that learns: its effects take %i more at most, of which one writes',
    async (strategy, more) => {
      const ask = (track: boolean) => memory.recall(query, { strategy, limit: 5, track });
      await ask(true);
      await ask(true);
      await ask(false);
      const without = await statementsOf(() => ask(false));
      expect(await statementsOf(() => ask(true))).toBeLessThanOrEqual(without + more);
      expect(sent.filter((text) => text.includes('INSERT'))).toHaveLength(1);
    },
  );

  it('effects are of what is there by then, when others were faster', async () => {
    const other = await openMemory({ store: postgres(server.pool, { schema: 'counted' }), space: 'alice' });
    const { hits } = await memory.recall(query, { strategy: 'five-factor', limit: 3 });
    const id = hits[0]?.memory.id ?? '';
    const before = (await memory.get(id))?.accessCount ?? 0;
    await Promise.all(
      [memory, other, memory, other].map((each) => each.recall(query, { strategy: 'five-factor', limit: 3 })),
    );
    expect((await memory.get(id))?.accessCount).toBe(before + 4);
    await other.close();
  });

  it('what was written is brought along by the first statement of the next recall', async () => {
    const ask = () => memory.recall('green tea', { strategy: 'bm25', limit: 5 });
    await ask();
    const { id } = await memory.remember('Ben drinks green tea');
    let found: string | undefined;
    // The row of the space with the feed, the new memory, how memories stand to each other, the records of the hits.
    expect(
      await statementsOf(async () => {
        found = (await ask()).hits[0]?.memory.id;
      }),
    ).toBeLessThanOrEqual(4);
    expect(found).toBe(id);
  });

  it('a write: 10 at most, of which the last one writes', async () => {
    expect(await statementsOf(() => memory.remember('Carol plays the cello'))).toBeLessThanOrEqual(10);
    expect(sent.filter((text) => text.includes('INSERT'))).toHaveLength(1);
  });
});
