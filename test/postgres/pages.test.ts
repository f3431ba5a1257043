import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { type PostgresPool, type PostgresQuery, postgres } from '../../src/stores/postgres/index.ts';
import { startPglite, type TestServer } from './pglite.ts';

/*
 * A process saves its index when it closes a space, and the next one begins from it. Each test has a schema of its own, and
 * watches or disturbs the statements of one process.
 */
let server: TestServer;
beforeAll(async () => {
  server = await startPglite();
});
afterAll(() => server[Symbol.asyncDispose]());

const SECRET = 'quokka';

interface Process {
  readonly memory: MemoryEngine;
  readonly sent: string[];
  close(): Promise<void>;
}

/** One process; `before` is called before each of its statements. */
async function process(
  schema: string,
  before: (query: PostgresQuery) => Promise<void> | void = () => {},
): Promise<Process> {
  const sent: string[] = [];
  const pool: PostgresPool = {
    async query(query) {
      await before(query);
      sent.push(query.text);
      return server.pool.query(query);
    },
  };
  const store = postgres(pool, { schema });
  const memory = await openMemory({ store, space: 'alice', clock: () => Date.UTC(2026, 0, 1) });
  return {
    memory,
    sent,
    async close() {
      await memory.close();
      await store.close();
    },
  };
}

const isPiece = ({ text }: PostgresQuery) => /INSERT INTO "\w+"\.page /.test(text);
const isRead = (text: string) => /SELECT encode\(bytes/.test(text);
const isOfAllRows = (text: string) => /memory\.key > .* memory\.key <= /s.test(text);

/** Memories enough that their index is saved, and one with a word that no other has. */
async function filled(schema: string): Promise<Process> {
  const first = await process(schema);
  await first.memory.rememberMany([
    ...Array.from({ length: 299 }, (_, at) => ({
      id: `m${at}`,
      content: `Anna drinks ${at % 2 ? 'coffee' : 'tea'} in the morning, case ${at}`,
      tags: [`t${at % 3}`],
      sessionId: `s${at % 7}`,
    })),
    { id: 'secret', content: `The code is ${SECRET}` },
  ]);
  await first.memory.recall('coffee');
  return first;
}

async function answers({ memory }: Process): Promise<string> {
  const asked = await Promise.all(
    ['coffee in the morning', 'tea case 12', SECRET].flatMap((query) =>
      (['hybrid', 'bm25', 'vector'] as const).map((strategy) =>
        memory.recall(query, { strategy, limit: 20, track: false }),
      ),
    ),
  );
  return JSON.stringify(asked.map(({ hits }) => hits.map(({ memory: { id }, score }) => [id, score])));
}

async function rows(schema: string, table: 'page' | 'saved_index', columns = 'saved') {
  const query = { text: `SELECT ${columns} FROM ${schema}.${table}`, values: [], rowMode: 'array' as const };
  return (await server.pool.query(query)).rows.map(String);
}

/** The bytes of all pieces as text. */
async function pieces(schema: string): Promise<string> {
  return (await rows(schema, 'page', `encode(bytes, 'escape')`)).join('');
}

describe('an index that was saved', () => {
  it('is what the next process begins from, with what was written since, and the same answers', async () => {
    const first = await filled('saved');
    await first.close();
    expect(await pieces('saved')).toContain(SECRET);
    const writer = await process('saved');
    await writer.memory.remember('Ben drinks mate', { id: 'new' });
    await writer.memory.forget('m3');
    await writer.memory.update('m4', { content: 'Anna drinks milk' });
    const expected = await answers(writer);
    await writer.close();

    // What was forgotten took the saved index along, and this process saved another one.
    expect(await rows('saved', 'saved_index')).toHaveLength(1);
    const second = await process('saved');
    expect(await answers(second)).toBe(expected);
    expect(second.sent.filter(isOfAllRows)).toEqual([]);
    await second.close();

    const third = await process('saved');
    await third.memory.remember('Carol drinks water', { id: 'newer' });
    const now = await answers(third);
    expect(third.sent.filter(isRead).length).toBeGreaterThan(0);
    expect(third.sent.filter(isOfAllRows)).toEqual([]);
    // One that has numbered other words before, and one that makes its index of the rows.
    await server.script('DELETE FROM saved.saved_index');
    const fourth = await process('saved');
    expect(await answers(fourth)).toBe(now);
    await third.close();
    await fourth.close();
  });

  it('is not made of what was forgotten while it was saved', async () => {
    const other = await process('forgotten');
    let forgets = true;
    const first = await filled('forgotten');
    await first.close();
    await server.script('DELETE FROM forgotten.saved_index; DELETE FROM forgotten.page');
    const saving = await process('forgotten', async (query) => {
      if (!isPiece(query) || !forgets) return;
      forgets = false;
      await other.memory.forget('secret');
    });
    await saving.memory.recall('coffee');
    await saving.close();
    expect(forgets).toBe(false);
    expect(await rows('forgotten', 'saved_index')).toEqual([]);
    expect(await rows('forgotten', 'page')).toEqual([]);
    await other.close();
  });

  it('is not made to count by one who has not seen that something was forgotten since', async () => {
    const other = await process('late');
    const first = await filled('late');
    await first.close();
    await server.script('DELETE FROM late.saved_index; DELETE FROM late.page');
    let forgets = true;
    const saving = await process('late', async ({ text }) => {
      if (!text.includes('INSERT INTO "late".saved_index') || !forgets) return;
      forgets = false;
      await other.memory.forget('secret');
    });
    await saving.memory.recall('coffee');
    await saving.close();
    expect(forgets).toBe(false);
    expect(await rows('late', 'saved_index')).toEqual([]);
    expect(await rows('late', 'page')).toEqual([]);
    await other.close();
  });

  it('goes with what is forgotten, in the same statement', async () => {
    await (await filled('erased')).close();
    expect(await pieces('erased')).toContain(SECRET);
    const other = await process('erased');
    await other.memory.forget('secret');
    expect(await rows('erased', 'page')).toEqual([]);
    expect(await rows('erased', 'saved_index')).toEqual([]);
    await other.close();
  });

  it('goes when the space is indexed anew', async () => {
    const first = await filled('anew');
    await first.close();
    const other = await process('anew');
    await other.memory.reindex();
    expect(await rows('anew', 'page')).toEqual([]);
    await other.close();
  });

  it('is one, when two processes save at the same time', async () => {
    const [first, second] = [await filled('two'), await process('two')];
    await second.memory.recall('coffee');
    await Promise.all([first.close(), second.close()]);
    const [saved, ...others] = await rows('two', 'saved_index');
    expect(others).toEqual([]);
    expect(new Set(await rows('two', 'page'))).toEqual(new Set([saved]));
    const third = await process('two');
    await third.memory.recall('coffee');
    expect(third.sent.filter(isOfAllRows)).toEqual([]);
    await third.close();
  });

  it('that is replaced while it is read is not half of one and half of the other', async () => {
    const first = await filled('switched');
    const expected = await answers(first);
    await first.close();
    let switches = true;
    const reader = await process('switched', async ({ text }) => {
      if (!isRead(text) || !switches) return;
      switches = false;
      const other = await process('switched');
      await other.memory.recall('tea');
      // As far behind as makes it save.
      await server.script('UPDATE switched.saved_index SET sequence = 0, usage = 0');
      await other.close();
    });
    const [before] = await rows('switched', 'saved_index');
    expect(await answers(reader)).toBe(expected);
    expect(switches).toBe(false);
    expect(await rows('switched', 'saved_index')).not.toEqual([before]);
    await reader.close();
  });

  it('is saved by nobody who has ranked nothing', async () => {
    const first = await filled('idle');
    await first.close();
    await server.script('DELETE FROM idle.saved_index; DELETE FROM idle.page');
    const second = await process('idle');
    await second.memory.stats();
    await second.close();
    expect(await rows('idle', 'saved_index')).toEqual([]);
    expect(second.sent.filter(isOfAllRows)).toEqual([]);
  });

  it('that was not saved to its end is read by nobody, and goes with the next one an hour later', async () => {
    const first = await filled('killed');
    await first.memory.recall('coffee');
    await first.close();
    await server.script('DELETE FROM killed.saved_index; DELETE FROM killed.page');
    let killed = false;
    const dying = await process('killed', (query) => {
      if (killed) throw new Error('the process is gone');
      killed = isPiece(query);
    });
    await dying.memory.recall('coffee');
    await dying.close();
    expect(killed).toBe(true);
    expect((await rows('killed', 'page')).length).toBeGreaterThan(0);
    expect(await rows('killed', 'saved_index')).toEqual([]);
    const [left] = await rows('killed', 'page');
    const second = await process('killed');
    await second.memory.recall('coffee');
    expect(second.sent.filter(isRead)).toEqual([]);
    await server.script(`UPDATE killed.page SET at = now() - interval '2 hours'`);
    await second.close();
    expect(await rows('killed', 'saved_index')).toHaveLength(1);
    expect(await rows('killed', 'page')).not.toContain(left);
  });

  it('of a large space is saved while it is open: a process that never closes it leaves it to the next one', async () => {
    const first = await process('early');
    await first.memory.rememberMany(
      Array.from({ length: 2000 }, (_, at) => ({ id: `m${at}`, content: `case ${at}` })),
    );
    await first.memory.recall('case 7', { strategy: 'bm25', limit: 1, track: false });
    expect(first.sent.filter(isOfAllRows).length).toBeGreaterThan(0);
    // Nobody waits for it.
    while ((await rows('early', 'saved_index')).length === 0) await new Promise(setImmediate);

    const second = await process('early');
    const { hits } = await second.memory.recall('case 7', { strategy: 'bm25', limit: 1, track: false });
    expect(hits[0]?.memory.id).toBe('m7');
    expect(second.sent.filter(isOfAllRows)).toEqual([]);
    await second.close();
    await first.close();
  });
});

describe('an index that is made of the rows', () => {
  it('has all of them, where most that lay between were forgotten', async () => {
    const first = await filled('sparse');
    await first.close();
    await server.script(
      'DELETE FROM sparse.saved_index; DELETE FROM sparse.page; DELETE FROM sparse.memory WHERE key BETWEEN 5 AND 290',
    );
    const second = await process('sparse');
    const { hits } = await second.memory.recall('Anna case', { strategy: 'bm25', limit: 300, track: false });
    expect(hits.map(({ memory: { id } }) => id).sort()).toEqual(
      [...[0, 1, 2, 3], ...[290, 291, 292, 293, 294, 295, 296, 297, 298]].map((at) => `m${at}`).sort(),
    );
    await second.close();
  });
});
