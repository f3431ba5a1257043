import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory, openSpaces } from '../../src/index.ts';
import { overtaken } from '../../src/store/moment.ts';
import type { WaitingApart } from '../../src/store/rows.ts';
import { openDatabase, sourceOfPool } from '../../src/stores/postgres/connection.ts';
import { type PostgresConnection, type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { spaceIdOf } from '../../src/stores/postgres/moment.ts';
import { readingSnapshot } from '../../src/stores/postgres/reading.ts';
import { createTerms } from '../../src/stores/postgres/terms.ts';
import { startPglite, type TestServer } from './pglite.ts';

/*
 * Whoever has the turn of an index waits for a connection, so nobody may wait for the turn, or for room, with a connection in
 * the hand: a small pool would stand still for ever. Here it has one, and each read of a recall is overtaken by a write.
 */
let server: TestServer;
beforeAll(async () => {
  server = await startPglite();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A pool of one connection, which is asked for in order. `before` is told of each statement, while it is held. */
function poolOfOne(before: (text: string) => Promise<void>): PostgresPool {
  let last: Promise<unknown> = Promise.resolve();
  const connect = async (): Promise<PostgresConnection> => {
    const turn = last;
    let release = () => {};
    last = new Promise<void>((resolve) => {
      release = resolve;
    });
    await turn;
    return {
      release: () => release(),
      async query(query) {
        await before(query.text);
        return server.pool.query(query);
      },
    };
  };
  return {
    connect,
    async query(query) {
      const connection = await connect();
      try {
        return await connection.query(query);
      } finally {
        connection.release();
      }
    },
  };
}

/** A store over such a pool, beside another process that writes before each statement outside of a transaction. */
async function besideAWriter(schema: string, onBegin: () => void = () => {}) {
  const others = postgres(server.pool, { schema });
  const begun: string[] = [];
  const writing: { space: MemoryEngine | undefined; count: number } = { space: undefined, count: 0 };
  let isOpen = false;
  const store = postgres(
    poolOfOne(async (text) => {
      if (/^(COMMIT|ROLLBACK)/.test(text)) isOpen = false;
      else if (text.startsWith('BEGIN')) {
        isOpen = true;
        begun.push(text);
        onBegin();
      } else if (!isOpen) await writing.space?.remember(`milk ${++writing.count}`);
    }),
    { schema },
  );
  return { store, others, begun, writing };
}

describe('a pool of one connection', () => {
  it('is enough for several recalls at once that writers overtake', async () => {
    const { store, others, begun, writing } = await besideAWriter('pool_of_one');
    const memory = await openMemory({ store, space: 'alice' });
    const other = await openMemory({ store: others, space: 'alice' });
    await memory.rememberMany([{ content: 'coffee in the morning' }, { content: 'coffee in the evening' }]);
    writing.space = other;
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, at) => memory.recall(`coffee ${at}`, { track: false })),
    );
    writing.space = undefined;
    expect(answers.map(({ hits }) => hits.length >= 2)).toEqual(Array(4).fill(true));
    expect(begun.length).toBeGreaterThanOrEqual(4);
    await memory.close();
    await store.close();
  });

  it('is enough for recalls of several spaces, and for an index that is saved meanwhile', async () => {
    const { store, others, writing } = await besideAWriter('spaces_of_one');
    const names = ['alice', 'bob'];
    const [memories, writers] = await Promise.all(
      [store, others].map((each) => Promise.all(names.map((space) => openMemory({ store: each, space })))),
    );
    await Promise.all(memories?.map((each) => each.remember('coffee')) ?? []);
    writing.space = writers?.[0];
    const asked = memories?.flatMap((each) => [1, 2, 3].map(() => each.recall('coffee', { track: false })));
    const closing = memories?.[1]?.recall('coffee').then(() => memories[1]?.close());
    expect((await Promise.all(asked ?? [])).map(({ hits }) => hits.length > 0)).toEqual(Array(6).fill(true));
    await closing;
    writing.space = undefined;
    await store.close();
  });

  it('is given back before somebody waits for room that another space has', async () => {
    let begin = () => {};
    const { store, others, writing } = await besideAWriter('room_of_one', () => begin());
    const [alice, bob] = await Promise.all(
      ['alice', 'bob'].map((space) => openMemory({ store: others, space })),
    );
    await alice?.remember('coffee');
    await bob?.remember('tea');
    const probing = openSpaces({ store: others });
    await (await probing.get('alice')).recall('coffee', { track: false });
    const bytes = probing.residentBytes;
    await probing.close();
    // One index at a time.
    const tight = openSpaces({ store, maxResidentBytes: bytes * 1.5, waitTimeout: 3_600_000 });
    const one = await tight.get('alice');
    const two = await tight.get('bob');
    await two.recall('tea', { track: false });
    let second: Promise<unknown> | undefined;
    begin = () => {
      second ??= two.recall('tea', { track: false });
    };
    writing.space = alice;
    const { hits } = await one.recall('coffee', { track: false });
    writing.space = undefined;
    expect(hits.length).toBeGreaterThan(0);
    expect(second).toBeDefined();
    await second;
    await tight.close();
  });
});

describe('a snapshot that holds the connection', () => {
  /** Reads one, of which the first attempt holds no connection and the others do. */
  async function snapshot<Result>(
    schema: string,
    work: (apart: WaitingApart, attempt: number) => Promise<Result>,
  ) {
    const store = postgres(server.pool, { schema });
    await store.openSpace('alice');
    await store.close();
    const database = openDatabase(sourceOfPool(poolOfOne(async () => {})), schema, 1000);
    const place = { database, name: 'alice', id: spaceIdOf('alice'), secrets: {} };
    const terms = createTerms();
    const counts = { usesAhead: 0, rowsAhead: 0, overtaken: 0, unsaved: 0 };
    let attempts = 0;
    const following = { terms, position: undefined, ...counts };
    return readingSnapshot(place, following, async ({ apart }) => work(apart as WaitingApart, ++attempts));
  }
  const fail = () => Promise.reject(new Error('waited'));

  it('goes on with a turn that is free', async () => {
    let freed = 0;
    const attempts = await snapshot('free_turn', async (apart, attempt) => {
      if (attempt === 1) throw overtaken('alice');
      await apart.turn(() => () => void freed++, fail);
      return attempt;
    });
    expect([attempts, freed]).toEqual([2, 1]);
  });

  it('waits for the turn that an earlier attempt waits for, and takes no second one', async () => {
    const seen: string[] = [];
    let grant = () => {};
    const granted = new Promise<() => void>((resolve) => {
      grant = () => resolve(() => void seen.push('freed'));
    });
    const later = () => {
      seen.push('asked');
      return granted;
    };
    const attempts = await snapshot('earlier_turn', async (apart, attempt) => {
      const turn = apart.turn(() => undefined, later);
      if (attempt === 1) throw overtaken('alice');
      void setImmediate().then(grant);
      await turn;
      return attempt;
    });
    expect([attempts, seen]).toEqual([3, ['asked', 'freed']]);
  });

  it('throws what an attempt fails with, also where that wanted to wait', async () => {
    const failing = snapshot('failing', async (apart, attempt) => {
      if (attempt === 1) throw overtaken('alice');
      if (attempt > 2) return;
      await apart.wait(async () => {}).catch(() => undefined);
      throw new Error('the plug is out');
    });
    await expect(failing).rejects.toThrow('the plug is out');
  });
});
