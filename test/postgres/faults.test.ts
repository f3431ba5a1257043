import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBinaries, startServer, type TestServer } from '../../scripts/postgres-server.mjs';
import { SalienceError } from '../../src/domain/errors.ts';
import { type MemoryEngine, openMemory } from '../../src/index.ts';
import { migratePostgres, type PostgresPool, postgres } from '../../src/stores/postgres/index.ts';
import { SCHEMA_VERSION } from '../../src/stores/postgres/schema.ts';
import { scaledRuns } from '../../src/testing/runs.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const binaries = findBinaries();
/** How often the server is ended under load. */
const CRASHES = scaledRuns(2);

/** What a store says of a URL that cannot be used. */
async function refusal(url: string, options: Parameters<typeof postgres>[1] = {}): Promise<SalienceError> {
  const error: unknown = await (async () => {
    await using store = postgres(url, { connectTimeout: 2000, ...options });
    return await openMemory({ store, space: 'alice', embedder: 'none' });
  })().catch((reason: unknown) => reason);
  if (!SalienceError.isInstance(error)) throw new Error(`expected a typed error, not ${inspect(error)}`);
  return error;
}

async function allIds(memory: MemoryEngine): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await memory.list({ limit: 1000, cursor });
    ids.push(...page.memories.map(({ id }) => id));
    if (page.nextCursor === undefined) return ids;
    cursor = page.nextCursor;
  }
}

describe('what is no URL', () => {
  it.each(['', 'localhost', 'mysql://u:canary@h/d', 'postgresql://u:can%ary@h/d%', '/var/lib/canary'])(
    'is refused: %s',
    async (url) => {
      expect(() => postgres(url)).toThrow(/postgresql:\/\/user@host/);
      expect(() => postgres(url)).not.toThrow(/canary/);
    },
  );

  it('a pool that is none and a schema that is no name are refused too', () => {
    expect(() => postgres({} as never)).toThrow(/a pool such as/);
    expect(() => postgres('postgresql://h/d', { schema: 'x"; DROP' })).toThrow(/schema/);
    expect(() => postgres('postgresql://h/d', { unknown: 1 } as never)).toThrow(/unknown/);
  });

  it('a pool that was ended is an error that says so', async () => {
    const pool = new pg.Pool({ connectionString: 'postgresql://user@127.0.0.1:9/none' });
    await pool.end();
    const error = await openMemory({ store: postgres(pool), space: 'alice' }).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'closed', message: expect.stringMatching(/given pool.*was ended/) });
  });

  it('a server that is not there is an error that says so, without the password', async () => {
    const error = await refusal('postgresql://user:canary@127.0.0.1:9/none');
    expect(error).toMatchObject({ code: 'store_failed' });
    expect(error.message).toContain('127.0.0.1:9/none');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('canary');
  });
});

describe.skipIf(SERVER === undefined)(`a real server (${WITHOUT_SERVER})`, () => {
  it('names what is wrong: database, schema version, rights', async () => {
    await using fresh = freshSchema();
    const store = fresh.open();
    await (await openMemory({ store, space: 'alice', embedder: 'none' })).close();
    const { schema } = fresh;

    const other = new URL(fresh.url);
    other.pathname = '/not-there';
    expect(await refusal(String(other))).toMatchObject({ code: 'store_failed', details: { code: '3D000' } });

    const user = `user_${schema}`;
    await fresh.script(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    try {
      const reader = new URL(fresh.url);
      reader.username = user;
      await using readers = postgres(String(reader), { schema });
      await using memory = await openMemory({
        store: readers,
        space: 'alice',
        readOnly: true,
        embedder: 'none',
      });
      expect((await memory.list()).memories).toEqual([]);
      const writing = await openMemory({ store: readers, space: 'alice', embedder: 'none' });
      await expect(writing.remember('anything')).rejects.toMatchObject({ code: 'store_read_only' });
      expect(await refusal(String(reader), { schema: `${schema}_2` })).toMatchObject({
        code: 'store_read_only',
      });
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    }

    expect(await migratePostgres(fresh.url, { schema: `${schema}_3` })).toEqual({
      from: 0,
      to: SCHEMA_VERSION,
    });
    expect(await migratePostgres(fresh.url, { schema: `${schema}_3` })).toEqual({
      from: SCHEMA_VERSION,
      to: SCHEMA_VERSION,
    });
    await fresh.script(`DROP SCHEMA ${schema}_3 CASCADE`);

    await fresh.script(`UPDATE ${schema}.meta SET value = '99'`);
    expect(await refusal(fresh.url, { schema })).toMatchObject({ code: 'newer_store' });
  });

  it('a setting of the user is mended as the message says', async () => {
    await using fresh = freshSchema();
    await (await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' })).close();
    const user = `user_${fresh.schema}`;
    await fresh.script(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${fresh.schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${fresh.schema} TO ${user}`);
    const url = new URL(fresh.url);
    url.username = user;
    let written = 0;
    const write = async () => {
      await using store = postgres(String(url), { schema: fresh.schema });
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      // A text that is there already needs no write.
      await memory.remember(`Prefers tea number ${++written}`);
    };
    try {
      for (const [wrong, code] of [
        ['SET extra_float_digits = 0', 'store_failed'],
        ['SET default_transaction_read_only = on', 'store_read_only'],
        ['CONNECTION LIMIT 0', 'store_busy'],
      ]) {
        await fresh.script(`ALTER ROLE ${user} ${wrong}`);
        const error = await write().catch((reason: unknown) => reason as SalienceError);
        expect(error).toMatchObject({ code });
        const [, advice = ''] = /ALTER ROLE … ([^,).]+)/.exec(String(error)) ?? [];
        await fresh.script(`ALTER ROLE ${user} ${advice === 'CONNECTION LIMIT' ? `${advice} 9` : advice}`);
        await write();
      }
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    }
  });

  it('a lock that is held too long, a statement that takes too long and a pool without connections are typed errors', async () => {
    await using fresh = freshSchema();
    await using memory = await openMemory({
      store: fresh.open({ busyTimeout: 300 }),
      space: 'alice',
      embedder: 'none',
    });
    await memory.remember('Prefers tea', { id: 'a' });
    const holder = new pg.Client(fresh.url);
    await holder.connect();
    try {
      await holder.query(`BEGIN; UPDATE ${fresh.schema}.space SET at = at`);
      await expect(memory.remember('Prefers coffee')).rejects.toMatchObject({ code: 'store_busy' });
      // Reads wait for nobody.
      expect((await memory.recall('tea')).hits[0]?.memory.id).toBe('a');

      const impatient = new pg.Pool({ connectionString: fresh.url, max: 1, statement_timeout: 200 });
      await using store = postgres(impatient, { schema: fresh.schema, busyTimeout: 10_000 });
      const other = await openMemory({ store, space: 'alice', embedder: 'none' });
      await expect(other.remember('Prefers water')).rejects.toMatchObject({ code: 'timed_out' });
      await impatient.end();

      const small = new pg.Pool({ connectionString: fresh.url, max: 1, connectionTimeoutMillis: 200 });
      const held = await small.connect();
      await using empty = postgres(small, { schema: fresh.schema });
      await expect(openMemory({ store: empty, space: 'alice', embedder: 'none' })).rejects.toMatchObject({
        code: 'store_busy',
      });
      held.release();
      await (await openMemory({ store: empty, space: 'alice', embedder: 'none' })).close();
      await small.end();
    } finally {
      await holder.query('ROLLBACK');
      await holder.end();
    }
    await memory.remember('Prefers coffee', { id: 'b' });
    expect((await memory.list()).memories.map(({ id }) => id).sort()).toEqual(['a', 'b']);
  });

  it('a query_timeout of the pool is a typed error of a read, and settled under a write', async () => {
    await using fresh = freshSchema();
    await using memory = await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    const holder = new pg.Client(fresh.url);
    await holder.connect();
    const impatient = new pg.Pool({ connectionString: fresh.url, query_timeout: 300 });
    let onTimeout = async () => {};
    const watched: PostgresPool = {
      query: async (query) => {
        try {
          return await impatient.query(query);
        } catch (error) {
          await onTimeout();
          throw error;
        }
      },
    };
    try {
      await using store = postgres(watched, { schema: fresh.schema });
      const other = await openMemory({ store, space: 'alice', embedder: 'none' });
      await holder.query(`BEGIN; LOCK TABLE ${fresh.schema}.memory`);
      await expect(other.list()).rejects.toMatchObject({
        code: 'timed_out',
        message: expect.stringContaining('query_timeout'),
      });
      await holder.query(`ROLLBACK; BEGIN; SELECT * FROM ${fresh.schema}.space FOR UPDATE`);
      onTimeout = async () => void (await holder.query('ROLLBACK'));
      expect((await other.remember('Prefers water', { id: 'b' })).outcome).toBe('created');
    } finally {
      await holder.end();
      await impatient.end();
    }
    expect((await memory.history('b')).length).toBe(1);
  });

  it('a connection that is ended under a write settles by itself: it is written once', async () => {
    await using fresh = freshSchema();
    await using memory = await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' });
    const ending = new pg.Client(fresh.url);
    await ending.connect();
    let done = false;
    const enemy = (async () => {
      while (!done) {
        await ending.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid <> pg_backend_pid() AND query LIKE '%${fresh.schema}%' AND random() < 0.2`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    const acknowledged: string[] = [];
    for (let index = 0; index < 200; index++) {
      const id = `m${index}`;
      try {
        acknowledged.push((await memory.remember(`statement number ${index}`, { id })).id);
      } catch (error) {
        expect(error).toMatchObject({ code: 'store_failed' });
      }
    }
    done = true;
    await enemy;
    await ending.end();
    const { memories, total } = await memory.list({ limit: 1000, count: true });
    const ids = memories.map(({ id }) => id);
    expect(new Set(ids).size).toBe(total);
    expect(ids).toEqual(expect.arrayContaining(acknowledged));
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(await memory.check()).toEqual([]);
  });
});

describe.skipIf(binaries === undefined || SERVER === undefined)(
  `a server of its own (${WITHOUT_SERVER})`,
  () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await startServer(binaries ?? '');
    });
    afterAll(() => server.stop());

    it(`${CRASHES} crashes under load: nothing acknowledged is lost, and nothing is there twice`, async () => {
      await using store = postgres(server.url, { busyTimeout: 60_000 });
      const spaces = await Promise.all(
        ['a', 'b', 'c'].map((space) => openMemory({ store, space, embedder: 'none' })),
      );
      const acknowledged = spaces.map((): string[] => []);
      let running = true;
      const load = spaces.map(async (memory, at) => {
        for (let index = 0; running; index++) {
          const id = `${at}-${index}`;
          try {
            const { outcome } = await memory.remember(`statement ${id}`, { id });
            expect(outcome).toBe('created');
            acknowledged[at]?.push(id);
            await memory.recall(`statement ${id}`, { strategy: 'five-factor' });
          } catch (error) {
            // A read does not wait for a server that is gone.
            expect(error).toMatchObject({ code: 'store_failed' });
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        }
      });
      for (let crash = 0; crash < CRASHES; crash++) {
        const goal = acknowledged.flat().length + 60;
        while (acknowledged.flat().length < goal) await new Promise((resolve) => setTimeout(resolve, 5));
        await server.crash();
      }
      running = false;
      await Promise.all(load);
      for (const [at, memory] of spaces.entries()) {
        const ids = await allIds(memory);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual(expect.arrayContaining(acknowledged[at] ?? []));
        expect(await memory.check()).toEqual([]);
        await memory.close();
      }
    });

    it('a password is in no message, and a wrong one is an error that says so', async () => {
      const canary = `canary${randomBytes(6).toString('hex')}`;
      const admin = new pg.Client(server.url);
      await admin.connect();
      await admin.query(`CREATE ROLE secretive LOGIN PASSWORD '${canary}' SUPERUSER`);
      const { rows } = await admin.query('SHOW hba_file');
      const hba = (rows[0] as { hba_file: string }).hba_file;
      await admin.query(
        `COPY (SELECT line FROM (SELECT 0 AS n, 'host all secretive 127.0.0.1/32 scram-sha-256' AS line
          UNION ALL SELECT 1, 'host all all 127.0.0.1/32 trust' UNION ALL SELECT 2, 'local all all trust') AS l ORDER BY n) TO '${hba}'`,
      );
      await admin.query('SELECT pg_reload_conf()');
      await admin.end();
      const at = new URL(server.url);
      at.username = 'secretive';
      const without = String(at);
      at.password = `${canary}wrong`;
      const wrong = await refusal(String(at));
      expect(wrong).toMatchObject({ code: 'store_failed', details: { code: '28P01' } });
      const none = await refusal(without);
      expect(none.message).toMatch(/asks for a password/);
      at.password = canary;
      await using store = postgres(String(at), { schema: 'with_password' });
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      await memory.remember('Prefers tea');
      const said = [wrong, none, store, memory, await memory.stats()].map((each) =>
        inspect(each, { depth: 9, showHidden: true }),
      );
      expect(said.join('\n')).not.toContain(canary);
    });
  },
);
