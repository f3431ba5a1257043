import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { startPglite } from './pglite.ts';
import { HAS_POOLER, startPooler } from './pooler.ts';
import { type FreshSchema, freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

/** Statements on this schema that wait for a lock. */
async function waiting({ schema, script }: FreshSchema): Promise<number> {
  const { rows } = await script(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}"%'`,
  );
  return (rows[0] as { count: number }).count;
}

async function until(count: number, fresh: FreshSchema): Promise<void> {
  while ((await waiting(fresh)) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** What is asked for while `lock` is held, and given up when it waits. Until the end nobody lets go of the lock. */
async function givenUp(
  fresh: FreshSchema,
  lock: string,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const holder = new pg.Client(fresh.url);
  await holder.connect();
  try {
    await holder.query(`BEGIN; ${lock}`);
    const controller = new AbortController();
    const asked = work(controller.signal);
    asked.catch(() => undefined);
    await until(1, fresh);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'aborted' });
    await until(0, fresh);
  } finally {
    await holder.query('ROLLBACK');
    await holder.end();
  }
}

describe.skipIf(SERVER === undefined)(`what a caller gives up (${WITHOUT_SERVER})`, () => {
  const pooler = startPooler();
  afterAll(async () => (await pooler)?.stop());

  it.each(['alone', ...(HAS_POOLER ? ['pgbouncer'] : [])])(
    'is cancelled on the server (%s): recalls, reads and writes',
    async (through) => {
      await using fresh = freshSchema();
      const url = (through === 'pgbouncer' && (await pooler)?.url) || fresh.url;
      // Even where the statement has the only connection.
      await using store = postgres(url, { schema: fresh.schema, maxConnections: 1, busyTimeout: 60_000 });
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      await memory.remember('Prefers tea', { id: 'a' });
      const table = `LOCK TABLE ${fresh.schema}.memory IN ACCESS EXCLUSIVE MODE`;
      await givenUp(fresh, table, (signal) => memory.recall('tea', { signal }));
      await givenUp(fresh, table, (signal) => memory.list({ signal }));
      const row = `UPDATE ${fresh.schema}.space SET at = at`;
      await givenUp(fresh, row, (signal) => memory.remember('Prefers coffee', { id: 'b', signal }));
      expect((await memory.list()).memories.map(({ id }) => id)).toEqual(['a']);
      expect((await memory.recall('tea', { signal: new AbortController().signal })).hits).toHaveLength(1);
      await memory.remember('Prefers water', { id: 'c', signal: new AbortController().signal });
      expect(await memory.check()).toEqual([]);
    },
  );
});

describe('a write that is given up', () => {
  it('while its connection is lost is said to be in doubt, and not waited for', async () => {
    await using pglite = await startPglite();
    const controller = new AbortController();
    let isLost = false;
    const pool: PostgresPool = {
      async query(query) {
        const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
        if (isLost) throw lost();
        const answer = await pglite.pool.query(query);
        if (!query.text.includes('INSERT INTO "doubt".memory')) return answer;
        isLost = true;
        controller.abort();
        throw lost();
      },
    };
    await using store = postgres(pool, { schema: 'doubt', busyTimeout: 3_600_000 });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await expect(memory.remember('Prefers tea', { signal: controller.signal })).rejects.toMatchObject({
      code: 'store_failed',
      details: { inDoubt: true },
    });
    isLost = false;
    // It was done, as whoever reads finds.
    expect((await memory.list()).memories).toHaveLength(1);
  });

  it('after it was done is done', async () => {
    await using pglite = await startPglite();
    const controller = new AbortController();
    const pool: PostgresPool = {
      async query(query) {
        const answer = await pglite.pool.query(query);
        if (query.text.includes('INSERT INTO "done".memory')) controller.abort();
        return answer;
      },
    };
    await using store = postgres(pool, { schema: 'done' });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    expect(await memory.remember('Prefers tea', { signal: controller.signal })).toMatchObject({
      outcome: 'created',
    });
    await expect(memory.recall('tea', { signal: controller.signal })).rejects.toMatchObject({
      code: 'aborted',
    });
  });
});
