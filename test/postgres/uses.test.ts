import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

/*
 * A statement sees the tables as they were when it began. One that then waits for another use must still add to what that one
 * left, and log that it found it.
 */
describe.skipIf(SERVER === undefined)(`uses at the same time (${WITHOUT_SERVER})`, () => {
  const fresh = freshSchema();
  const pools: pg.Pool[] = [];
  afterAll(async () => {
    for (const pool of pools) await pool.end();
    await fresh[Symbol.asyncDispose]();
  });

  it.each([
    ['five-factor', 'count'],
    ['balanced', 'see'],
  ] as const)('%s: each adds to what the one before left, with one statement', async (strategy, effect) => {
    const writes: string[] = [];
    const open = async (): Promise<MemoryEngine> => {
      const pool = new pg.Pool({ connectionString: fresh.url, max: 2 });
      pools.push(pool);
      const counted: PostgresPool = {
        query(query) {
          if (query.text.includes('INSERT INTO')) writes.push(query.text);
          return pool.query(query);
        },
      };
      return openMemory({
        store: postgres(counted, { schema: fresh.schema }),
        space: effect,
        ...(effect === 'see' && { fading: 'retention' }),
      });
    };
    const first = await open();
    const { id } = await first.remember('Anna drinks coffee');
    const all = [first, await open(), await open()];
    for (const each of all) await each.recall('coffee', { strategy, track: false });
    writes.length = 0;

    const holder = new pg.Client(fresh.url);
    await holder.connect();
    await holder.query(`BEGIN; SELECT 1 FROM ${fresh.schema}.space WHERE name = '${effect}' FOR UPDATE`);
    const recalls = all.map((each) => each.recall('coffee', { strategy }));
    for (let waiting = 0; waiting < all.length; ) {
      const { rows } = await fresh.script(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'WITH patience%${fresh.schema}%'
          AND pid <> pg_backend_pid()`,
      );
      waiting = rows[0].count;
    }
    await holder.query('COMMIT');
    await holder.end();
    await Promise.all(recalls);

    expect(writes).toHaveLength(all.length);
    const { rows } = await fresh.script(
      `SELECT effect, used, before FROM ${fresh.schema}.usage JOIN ${fresh.schema}.space USING (space_id) WHERE name = '${effect}' ORDER BY usage.sequence`,
    );
    expect(rows.map((row) => row.effect)).toEqual([effect, effect, effect]);
    const found = rows.map((row) => JSON.parse(row.before).memories[0]);
    const record = await first.get(id);
    if (effect === 'count') {
      expect(record?.accessCount).toBe(3);
      expect(found.map((each) => each.accessCount)).toEqual([0, 1, 2]);
    } else {
      // What the first one left, and not what all three had read.
      expect(found.map((each) => each.seen === undefined)).toEqual([true, false, false]);
    }
    for (const each of all) await each.close();
  });
});
