import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemory } from '../../src/index.ts';
import { erasePostgres } from '../../src/stores/postgres/index.ts';
import { type FreshSchema, freshSchema, SERVER, WITHOUT_SERVER } from './server.ts';

/** In no other file of the server, whoever reads them. */
const SECRET = 'xanthochroid-quokka-manifesto';

/** The files under a directory that hold a text, without the write-ahead log, which is kept for as long as its settings say. */
function filesWith(directory: string, text: string): readonly string[] {
  return readdirSync(directory).flatMap((name) => {
    if (name === 'pg_wal') return [];
    const path = join(directory, name);
    try {
      if (statSync(path).isDirectory()) return filesWith(path, text);
      return readFileSync(path).includes(text) ? [path] : [];
    } catch {
      // A file of the server may go meanwhile.
      return [];
    }
  });
}

/** Rows that are still in the files, and that no statement returns any more: of tables, and of what they keep long values in. */
async function deadRows({ script, schema }: FreshSchema): Promise<number> {
  const { rows } = await script(
    `SELECT c.oid::regclass::text AS name FROM pg_class AS c WHERE c.oid IN (
      SELECT unnest(ARRAY[t.oid, nullif(t.reltoastrelid, 0)]) FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
      WHERE n.nspname = '${schema}' AND t.relkind = 'r' AND t.relname NOT IN ('meta', 'space', 'shared'))`,
  );
  const each = rows.map(
    ({
      name,
    }) => `SELECT (SELECT count(*) FROM generate_series(0, pg_relation_size('${name}') / 8192 - 1) AS page,
        heap_page_items(get_raw_page('${name}', page::int)) WHERE lp_len > 0) - (SELECT count(*) FROM ${name}) AS dead`,
  );
  const found = await script(
    `SELECT sum(dead)::int AS dead FROM (${each.join(' UNION ALL ')}) AS all_of_them`,
  );
  return found.rows[0].dead as number;
}

describe.skipIf(SERVER === undefined)(`erasePostgres (${WITHOUT_SERVER})`, () => {
  let fresh: FreshSchema;
  let data: string;
  beforeEach(async () => {
    fresh = freshSchema();
    const { rows } = await fresh.script('SHOW data_directory');
    data = rows[0].data_directory as string;
  });
  afterEach(() => fresh[Symbol.asyncDispose]());

  it('leaves no file of the data directory with what was forgotten', async ({ skip }) => {
    try {
      readdirSync(data);
    } catch {
      skip('the files of the server cannot be read from here');
    }
    const memory = await openMemory({
      store: fresh.open(),
      space: 'alice',
      recordRecalls: { days: 30, texts: true },
    });
    await memory.rememberMany(
      Array.from({ length: 200 }, (_, at) => ({
        id: `m${at}`,
        content: `Anna drinks coffee, case ${at}. ${'x'.repeat(at * 40)}`,
      })),
    );
    await memory.remember(`The code is ${SECRET}. ${'It must stay secret. '.repeat(500)}`, {
      id: 'secret',
      title: SECRET,
      metadata: { code: SECRET },
    });
    await memory.update('secret', { tags: [SECRET] });
    await memory.recall(`what is the ${SECRET}?`);
    // What a process left behind that ended while it saved its index.
    await fresh.script(`INSERT INTO ${fresh.schema}.page (space_id, saved, number, bytes)
      SELECT space_id, 'killed', 0, convert_to('${SECRET}', 'UTF8') FROM ${fresh.schema}.space`);
    await fresh.script(`ANALYZE; CHECKPOINT`);
    expect(filesWith(data, SECRET)).not.toEqual([]);
    expect((await memory.forget('secret')).erased).toBe('rows');
    await fresh.script('CHECKPOINT');
    expect(filesWith(data, SECRET)).not.toEqual([]);
    const tables: string[] = [];
    const erased = await erasePostgres(fresh.url, {
      schema: fresh.schema,
      progress: (table) => tables.push(table),
    });
    await fresh.script('CHECKPOINT');
    expect(filesWith(data, SECRET)).toEqual([]);
    expect(erased.map(({ table }) => table)).toEqual(tables);
    expect(erased.every(({ after }) => after > 0)).toBe(true);
    const { hits } = await memory.recall('coffee', { strategy: 'bm25', limit: 3 });
    expect(hits).toHaveLength(3);
    await memory.close();
  });

  it('leaves no row in the files that was forgotten or replaced, also where they are compressed', async ({
    skip,
  }) => {
    await fresh.script('CREATE EXTENSION IF NOT EXISTS pageinspect').catch(() => {
      skip('pageinspect, which comes with the server, cannot be made here');
    });
    const memory = await openMemory({ store: fresh.open(), space: 'alice' });
    await memory.rememberMany(
      Array.from({ length: 50 }, (_, at) => ({
        id: `m${at}`,
        content: `Case ${at}. ${'Quokka. '.repeat(at * 40)}`,
      })),
    );
    await memory.recall('quokka', { strategy: 'retention' });
    for (let at = 0; at < 40; at++) await memory.forget(`m${at}`);
    expect(await deadRows(fresh)).toBeGreaterThan(40);
    await erasePostgres(fresh.url, { schema: fresh.schema });
    expect(await deadRows(fresh)).toBe(0);
    expect((await memory.list({ limit: 100 })).memories).toHaveLength(10);
    await memory.close();
  });

  it('waits for whoever holds on to an older state, and says so', async () => {
    const memory = await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' });
    await memory.remember('Prefers tea', { id: 'a' });
    const holder = new pg.Client(fresh.url);
    await holder.connect();
    await holder.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ${fresh.schema}.memory`);
    await memory.forget('a');
    const options = { schema: fresh.schema, busyTimeout: 100 };
    await expect(erasePostgres(fresh.url, options)).rejects.toMatchObject({ code: 'store_busy' });
    await holder.query('COMMIT');
    await holder.query(`BEGIN; LOCK TABLE ${fresh.schema}.memory IN ACCESS SHARE MODE`);
    await expect(erasePostgres(fresh.url, options)).rejects.toMatchObject({ code: 'store_busy' });
    await holder.query(`ROLLBACK; BEGIN; LOCK TABLE ${fresh.schema}.link IN ACCESS SHARE MODE`);
    const rewritten: string[] = [];
    const progress = (table: string) => rewritten.push(table);
    const error: unknown = await erasePostgres(fresh.url, { ...options, progress }).catch((reason) => reason);
    expect(error).toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining(
        `Only the ${rewritten.indexOf('link')} tables before it were rewritten`,
      ),
      details: { table: 'link' },
    });
    expect(String(error)).not.toContain('nothing was changed');
    await holder.end();
    expect((await erasePostgres(fresh.url, options)).length).toBeGreaterThan(5);
    await expect(erasePostgres(fresh.url, { schema: 'nowhere' })).rejects.toMatchObject({
      code: 'not_a_store',
    });
    await memory.close();
  });

  it('is refused to a user who may not rewrite the tables, instead of doing nothing', async () => {
    const { schema, url } = fresh;
    const user = `user_${schema}`;
    await (await openMemory({ store: fresh.open(), space: 'alice', embedder: 'none' })).close();
    await fresh.script(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    try {
      const at = new URL(url);
      at.username = user;
      await expect(erasePostgres(String(at), { schema })).rejects.toMatchObject({
        code: 'store_read_only',
        message: expect.stringMatching(/erase as the owner of the tables. Nothing was rewritten/),
      });
    } finally {
      await fresh.script(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    }
  });
});
