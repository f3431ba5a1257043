import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
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
/** What was read a second ago is not gone on with: on a busy machine that may be the recall before. */
let now = 0;
beforeEach(() => {
  now += 10_000;
});

beforeAll(async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
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
  vi.restoreAllMocks();
});

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  sent.length = 0;
  await work();
  return sent.length;
}

/** The first words of each statement, so that a number that is not right says which one came along. */
const kinds = () => sent.map((text) => (text.startsWith('WITH') ? 'writes' : 'reads'));

const times = (count: number) => Array.from({ length: count }, () => 'reads');

describe('the statements of a recall', () => {
  const query = 'what does Anna drink?';
  /** Something new, which every index takes in, and of which nothing is known that an earlier recall has read. */
  const changed = async () => {
    await memory.remember(`The ${++cases}th case is closed`);
    await memory.recall('when does the train leave?', { strategy: 'bm25', limit: 1, track: false });
  };
  let cases = 0;

  describe.each([[undefined], [false]])('track: %s', (track) => {
    const tracking = track === undefined ? {} : { track };

    // What learns nothing writes nothing, and asks nobody whether it might.
    it.each([
      ['bm25', 2],
      ['vector', 2],
      ['balanced', 2],
      ['scoped', 2],
      ['lexical', 2],
      ['hybrid', 3],
    ] as const)('%s: %i', async (strategy, count) => {
      // Links that a process has never looked at are one more.
      await memory.recall(query, { strategy, limit: 5, track: false });
      await changed();
      await statementsOf(() => memory.recall(query, { strategy, limit: 5, ...tracking }));
      expect(kinds()).toEqual(times(count));
    });

    it('ambient, which takes no query: 2', async () => {
      await changed();
      await statementsOf(() => memory.recall({ strategy: 'ambient', limit: 5, ...tracking }));
      expect(kinds()).toEqual(times(2));
    });
  });

  it('one in a space in which memories fade, which is told what was shown: one more', async () => {
    const fading = await openMemory({ store, space: 'fading', fading: 'retention' });
    await fading.rememberMany([{ content: 'Anna drinks coffee' }, { content: 'Ben drinks tea' }]);
    const ask = () => fading.recall(query, { strategy: 'balanced', limit: 5 });
    await ask();
    await statementsOf(ask);
    expect(kinds()).toEqual([...times(2), 'writes']);
    await fading.close();
  });

  it.each([
    ['five-factor', 2],
    // Links among the hits are read along for a while after one that learned.
    ['retention', 3],
  ] as const)('one that learns, %s: %i, and one more after its answer', async (strategy, count) => {
    await memory.recall(query, { strategy, limit: 5 });
    await changed();
    await statementsOf(() => memory.recall(query, { strategy, limit: 5, track: false }));
    expect(kinds()).toEqual(times(count));
    await changed();
    await statementsOf(() => memory.recall(query, { strategy, limit: 5 }));
    expect(kinds()).toEqual([...times(count), 'writes']);
    // What it has learned itself comes along with the first statement of the next one.
    await statementsOf(() => memory.recall(query, { strategy, limit: 5 }));
    expect(kinds()).toEqual([...times(count), 'writes']);
  });

  it('what any process has written comes along with the first one, until nothing was written for a while', async () => {
    const others = postgres(server.pool, { schema: 'counted' });
    const other = await openMemory({ store: others, space: 'alice' });
    const ask = () => memory.recall('quokkas', { strategy: 'bm25', limit: 5, track: false });
    await ask();
    const { id } = await other.remember('Two quokkas sleep through noon');
    let found: string | undefined;
    await statementsOf(async () => {
      found = (await ask()).hits[0]?.memory.id;
    });
    // With its record, so that there is nothing left to ask for.
    expect(kinds()).toEqual(times(1));
    expect(found).toBe(id);
    await other.rememberMany(Array.from({ length: 150 }, (_, at) => ({ content: `Of many one is ${at}` })));
    await statementsOf(ask);
    // More than come along are asked for.
    expect(kinds()).toEqual(times(3));
    expect(
      (await memory.recall('one is 149', { strategy: 'bm25', track: false })).hits[0]?.memory.content,
    ).toBe('Of many one is 149');
    // With nothing new for a while, the feed comes alone; what it names then is asked for, and is not asked for twice.
    const about = (word: string) => memory.recall(word, { strategy: 'bm25', limit: 5, track: false });
    for (let quiet = 0; quiet < 20; quiet++) await about('coffee');
    for (const [word, count, content] of [
      ['okapis', 2, 'Striped legs are what okapis hide with'],
      ['tapirs', 1, 'Rivers suit tapirs'],
    ] as const) {
      await other.remember(content);
      await statementsOf(() => about(word));
      expect(kinds(), word).toEqual(times(count));
    }
    await other.close();
    await others.close();
  });
});

describe('what others have done for long', () => {
  it('comes in pieces, each parsed in a few milliseconds, and is taken in as by who reads every row', async () => {
    let longest = 0;
    const watched: PostgresPool = {
      async query(query) {
        const answer = await server.pool.query(query);
        // Vectors come in one piece, which needs no parsing.
        if (query.text.includes('octet_length')) return answer;
        for (const row of answer.rows as (string | null)[][])
          longest = Math.max(longest, ...row.map((each) => each?.length ?? 0));
        return answer;
      },
    };
    const clock = () => Date.UTC(2026, 0, 1);
    const open = async (pool: PostgresPool) => {
      const store = postgres(pool, { schema: 'counted' });
      return { store, memory: await openMemory({ store, space: 'bob', clock }) };
    };
    const [behind, ahead] = [await open(watched), await open(server.pool)];
    await ahead.memory.remember('Anna drinks coffee');
    await behind.memory.recall('coffee', { track: false });
    for (let batch = 0; batch < 3; batch++) {
      await ahead.memory.rememberMany(
        Array.from({ length: 400 }, (_, at) => ({ content: `Ben drinks tea, case ${batch}x${at}` })),
      );
    }
    for (let at = 0; at < 410; at++)
      await ahead.memory.recall(`tea, case ${at % 3}x${at}`, { strategy: 'five-factor', limit: 15 });
    const ask = async (memory: MemoryEngine) => {
      const { hits } = await memory.recall('tea, case 2x7', { limit: 20, track: false });
      return JSON.stringify(hits.map((hit) => [hit.memory.id, hit.score]));
    };
    longest = 0;
    const found = await ask(behind.memory);
    expect(longest).toBeLessThan(400_000);
    const anew = await open(server.pool);
    expect(found).toBe(await ask(anew.memory));
    for (const each of [behind, ahead, anew]) {
      await each.memory.close();
      await each.store.close();
    }
  });
});

describe('the statements of a write', () => {
  // What is known of the statement; what is like it; whether its id is free; the write, which verifies all of them.
  it('remember: 4', async () => {
    for (const content of [
      'Carol plays the cello',
      'Whales sing under water',
      'Nobody has climbed that tower',
    ]) {
      await statementsOf(() => memory.remember(content));
      expect(kinds()).toEqual([...times(3), 'writes']);
    }
  });

  it('one that may contradict another: its record, and afterwards their conflict', async () => {
    await memory.remember('Hana lives in Berlin in a small flat');
    const { conflicts } = await memory.remember('Hana lives in Munich in a small flat');
    expect(conflicts).toHaveLength(1);
    await statementsOf(() => memory.remember('Hana lives in Vienna in a small flat'));
    expect(kinds()).toEqual([...times(4), 'writes', 'reads']);
  });

  it('update: 3, and one for what it says of the memory afterwards', async () => {
    const { id } = await memory.remember('Ivo owns a boat');
    await statementsOf(() => memory.update(id, { content: 'Ivo owns two boats' }));
    expect(kinds()).toEqual([...times(2), 'writes', 'reads']);
  });

  it('a batch: 3', async () => {
    await statementsOf(() => memory.rememberMany([{ content: 'Emil dances' }, { content: 'Fay dives' }]));
    expect(kinds()).toEqual([...times(2), 'writes']);
  });

  it('what is known already: 3, and nothing is written', async () => {
    await memory.remember('Gil gardens');
    await statementsOf(() => memory.remember('Gil gardens'));
    expect(kinds()).toEqual(times(3));
  });
});

describe('effects of several processes', () => {
  const query = 'what does Anna drink?';

  it('those that add are never overtaken: one statement, whatever others have learned meanwhile', async () => {
    const others = postgres(server.pool, { schema: 'counted' });
    const other = await openMemory({ store: others, space: 'alice' });
    let before: Promise<unknown> | undefined;
    const mine = postgres(
      {
        async query(given) {
          sent.push(given.text);
          if (given.text.includes('added AS')) {
            before ??= other.recall(query, { strategy: 'five-factor', limit: 3 });
            await before;
          }
          return server.pool.query(given);
        },
      },
      { schema: 'counted' },
    );
    const own = await openMemory({ store: mine, space: 'alice' });
    const { hits } = await own.recall(query, { strategy: 'five-factor', limit: 3, track: false });
    const id = hits[0]?.memory.id ?? '';
    const uses = (await own.get(id))?.accessCount ?? 0;
    await statementsOf(() => own.recall(query, { strategy: 'five-factor', limit: 3 }));
    expect(kinds()).toEqual([...times(2), 'writes']);
    expect((await own.get(id))?.accessCount).toBe(uses + 2);
    // Each use knows what it found: that is what looking back goes by.
    const { usage } = await server.pool
      .query({
        text: `SELECT before FROM counted.usage JOIN counted.space USING (space_id) WHERE name = 'alice'
          ORDER BY counted.usage.sequence DESC LIMIT 2`,
        values: [],
        rowMode: 'array',
      })
      .then(({ rows }) => ({ usage: (rows as string[][]).map(([text]) => JSON.parse(text ?? '')) }));
    expect(
      usage.map(({ memories }) => memories.find((each: { id: string }) => each.id === id)?.accessCount),
    ).toEqual([uses + 1, uses]);
    await own.close();
    await other.close();
    await mine.close();
    await others.close();
  });

  it('those that depend on the last use are decided on it, when others were faster', async () => {
    const others = postgres(server.pool, { schema: 'counted' });
    const other = await openMemory({ store: others, space: 'alice' });
    const { hits } = await memory.recall(query, { strategy: 'retention', limit: 3 });
    const id = hits[0]?.memory.id ?? '';
    const before = (await memory.get(id))?.accessCount ?? 0;
    await Promise.all(
      [memory, other, memory, other].map((each) => each.recall(query, { strategy: 'retention', limit: 3 })),
    );
    expect((await memory.get(id))?.accessCount).toBe(before + 4);
    await other.close();
    await others.close();
  });

  it('add to what is there, and nothing to what has gone meanwhile', async () => {
    const others = postgres(server.pool, { schema: 'counted' });
    const other = await openMemory({ store: others, space: 'short' });
    const kept = await other.remember('Anna drinks tea');
    const gone = await other.remember('Anna drinks rum');
    let forgetting: Promise<unknown> | undefined;
    const mine = postgres(
      {
        async query(given) {
          if (given.text.includes('added AS')) {
            forgetting ??= other.forget(gone.id);
            await forgetting;
          }
          return server.pool.query(given);
        },
      },
      { schema: 'counted' },
    );
    const own = await openMemory({ store: mine, space: 'short' });
    const { hits } = await own.recall('Anna drinks', { strategy: 'five-factor' });
    expect(hits.map(({ memory: { id } }) => id).sort()).toEqual([kept.id, gone.id].sort());
    expect((await own.get(kept.id))?.accessCount).toBe(1);
    const { rows } = await server.pool.query({
      text: "SELECT used, before FROM counted.usage WHERE used LIKE '%' || $1::text || '%'",
      values: [kept.id],
      rowMode: 'array',
    });
    expect(JSON.stringify(rows)).not.toContain(gone.id);
    await own.close();
    await other.close();
    await mine.close();
    await others.close();
  });
});
