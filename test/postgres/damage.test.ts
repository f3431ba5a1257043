import { afterAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { startPglite } from './pglite.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

/** A space with three memories, whose second one is damaged by `change`. It is opened anew, so that nothing is in memory. */
async function damaged(schema: string, change: string) {
  {
    await using store = postgres(server.pool, { schema });
    await using memory = await openMemory({ store, space: 'alice' });
    await memory.rememberMany(
      ['Drinks tea', 'Drinks coffee', 'Plays the cello'].map((content, at) => ({ id: `m${at}`, content })),
    );
  }
  await server.script(`UPDATE ${schema}.${change} WHERE key = 2`);
  const store = postgres(server.pool, { schema });
  const memory = await openMemory({ store, space: 'alice' });
  return {
    memory,
    async [Symbol.asyncDispose]() {
      await memory.close();
      await store.close();
    },
  };
}

describe('a row of terms and vectors that is damaged', () => {
  it.each([
    ['not_json', "derived SET terms = 'nonsense'"],
    ['no_list', "derived SET terms = '5'"],
    ['odd', `derived SET terms = '["coffee"]'`],
    ['short', 'derived SET vector = substr(vector, 1, 8)'],
  ])('is named by an examination, and reindexing mends it: %s', async (schema, change) => {
    await using space = await damaged(schema, change);
    const { memory } = space;
    const found = {
      code: 'store_corrupt',
      message: expect.stringMatching(
        /^the row 2 of derived is damaged: .* Run doctor, then reindex the space$/,
      ),
    };
    await expect(memory.recall('coffee')).rejects.toMatchObject(found);
    await expect(memory.maintain()).rejects.toMatchObject(found);
    expect((await memory.health()).problems).toEqual([found.message]);
    expect(await memory.stats()).toMatchObject({ memories: 3 });
    await memory.reindex();
    expect((await memory.recall('coffee', { limit: 1 })).hits[0]?.memory.id).toBe('m1');
    expect(await memory.check()).toEqual([]);
  });

  it('leaves the terms of the other rows counted', async () => {
    await using space = await damaged('counted', "derived SET terms = 'nonsense'");
    const { terms } = await space.memory.stats();
    await space.memory.forget('m1');
    expect(terms).toBe((await space.memory.stats()).terms);
  });
});

describe('a memory with a value that nobody wrote', () => {
  it.each([
    ['time', 'memory SET created_at = 9000000000000000', 'its created_at is not a time'],
    ['number', "memory SET importance = 'NaN'", 'its importance is not a number'],
  ])('is named, where it is read and by a check: %s', async (schema, change, problem) => {
    await using space = await damaged(`value_${schema}`, change);
    const { memory } = space;
    const message = `the row 2 of memory is damaged: ${problem}. Run doctor, then restore the space from a backup`;
    for (const work of [() => memory.get('m1'), () => memory.list(), () => memory.recall('coffee')])
      await expect(work()).rejects.toMatchObject({ code: 'store_corrupt', message });
    expect(await memory.check()).toEqual([message]);
    expect(await memory.get('m0')).toMatchObject({ content: 'Drinks tea' });
  });

  it('is damage too if only the server notices', async () => {
    await using space = await damaged('tags', "memory SET tags = 'nonsense'");
    await expect(space.memory.list({ tags: ['a'] })).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringMatching(/a stored value is not what was written; run salience doctor/),
    });
  });
});
