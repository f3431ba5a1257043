import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { migratePostgres, postgres } from '../../src/stores/postgres/index.ts';
import { HAS_POOLER, startPooler } from './pooler.ts';
import { type FreshSchema, freshSchema } from './server.ts';

describe.skipIf(!HAS_POOLER)('behind pgbouncer in transaction mode (needs a server, and pgbouncer)', () => {
  let fresh: FreshSchema;
  let pooler: Awaited<ReturnType<typeof startPooler>>;
  let url: string;

  beforeAll(async () => {
    fresh = freshSchema();
    pooler = await startPooler();
    url = pooler?.url ?? '';
  });
  afterAll(async () => {
    await pooler?.stop();
    await fresh?.[Symbol.asyncDispose]();
  });

  it('migrates, writes, recalls and learns; writers that overtake each other lose nothing', async () => {
    expect((await migratePostgres(url, { schema: fresh.schema })).from).toBe(0);
    const stores = [1, 2, 3].map(() => postgres(url, { schema: fresh.schema, maxConnections: 4 }));
    const memories = await Promise.all(stores.map((store) => openMemory({ store, space: 'alice' })));
    await Promise.all(
      memories.map(async (memory, at) => {
        for (let index = 0; index < 15; index++) {
          const content = `Statement ${index} of ${at} about harbour${at}x${index}`;
          const { id } = await memory.remember(content);
          const query = `harbour${at}x${index}`;
          await memory.recall(query, { strategy: 'five-factor', limit: 3 });
          const { hits } = await memory.recall(query, { strategy: 'bm25', limit: 1 });
          expect(hits.map((hit) => hit.memory.id)).toEqual([id]);
        }
      }),
    );
    const stats = await memories[0]?.stats();
    expect(stats?.memories).toBe(45);
    for (const store of stores) {
      const space = await store.openSpace('alice', { readOnly: true });
      expect(await space.check()).toEqual([]);
    }
    await Promise.all(stores.map((store) => store.close()));
    // What a write sets for itself is no setting of the connection that the next one gets.
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('lock_timeout') AS value");
    expect(rows).toEqual([{ value: '0' }]);
    await client.end();
  });
});
