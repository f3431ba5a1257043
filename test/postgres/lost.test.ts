import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { copySpaces, openMemory } from '../../src/index.ts';
import {
  LONGEST_SILENCE,
  openDatabase,
  sourceOfPool,
  sourceOfUrl,
} from '../../src/stores/postgres/connection.ts';
import { type PostgresPool, type PostgresQuery, postgres } from '../../src/stores/postgres/index.ts';
import { sql } from '../../src/stores/postgres/sql.ts';
import { startPglite } from './pglite.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

/** A pool that loses the connection of the statements that `loses` names, before they are done or after that. */
function losing(
  loses: (text: string) => boolean,
  when: string = 'after',
  before: (text: string) => void = () => {},
): PostgresPool & { lost: number } {
  const pool = {
    lost: 0,
    async query(query: PostgresQuery) {
      before(query.text);
      const isLost = loses(query.text);
      const answer = isLost && when === 'before' ? undefined : await server.pool.query(query);
      if (!isLost && answer) return answer;
      pool.lost++;
      throw failure('ECONNRESET');
    },
  };
  return pool;
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Loses the first write of a memory, and keeps whoever looks for it from looking, once for each of these errors. */
function losingAWrite(schema: string, fails: Error[]): PostgresPool {
  const pool = losing(
    (text) => pool.lost === 0 && text.includes(`INSERT INTO "${schema}".memory`),
    'after',
    () => {
      const error = pool.lost > 0 ? fails.shift() : undefined;
      if (error) throw error;
    },
  );
  return pool;
}

describe('a write whose connection was lost', () => {
  it.each(['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', '53300', '55P03', '57014'])(
    'is settled once it can be looked for, also where that fails at first with %s',
    async (code) => {
      const schema = `settled_${code.toLowerCase()}`;
      await using store = postgres(losingAWrite(schema, [failure(code)]), { schema });
      const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      expect(await memory.remember('Prefers tea', { id: 'a' })).toMatchObject({ outcome: 'created' });
      expect((await memory.activity('start')).entries).toHaveLength(1);
    },
  );

  it('is in doubt at once where the pool was ended', async () => {
    const ended = new Error('Cannot use a pool after calling end on the pool');
    const pool = losingAWrite('settled_ended', [ended]);
    await using store = postgres(pool, { schema: 'settled_ended', busyTimeout: 3_600_000 });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await expect(memory.remember('Prefers tea')).rejects.toMatchObject({
      code: 'store_failed',
      details: { inDoubt: true },
    });
  });

  it('is not done twice where it is in doubt', async () => {
    const schema = 'doubted';
    let loses = false;
    const pool = losing(
      (text) => loses && pool.lost === 0 && text.includes(`INSERT INTO "${schema}".usage`),
      'after',
      (text) => {
        if (text.includes('FOR UPDATE OF space')) throw failure('55P03');
      },
    );
    await using store = postgres(pool, { schema, busyTimeout: 1 });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea');
    const recalled = () => memory.recall('tea', { strategy: 'five-factor' });
    await recalled();
    loses = true;
    // Its use is decided on what it has read itself: only the write finds out whether that still holds.
    await expect(recalled()).rejects.toMatchObject({ details: { inDoubt: true } });
    const { rows } = await server.pool.query({
      text: `SELECT count(*)::text FROM ${schema}.usage`,
      values: [],
      rowMode: 'array',
    });
    expect(rows).toEqual([['2']]);
  });

  it('that published a reindex is found even if another write came before the look', async () => {
    const schema = 'reindex_published';
    await using other = postgres(server.pool, { schema });
    const writer = await openMemory({ store: other, space: 'alice', embedder: 'none' });
    await writer.rememberMany([{ content: 'Prefers tea' }, { content: 'Plays the cello' }]);
    let hasWritten = false;
    const pool: PostgresPool & { lost: number } = losing(
      (text) => pool.lost === 0 && /moved AS .*\bgeneration = /s.test(text),
    );
    await using store = postgres(
      {
        async query(query) {
          if (pool.lost > 0 && !hasWritten) {
            hasWritten = true;
            await writer.remember('Keeps bees');
          }
          return pool.query(query);
        },
      },
      { schema },
    );
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.reindex();
    expect({ lost: pool.lost, hasWritten }).toEqual({ lost: 1, hasWritten: true });
    expect(await memory.check()).toEqual([]);
    const { hits } = await memory.recall('tea or cello or bees', { strategy: 'bm25' });
    expect(hits).toHaveLength(3);
  });
});

describe('a copy whose connection was lost', () => {
  /** A space elsewhere to copy from. */
  const original = async () => {
    const { store } = await server.freshStore();
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.rememberMany([{ content: 'Prefers tea' }, { content: 'Plays the cello' }]);
    await memory.close();
    return store;
  };

  it.each([
    ['after', 'its last step was done', /SET copying = false/],
    ['after', 'rows were written', /INSERT INTO "\w+".memory/],
    ['before', 'its last step was done', /SET copying = false/],
    ['before', 'rows were written', /INSERT INTO "\w+".memory/],
  ])('%s %s is complete', async (when, what, statement) => {
    const schema = `copied_${when}_${what.slice(0, 3)}`;
    const pool = losing((text) => pool.lost === 0 && statement.test(text), when);
    await using store = postgres(pool, { schema });
    const [copy] = await copySpaces({ from: await original(), to: store, spaces: ['alice'] });
    expect(pool.lost).toBe(1);
    expect(copy?.rows.memory).toBe(2);
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    expect((await memory.list()).memories).toHaveLength(2);
    expect(await memory.check()).toEqual([]);
  });
});

describe('deleting a space whose connection was lost', () => {
  const deleting = async (when: 'before' | 'after') => {
    const pool = losing((text) => pool.lost === 0 && text.startsWith('DO $deletion$'), when);
    const store = postgres(pool, { schema: `deleted_${when}` });
    await (await openMemory({ store, space: 'alice', embedder: 'none' })).close();
    return store;
  };

  it('after it was done is done', async () => {
    await using store = await deleting('after');
    await store.deleteSpace('alice');
    expect(await store.listSpaces()).toEqual([]);
  });

  it('before it was done fails, and can be asked again', async () => {
    await using store = await deleting('before');
    await expect(store.deleteSpace('alice')).rejects.toMatchObject({ code: 'store_failed' });
    await store.deleteSpace('alice');
    expect(await store.listSpaces()).toEqual([]);
  });
});

describe.skipIf(SERVER === undefined)(`while another session holds the space (${WITHOUT_SERVER})`, () => {
  it('a write whose connection was lost is in doubt after busyTimeout', async () => {
    await using fresh = freshSchema();
    const real = new pg.Pool({ connectionString: fresh.url });
    const holder = new pg.Client(fresh.url);
    await holder.connect();
    let isLost = false;
    const pool: PostgresPool = {
      async query(query) {
        const answer = await real.query(query);
        if (isLost || !query.text.includes(`INSERT INTO "${fresh.schema}".memory`)) return answer;
        isLost = true;
        await holder.query(`BEGIN; UPDATE ${fresh.schema}.space SET at = at`);
        throw failure('ECONNRESET');
      },
    };
    await using store = postgres(pool, { schema: fresh.schema, busyTimeout: 100 });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await expect(memory.remember('Prefers tea')).rejects.toMatchObject({ details: { inDoubt: true } });
    await holder.end();
    await real.end();
  });
});

describe('a server that no longer answers', () => {
  it('is waited for five seconds at most when a store is closed', async () => {
    let hear = () => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    // It lets everybody in, and answers nothing.
    const hole = createServer((socket) => {
      socket.once('data', () => {
        socket.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex'));
        socket.once('data', hear);
      });
    }).listen(0, '127.0.0.1');
    await once(hole, 'listening');
    const { port } = hole.address() as AddressInfo;
    const database = openDatabase(
      sourceOfUrl(`postgresql://user@127.0.0.1:${port}/none`, { connectTimeout: 60_000 }),
      'none',
      1000,
    );
    const running = expect(database.run(sql`SELECT 1`)).rejects.toThrow();
    await heard;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const closed: string[] = [];
      const space = database.unlessSilent(new Promise(() => {})).then(() => closed.push('space'));
      const store = database.close().then(() => closed.push('store'));
      await vi.advanceTimersByTimeAsync(LONGEST_SILENCE - 1);
      expect(closed).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await Promise.all([space, store, running]);
    } finally {
      vi.useRealTimers();
      hole.close();
    }
  });
});

describe('a client that breaks as it passes from one to the next', () => {
  it('does not end the program', async () => {
    const unheard: unknown[] = [];
    const asked: (() => void)[] = [];
    /** A client of a pool of `pg`, which breaks in the moment in which it has answered. */
    class Client extends EventEmitter {
      _queryable = true;
      connect(done: () => void) {
        done();
      }
      query(_query: unknown, _values: unknown, done?: (error: undefined, answer: object) => void) {
        if (!done) return Promise.reject(new Error('Client has encountered a connection error'));
        asked.push(() => {
          done(undefined, { rows: [] });
          this._queryable = false;
          try {
            this.emit('error', new Error('terminating connection'));
          } catch (error) {
            unheard.push(error);
          }
        });
        return undefined;
      }
      end(done: () => void) {
        done();
      }
    }
    const pool = new pg.Pool({ max: 1, Client } as unknown as pg.PoolConfig);
    const database = openDatabase(sourceOfPool(pool), 'none', 1000);
    const running = database.run(sql`SELECT 1`);
    await expect.poll(() => asked.length).toBe(1);
    const waiting = expect(database.transaction('BEGIN', async () => undefined)).rejects.toThrow(
      'connection error',
    );
    await expect.poll(() => pool.waitingCount).toBe(1);
    asked[0]?.();
    expect(await running).toEqual([]);
    await waiting;
    expect(unheard).toEqual([]);
    await pool.end();
  });

  it('a pool is listened to once, however many stores it has', () => {
    const pool = new pg.Pool();
    for (let store = 0; store < 3; store++) sourceOfPool(pool);
    expect(pool.listenerCount('acquire')).toBe(1);
  });
});
