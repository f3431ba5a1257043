import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import type { SpaceStore, Store } from '../../src/store/store.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { insert, start, write } from '../../src/testing/store-contract/harness.ts';
import { startPglite, type TestServer } from './pglite.ts';

/*
 * A write that others overtook waits for a turn before it decides again. Nothing of the database is locked while it decides: all
 * of these share one connection, which waits for nobody.
 */
let server: TestServer;
beforeAll(async () => {
  server = await startPglite();
});
afterAll(() => server[Symbol.asyncDispose]());

async function processes(schema: string, busyTimeout = 60_000) {
  const sent: string[] = [];
  const pool: PostgresPool = {
    query(query) {
      sent.push(query.text);
      return server.pool.query(query);
    },
  };
  const stores: Store[] = [1, 2].map(() => postgres(pool, { schema, busyTimeout }));
  const [one, two] = await Promise.all(stores.map((store) => store.openSpace('alice')));
  return {
    one: one as SpaceStore,
    two: two as SpaceStore,
    sent,
    close: () => Promise.all(stores.map((store) => store.close())),
  };
}

const put = (space: SpaceStore, id: string) => write(space, [insert({ id })]);

/** A write that is overtaken when it decides first; `second` is called when it decides again. */
function overtaken(space: SpaceStore, other: SpaceStore, second: () => Promise<void>): Promise<number> {
  let decisions = 0;
  return space.write({ verb: 'remember', at: start }, async (reader) => {
    await reader.get(['mine']);
    decisions++;
    if (decisions === 1) await put(other, 'overtaking');
    if (decisions === 2) await second();
    return { changes: [insert({ id: 'mine' })], result: decisions };
  });
}

const ids = async (space: SpaceStore) =>
  (await space.list({ filter: {}, sort: 'inserted', limit: 10 })).memories.map(({ id }) => id);

describe('writes that overtake each other', () => {
  it('wait for turns, which keep others from writing and lock nothing', async () => {
    const { one, two, sent, close } = await processes('turns');
    let waiting: Promise<void> | undefined;
    const decisions = await overtaken(one, two, async () => {
      sent.length = 0;
      waiting = put(two, 'later');
      // It has found that it is not its turn, and looks again.
      while (sent.filter((text) => text.includes('SET turn =')).length < 3) await new Promise(setImmediate);
      // Whoever only reads waits for nobody.
      expect(await ids(two)).toEqual(['overtaking']);
    });
    await waiting;
    expect(decisions).toBe(2);
    expect(await ids(two)).toEqual(['overtaking', 'mine', 'later']);
    expect(sent.filter((text) => /FOR UPDATE|BEGIN/.test(text))).toEqual([]);
    await close();
  });

  it('go on when a process hangs in its turn; that one decides again, on what is there by then', async () => {
    const { one, two, close } = await processes('hanging');
    const decisions = await overtaken(one, two, async () => {
      await server.script(`UPDATE hanging.space SET turn_until = now() - interval '1 second'`);
      await put(two, 'later');
    });
    expect(decisions).toBe(3);
    expect(await ids(two)).toEqual(['overtaking', 'later', 'mine']);
    await close();
  });

  it('are refused when no turn comes in time: nothing was changed', async () => {
    const { one, two, close } = await processes('never', 50);
    await put(one, 'first');
    await server.script(`UPDATE never.space SET turn = 'other', turn_until = 'infinity'`);
    await expect(put(two, 'mine')).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringMatching(/nothing was changed.*raise busyTimeout, an option of postgres/),
    });
    expect(await ids(one)).toEqual(['first']);
    await server.script('UPDATE never.space SET turn = NULL');
    await put(two, 'mine');
    await close();
  });

  it('pass their turn on when they change nothing, or fail', async () => {
    const { one, two, close } = await processes('passed');
    let decisions = 0;
    const failing = one.write({ verb: 'remember', at: start }, async (reader) => {
      await reader.get(['mine']);
      if (++decisions === 1) await put(two, 'overtaking');
      else throw new Error('on second thought');
      return { changes: [insert({ id: 'mine' })], result: undefined };
    });
    await expect(failing).rejects.toThrow('on second thought');
    const query = { text: 'SELECT turn FROM passed.space', values: [], rowMode: 'array' as const };
    expect((await server.pool.query(query)).rows).toEqual([[null]]);
    await close();
  });
});

describe('a statement that the server gave up for the sake of another one', () => {
  /** Gives up what writes to the space: all of it the first time, or always. */
  function conflicting(schema: string, always = false) {
    const seen = new Set<string>();
    const conflicts = { on: false, count: 0 };
    const pool: PostgresPool = {
      async query(query) {
        const text = query.text.replace(/^\/\*.*?\*\/ /, '');
        if (conflicts.on && /UPDATE|DELETE|FOR UPDATE/.test(text) && (always || !seen.has(text))) {
          seen.add(text);
          conflicts.count++;
          throw Object.assign(new Error('could not serialize access'), { code: '40001' });
        }
        return server.pool.query(query);
      },
    };
    return { store: postgres(pool, { schema, busyTimeout: always ? 1 : 60_000 }), conflicts };
  }

  it('is sent again, whatever it does', async () => {
    const { store, conflicts } = conflicting('conflicts');
    const memory = await openMemory({
      store,
      space: 'alice',
      embedder: 'none',
      recordRecalls: { days: 30, texts: true },
    });
    const other = await postgres(server.pool, { schema: 'conflicts' }).openSpace('alice');
    conflicts.on = true;
    await memory.remember('Prefers tea', { id: 'a' });
    const { trace } = await memory.recall('tea');
    expect(trace.recallId).toBeDefined();
    expect(await memory.markUsed(['a'])).toBeDefined();
    const space = await store.openSpace('alice');
    expect(await overtaken(space, other, async () => {})).toBe(2);
    await store.deleteSpace('alice');
    expect(conflicts.count).toBeGreaterThan(5);
    await store.close();
  });

  it('is an error that says what to do, where it never comes through', async () => {
    const { store, conflicts } = conflicting('conflicting', true);
    const space = await store.openSpace('alice');
    conflicts.on = true;
    await expect(put(space, 'a')).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringMatching(
        /nothing was changed. Try again, or raise busyTimeout, an option of postgres/,
      ),
    });
    await store.close();
  });
});
