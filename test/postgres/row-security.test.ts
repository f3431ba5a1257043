import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { postgres } from '../../src/stores/postgres/index.ts';
import { TABLES } from '../../src/stores/postgres/tables.ts';
import { freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

/*
 * A user of the database for each space, which row-level security keeps from all others, as the guide says. The policies name a
 * setting of the user, so that nothing depends on a session.
 */
describe.skipIf(SERVER === undefined)(`row-level security (${WITHOUT_SERVER})`, () => {
  const fresh = freshSchema();
  const { schema } = fresh;
  const users = { alice: `${schema}_alice`, bob: `${schema}_bob` };
  const urlOf = (user: string) => {
    const url = new URL(fresh.url);
    url.username = user;
    return String(url);
  };
  const spaceOf = (name: string) => `substr(encode(sha256('${name}'), 'hex'), 1, 32)`;

  beforeAll(async () => {
    const owner = await openMemory({ store: fresh.open(), space: 'owner' });
    await owner.close();
    const tables = ['space', ...Object.keys(TABLES)];
    await fresh.script(`
      ${tables
        .map(
          (table) => `ALTER TABLE ${schema}.${table} ENABLE ROW LEVEL SECURITY;
            CREATE POLICY own ON ${schema}.${table} USING (space_id = current_setting('salience.space_id')::uuid);`,
        )
        .join('\n')}
      ${Object.entries(users)
        .map(
          ([space, user]) => `CREATE ROLE ${user} LOGIN;
            DO $$ BEGIN EXECUTE format('ALTER ROLE ${user} SET salience.space_id = %L', ${spaceOf(space)}); END $$;
            GRANT USAGE ON SCHEMA ${schema} TO ${user};
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};`,
        )
        .join('\n')}`);
  });
  afterAll(async () => {
    await fresh.script(
      Object.values(users)
        .map((user) => `DROP OWNED BY ${user}; DROP ROLE ${user};`)
        .join(' '),
    );
    await fresh[Symbol.asyncDispose]();
  });

  it('every verb works for the user of a space', async () => {
    await using store = postgres(urlOf(users.alice), { schema });
    const memory = await openMemory({ store, space: 'alice', fading: 'retention' });
    const { id } = await memory.remember('Anna drinks coffee', { sessionId: 's1', metadata: { cup: 'red' } });
    const { id: other } = await memory.remember('Anna drinks tea', { sessionId: 's1' });
    for (const strategy of ['hybrid', 'five-factor', 'retention'] as const)
      expect((await memory.recall('coffee', { strategy })).hits[0]?.memory.id).toBe(id);
    await memory.update(id, { content: 'Anna drinks black coffee' });
    await memory.undo();
    await memory.maintain();
    await memory.forget(other);
    expect((await memory.list()).memories.map((each) => each.id)).toEqual([id]);
    await memory.close();
    expect(await store.listSpaces()).toEqual(['alice']);
  });

  it('the user of another space sees and writes nothing of it', async () => {
    await using alice = postgres(urlOf(users.alice), { schema });
    const memory = await openMemory({ store: alice, space: 'alice' });
    await memory.remember('Anna hides the key under the mat');
    await memory.close();
    await using bob = postgres(urlOf(users.bob), { schema });
    expect(await bob.listSpaces()).toEqual([]);
    await expect(openMemory({ store: bob, space: 'alice' })).rejects.toMatchObject({
      code: 'store_read_only',
      message: expect.stringContaining('the user has no right to this'),
    });
    await expect(openMemory({ store: bob, space: 'alice', readOnly: true })).rejects.toMatchObject({
      code: 'not_found',
    });
    const own = await openMemory({ store: bob, space: 'bob' });
    await own.remember('Bob has a key');
    expect((await own.recall('key under the mat', { strategy: 'bm25' })).hits).toHaveLength(1);
    await own.close();
  });

  it.each([
    ['missing', 'RESET salience.space_id'],
    ['empty', "SET salience.space_id = ''"],
  ])('a setting that is %s is an error that says what to do', async (_, change) => {
    const user = `${schema}_carol`;
    await fresh.script(`CREATE ROLE ${user} LOGIN; ALTER ROLE ${user} ${change}; GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};`);
    try {
      await using store = postgres(urlOf(user), { schema });
      await expect(openMemory({ store, space: 'carol' })).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('ALTER ROLE … SET salience.space_id'),
      });
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user};`);
    }
  });
});
