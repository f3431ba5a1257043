import { afterAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import {
  migratePostgres,
  type PostgresPool,
  type PostgresQuery,
  postgres,
} from '../../src/stores/postgres/index.ts';
import { migrationScript, SCHEMA_VERSION } from '../../src/stores/postgres/schema.ts';
import { startPglite } from './pglite.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

const server = await startPglite();
afterAll(() => server[Symbol.asyncDispose]());

async function schemas(name: string): Promise<readonly unknown[]> {
  const text = 'SELECT nspname FROM pg_namespace WHERE nspname = $1';
  return (await server.pool.query({ text, values: [name], rowMode: 'array' })).rows;
}

describe('the schema of a database', () => {
  it.each(Array.from({ length: SCHEMA_VERSION - 1 }, (_, at) => at + 1))(
    'of version %i is brought up to date by writing, and refused for reading until then',
    async (version) => {
      const schema = `version_${version}`;
      await server.script(migrationScript(schema, 0, version));
      await server.script(
        `INSERT INTO ${schema}.space (space_id, name, stamp, settings, tombstone_key)
         VALUES ('${'2bd806c97f0e00af1a1fc3328fa763a9'}', 'alice', 's', '{"fading":{"mode":"off"},"timeZone":"UTC"}', '00')`,
      );
      const store = postgres(server.pool, { schema });
      await expect(store.openSpace('alice', { readOnly: true })).rejects.toMatchObject({
        code: 'store_read_only',
        details: { version },
      });
      const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      await memory.remember('Prefers tea');
      expect((await memory.recall('tea', { strategy: 'bm25' })).hits).toHaveLength(1);
      await store.close();
      expect(await migratePostgres(server.pool, { schema })).toEqual({
        from: SCHEMA_VERSION,
        to: SCHEMA_VERSION,
      });
    },
  );

  it('that another process makes or migrates is seen by a store that is open for reading', async () => {
    for (const version of [0, SCHEMA_VERSION - 1]) {
      const schema = `later_${version}`;
      if (version > 0) await server.script(migrationScript(schema, 0, version));
      const reading = postgres(server.pool, { schema });
      const open = () => reading.openSpace('alice', { readOnly: true });
      await expect(open()).rejects.toMatchObject({ code: version === 0 ? 'not_found' : 'store_read_only' });
      const writing = postgres(server.pool, { schema });
      await (await writing.openSpace('alice')).close();
      expect((await open()).name).toBe('alice');
      await Promise.all([reading.close(), writing.close()]);
    }
  });

  it('is not made where the server rounds numbers', async () => {
    const schema = 'rounding';
    await server.script('SET extra_float_digits = 0');
    try {
      const store = postgres(server.pool, { schema });
      const refused = { code: 'store_failed', message: expect.stringContaining('extra_float_digits is 0') };
      await expect(store.openSpace('alice')).rejects.toMatchObject(refused);
      await expect(migratePostgres(server.pool, { schema })).rejects.toMatchObject(refused);
      expect(await schemas(schema)).toEqual([]);
      await store.close();
    } finally {
      await server.script('RESET extra_float_digits');
    }
  });

  it('is not made in a database of another encoding; where it is there, a text that does not fit is an error that says so', async () => {
    const schema = 'latin';
    let failing = false;
    const latin: PostgresPool = {
      async query(query) {
        if (failing) throw Object.assign(new Error('no equivalent'), { code: '22P05' });
        const text = query.text.replace("current_setting('server_encoding')", "'LATIN1'");
        return server.pool.query({ ...query, text });
      },
    };
    const store = postgres(latin, { schema });
    const says = (what: RegExp) => ({ code: 'store_failed', message: expect.stringMatching(what) });
    await expect(store.openSpace('alice')).rejects.toMatchObject(says(/is LATIN1.*encoding UTF8/));
    expect(await schemas(schema)).toEqual([]);
    await migratePostgres(server.pool, { schema });
    const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    failing = true;
    await expect(memory.list()).rejects.toMatchObject(says(/cannot hold this text.*encoding UTF8/));
    failing = false;
    await store.close();
  });

  it.each([
    ['a table of ours', 'memory', '(id text)'],
    ['a table without a version', 'meta', '(key text, value text)'],
    ['a table with another version', 'meta', `AS SELECT 'schema' AS key, 'four' AS value`],
    ['a table with other columns', 'meta', '(name text)'],
    ['a table with other types', 'meta', '(key integer, value integer)'],
  ])('that has %s of another program is left as it is', async (what, table, columns) => {
    const schema = what.replaceAll(' ', '_');
    await server.script(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.${table} ${columns}`);
    const store = postgres(server.pool, { schema });
    const refused = {
      code: 'not_a_store',
      message: expect.stringMatching(/of another program.*choose another schema/),
    };
    await expect(store.openSpace('alice')).rejects.toMatchObject(refused);
    await expect(migratePostgres(server.pool, { schema })).rejects.toMatchObject(refused);
    const text = 'SELECT table_name FROM information_schema.tables WHERE table_schema = $1';
    const { rows } = await server.pool.query({ text, values: [schema], rowMode: 'array' });
    expect(rows).toEqual([[table]]);
    await store.close();
  });

  it('that is newer is used where it says that this version fits, else refused', async () => {
    const schema = 'newer';
    const open = async () => {
      const store = postgres(server.pool, { schema });
      try {
        const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
        return (await memory.remember('Prefers tea')).outcome;
      } finally {
        await store.close();
      }
    };
    await open();
    await server.script(`UPDATE ${schema}.meta SET value = '99' WHERE key = 'schema'`);
    await open();
    await server.script(`UPDATE ${schema}.meta SET value = '98' WHERE key = 'fits'`);
    await expect(open()).rejects.toMatchObject({ code: 'newer_store', details: { version: 99 } });
    await expect(migratePostgres(server.pool, { schema })).rejects.toMatchObject({ code: 'newer_store' });
  });
});

describe('a pool that does not do what is asked of it', () => {
  const named = (rows: readonly unknown[]) =>
    rows.map((row) => Object.fromEntries((row as unknown[]).map((value, at) => [`column${at}`, value])));
  const answers: readonly (readonly [string, (rows: readonly unknown[]) => unknown])[] = [
    ['rows as objects', (rows) => ({ rows: named(rows) })],
    ['rows without an object around them', (rows) => rows],
    ['nothing', () => undefined],
  ];

  it.each(answers)('and answers %s is refused by whatever opens it', async (what, answerOf) => {
    const pool = {
      query: async (query: PostgresQuery) => answerOf((await server.pool.query(query)).rows),
    } as PostgresPool;
    const refused = {
      code: 'invalid_argument',
      message: expect.stringMatching(/^store: the pool does not give rows as arrays; .*as pools of pg do$/),
      details: { field: 'store' },
    };
    const schema = what.replaceAll(' ', '_');
    for (const made of [false, true]) {
      if (made) await migratePostgres(server.pool, { schema });
      await using store = postgres(pool, { schema });
      for (const readOnly of [false, true])
        await expect(openMemory({ store, space: 'alice', readOnly })).rejects.toMatchObject(refused);
      await expect(migratePostgres(pool, { schema })).rejects.toMatchObject(refused);
      expect(await schemas(schema)).toHaveLength(made ? 1 : 0);
    }
  });
});

describe('a table that has lost a constraint', () => {
  const losses = [
    ['memory', 'memory_pkey', 'PRIMARY KEY (space_id, key)', '"space_id", "key"'],
    ['memory', 'memory_space_id_id_key', 'UNIQUE (space_id, id)', '"space_id", "id"'],
    ['link', 'link_pkey', 'PRIMARY KEY (space_id, a_id, b_id, kind)', '"space_id", "a_id", "b_id", "kind"'],
    ['space', 'space_pkey', 'PRIMARY KEY (space_id)', '"space_id"'],
    ['meta', 'meta_pkey', 'PRIMARY KEY (key)', '"key"'],
  ] as const;

  it.each(losses)('%s, of %s, is named by a check, with what to run', async (table, name, lost, columns) => {
    const schema = `lost_${name}`;
    await using store = postgres(server.pool, { schema });
    await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea');
    expect(await memory.check()).toEqual([]);
    await server.script(`ALTER TABLE ${schema}.${table} DROP CONSTRAINT ${name}`);
    const statement = `ALTER TABLE "${schema}".${table} ADD ${lost.split(' (')[0]} (${columns})`;
    expect(await memory.check()).toEqual([
      `the table ${table} has lost its ${lost}: as the owner of the tables, run ${statement}`,
    ]);
    // What holds for some rows only, or is checked at the end, does not serve in its place.
    await server.script(
      `CREATE UNIQUE INDEX ${name}_some ON ${schema}.${table} (${columns}) WHERE ${columns.split(',')[0]} IS NULL;
       ALTER TABLE ${schema}.${table} ADD UNIQUE (${columns}) DEFERRABLE`,
    );
    expect(await memory.check()).toHaveLength(1);
    await server.script(statement);
    expect(await memory.check()).toEqual([]);
  });

  it('is named by the write that fails, which works once it is there again', async () => {
    const schema = 'lost_by_a_write';
    await using store = postgres(server.pool, { schema });
    await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    await server.script(`ALTER TABLE ${schema}.memory DROP CONSTRAINT memory_pkey`);
    const refused = (await memory.remember('Prefers coffee', { id: 'b' }).catch((error) => error)) as Error;
    expect(refused).toMatchObject({
      code: 'store_failed',
      message: `PostgreSQL at the given pool: the table memory has lost its PRIMARY KEY (space_id, key): as the owner of the tables, run ALTER TABLE "${schema}".memory ADD PRIMARY KEY ("space_id", "key"); nothing was changed`,
    });
    expect(await memory.get('b')).toBeUndefined();
    await server.script(`ALTER TABLE ${schema}.event DROP CONSTRAINT event_pkey;
      ALTER TABLE ${schema}.space DROP CONSTRAINT space_pkey`);
    await expect(openMemory({ store, space: 'bob', embedder: 'none' })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringMatching(/table space .*2 more are missing; salience doctor lists them/),
    });
    await server.script((await memory.check()).map((problem) => problem.split(', run ')[1]).join(';'));
    expect(await memory.check()).toEqual([]);
    expect((await memory.remember('Prefers coffee', { id: 'b' })).outcome).toBe('created');
    await (await openMemory({ store, space: 'bob', embedder: 'none' })).close();
  });
});

describe.skipIf(SERVER === undefined)(`rights (${WITHOUT_SERVER})`, () => {
  it('on new tables are those that a user has on memories: who may only write goes on after the owner migrates', async () => {
    await using fresh = freshSchema();
    const { schema, url } = fresh;
    const user = `user_${schema}`;
    await fresh.script(migrationScript(schema, 0, 2));
    await fresh.script(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    try {
      await migratePostgres(url, { schema });
      const at = new URL(url);
      at.username = user;
      await using store = postgres(String(at), { schema });
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      await memory.remember('Prefers tea', { id: 'a' });
      expect((await memory.recall('tea')).hits).toHaveLength(1);
      await memory.forget('a');
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    }
  });

  it('to make schemas in the database are not needed by who owns the schema', async () => {
    await using fresh = freshSchema();
    const { schema, url } = fresh;
    const user = `user_${schema}`;
    await fresh.script(`CREATE ROLE ${user} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
    try {
      const at = new URL(url);
      at.username = user;
      expect(await migratePostgres(String(at), { schema })).toEqual({ from: 0, to: SCHEMA_VERSION });
      await using store = postgres(String(at), { schema });
      await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
      expect((await memory.remember('Prefers tea')).outcome).toBe('created');
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    }
  });
});
