import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SalienceError } from '../../src/domain/errors.ts';
import { createSharedIdempotencyKeys } from '../../src/http/shared-idempotency.ts';
import { openMemory } from '../../src/index.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { startPglite, type TestServer } from './pglite.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPglite();
});
afterAll(() => server[Symbol.asyncDispose]());

const answer = { status: 201, headers: {}, body: '{}' };

/** A store whose connection may be lost at the write of a memory, and two servers' keys over it. */
async function twoServers(schema: string, losing: 'nothing' | 'before' | 'after' = 'nothing') {
  const controller = new AbortController();
  let loses = losing;
  let isLost = false;
  const pool: PostgresPool = {
    async query(query) {
      const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      const isWrite = query.text.includes(`INSERT INTO "${schema}".memory`);
      // Looking whether it was done fails, too; what comes after that does not.
      if (isLost && query.text.includes('FOR UPDATE')) throw lost();
      if (!isWrite || loses === 'nothing') return server.pool.query(query);
      const how = loses;
      loses = 'nothing';
      isLost = true;
      if (how === 'after') await server.pool.query(query);
      controller.abort();
      throw lost();
    },
  };
  const store = postgres(pool, { schema });
  const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  if (!store.shared) throw new Error('the store shares texts');
  const { shared } = store;
  const keys = () =>
    createSharedIdempotencyKeys(
      shared,
      () => Date.UTC(2026, 0, 1),
      async () => {},
    );
  const remember = (signal?: AbortSignal) => async () => {
    await memory.remember('Prefers tea', { signal });
    return answer;
  };
  return { store, memory, one: keys(), two: keys(), remember, signal: controller.signal };
}

describe('an idempotency key', () => {
  it('is committed with its write: who asks again after the server has ended knows that it was done', async () => {
    const { store, memory, one, two, remember } = await twoServers('ended');
    const written = new Promise<void>((resolve) => {
      void one.once('k', 'POST a', async () => {
        await remember()();
        resolve();
        // The server ends before it answers.
        return new Promise(() => {});
      });
    });
    await written;
    await expect(two.once('k', 'POST a', remember())).rejects.toMatchObject({
      code: 'already_exists',
      details: { inDoubt: false },
    });
    expect((await memory.list()).memories).toHaveLength(1);
    await store.close();
  });

  it('gives its answer again where nothing was written: another server does not do the work', async () => {
    const { store, memory, one, two, remember } = await twoServers('known');
    await remember()();
    const works: unknown[] = [];
    const work = async () => {
      works.push(await memory.remember('Prefers tea'));
      return { ...answer, body: JSON.stringify(works) };
    };
    const first = await one.once('k', 'POST a', work);
    expect(await two.once('k', 'POST a', work)).toEqual({ answer: first.answer, replayed: true });
    expect(works).toMatchObject([{ outcome: 'deduplicated' }]);
    expect((await memory.list()).memories).toHaveLength(1);
    await store.close();
  });

  it.each([
    ['after', 'already_exists', 1],
    ['before', 'store_busy', 0],
  ] as const)(
    'does no work again whose connection was lost %s it was done',
    async (losing, code, memories) => {
      const { store, memory, one, two, remember, signal } = await twoServers(`lost_${losing}`, losing);
      await expect(one.once('k', 'POST a', remember(signal))).rejects.toMatchObject({
        details: { inDoubt: true },
      });
      // A statement that did not arrive yet may still do so.
      for (const server of [one, two]) {
        await expect(server.once('k', 'POST a', remember())).rejects.toMatchObject({ code });
      }
      expect((await memory.list()).memories).toHaveLength(memories);
      await store.close();
    },
  );

  it('is kept where something failed after the write, whatever the error', async () => {
    const { store, memory, one, two, remember } = await twoServers('failed');
    const work = async () => {
      await remember()();
      throw new SalienceError('store_failed', 'the connection ended');
    };
    await expect(one.once('k', 'POST a', work)).rejects.toMatchObject({ code: 'store_failed' });
    await expect(two.once('k', 'POST a', remember())).rejects.toMatchObject({ code: 'already_exists' });
    await expect(one.once('k', 'POST a', remember())).rejects.toMatchObject({ code: 'already_exists' });
    expect((await memory.activity('start')).entries).toHaveLength(1);
    await store.close();
  });
});
