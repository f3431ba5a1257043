import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { TABLES } from '../../src/stores/postgres/tables.ts';
import { startPglite } from './pglite.ts';
import { type FreshSchema, freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const pglite = await startPglite();
afterAll(() => pglite[Symbol.asyncDispose]());

/** Holds the row of the space until it is called. */
async function holdSpace({ url, schema }: FreshSchema): Promise<() => Promise<void>> {
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.space FOR UPDATE`);
  return async () => {
    await holder.query('COMMIT');
    await holder.end();
  };
}

async function untilWaiting({ script, schema }: FreshSchema, count: number): Promise<void> {
  for (let waiting = 0; waiting < count; ) {
    const { rows } = await script(
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%' AND pid <> pg_backend_pid()`,
    );
    waiting = rows[0].count;
  }
}

const rowsLeft = (schema: string) =>
  `SELECT ${['space', ...Object.keys(TABLES)].map((table) => `(SELECT count(*) FROM ${schema}.${table})`).join(' + ')} AS count`;

describe('deleting a space', () => {
  it('leaves nothing that a reindex writes meanwhile', async () => {
    const schema = 'reindexed';
    await using other = postgres(pglite.pool, { schema });
    let deletes = false;
    await using store = postgres(
      {
        async query(query) {
          if (deletes && query.text.includes(`INSERT INTO "${schema}".derived`)) {
            deletes = false;
            await other.deleteSpace('alice');
          }
          return pglite.pool.query(query);
        },
      },
      { schema },
    );
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    deletes = true;
    await expect(memory.reindex()).rejects.toMatchObject({ code: 'not_found' });
    const { rows } = await pglite.pool.query({ text: rowsLeft(schema), values: [], rowMode: 'array' });
    expect(Number((rows as string[][])[0]?.[0])).toBe(0);
  });

  it('closes what is open of it when it is gone, and not where it fails', async () => {
    let fails = true;
    await using store = postgres(
      {
        async query(query) {
          if (fails && /DELETE FROM .*space/.test(query.text))
            throw Object.assign(new Error('lock timeout'), { code: '55P03' });
          return pglite.pool.query(query);
        },
      },
      { schema: 'kept_open' },
    );
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await expect(store.deleteSpace('alice')).rejects.toMatchObject({ code: 'store_busy' });
    await memory.remember('Prefers tea', { id: 'a' });
    fails = false;
    await store.deleteSpace('alice');
    await expect(memory.get('a')).rejects.toMatchObject({ code: 'closed' });
  });
});

describe.skipIf(SERVER === undefined)(`while others have the space (${WITHOUT_SERVER})`, () => {
  it('deleting it leaves nothing that was written before', async () => {
    await using fresh = freshSchema();
    const memory = await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    const letGo = await holdSpace(fresh);
    const writing = memory.remember('Plays the cello', { id: 'b' });
    await untilWaiting(fresh, 1);
    const deleting = fresh.open().deleteSpace('alice');
    await untilWaiting(fresh, 2);
    await letGo();
    await Promise.all([writing, deleting]);
    const { rows } = await fresh.script(rowsLeft(fresh.schema));
    expect(Number(rows[0].count)).toBe(0);
  });

  it('nothing waits longer than busyTimeout: not a deletion, and not a recall that is recorded', async () => {
    await using fresh = freshSchema();
    const store = fresh.open({ busyTimeout: 100 });
    const memory = await openMemory({
      store,
      space: 'alice',
      embedder: 'none',
      recordRecalls: { days: 30, texts: true },
    });
    await memory.remember('Prefers tea', { id: 'a' });
    const letGo = await holdSpace(fresh);
    try {
      await expect(store.deleteSpace('alice')).rejects.toMatchObject({ code: 'store_busy' });
      const { hits, trace } = await memory.recall('tea', { strategy: 'bm25' });
      expect(hits.map((hit) => hit.memory.id)).toEqual(['a']);
      expect(trace.recallId).toBeUndefined();
    } finally {
      await letGo();
    }
  });
});
