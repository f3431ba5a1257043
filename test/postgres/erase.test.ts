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
    await holder.end();
    expect((await erasePostgres(fresh.url, options)).length).toBeGreaterThan(5);
    await expect(erasePostgres(fresh.url, { schema: 'nowhere' })).rejects.toMatchObject({
      code: 'not_a_store',
    });
    await memory.close();
  });
});
