import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { openMemory } from '../../open.ts';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { readAside } from './aside.ts';
import { backupTo } from './backup.ts';
import { findDamage } from './check.ts';
import { type Connection, connect } from './connection.ts';
import { fileNameOf } from './files.ts';
import { eraseForgotten } from './forget.ts';
import { createSqliteStore } from './index.ts';
import { spaceInfo } from './info.ts';
import { readMeta, writeMeta } from './meta.ts';
import { openWriter } from './opening.ts';
import { createObservedSqliteStore } from './store.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-aside-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const path = () => join(directory, fileNameOf('alice'));
const INTEGRITY = 'PRAGMA space.integrity_check(100)';

/** A space whose file is large enough to be looked at by another thread. */
async function makeLarge({ within = directory, count = 2500 } = {}) {
  const store = createSqliteStore({ directory: within, synchronous: 'normal' });
  const space = await store.openSpace('alice');
  const content = 'a long text '.repeat(400);
  await write(
    space,
    Array.from({ length: count }, (_, at) =>
      insert(
        {
          id: `m${at}`,
          content: `${content}${at}`,
          type: at % 2 === 0 ? 'fact' : 'event',
          metadata: { number: at },
        },
        [1, 0, 0],
      ),
    ),
  );
  return { store, space };
}

describe('what is read by another thread', () => {
  it('is what a connection here reads, of a file with a log too', async () => {
    const { store } = await makeLarge();
    expect(await readAside(path(), 'SELECT count(*), max(row) FROM memory WHERE row > ?', 500)).toEqual([
      [2000, 2500],
    ]);
    expect(await readAside(path(), INTEGRITY)).toEqual([['ok']]);
    await store.close();
  });

  it('is undefined if the file cannot be read, or if the statement would write', async () => {
    const { store } = await makeLarge();
    await store.close();
    expect(await readAside(path(), 'SELECT * FROM nothing')).toBeUndefined();
    expect(await readAside(path(), 'DELETE FROM memory')).toBeUndefined();
    expect(await readAside(path(), 'SELECT count(*) FROM memory')).toEqual([[2500]]);
    expect(await readAside(join(directory, 'missing.db'), INTEGRITY)).toBeUndefined();
    await writeFile(join(directory, 'text.db'), 'this is no database '.repeat(1_000_000));
    expect(await readAside(join(directory, 'text.db'), INTEGRITY)).toBeUndefined();
  });
});

test('check reports what another thread finds, and runs on this thread if there is no other', async () => {
  const { store } = await makeLarge();
  await store.close();
  const connection = await connect(path(), { readOnly: true, timeout: 0 });
  const asked: unknown[] = [];
  const finding = (rows: readonly (readonly string[])[] | undefined) =>
    findDamage(connection, async (...about) => {
      asked.push(about);
      return rows;
    });
  expect(await finding([['row 7 missing from index memory_by_id']])).toEqual([
    'SQLite: row 7 missing from index memory_by_id: restore the space from a backup',
  ]);
  expect(await finding([['ok']])).toEqual([]);
  expect(await finding(undefined)).toEqual([]);
  expect(asked).toEqual(Array(3).fill([path(), INTEGRITY]));
  connection.close();
});

test('a damaged file is found by either thread', async () => {
  const { store } = await makeLarge();
  await store.close();
  const bytes = await readFile(path());
  // Of the pages of an index: order and pointers are not as they should be any more.
  const connection = await connect(path(), { readOnly: true, timeout: 0 });
  const { rootpage } = connection.get(
    "SELECT rootpage FROM space.sqlite_schema WHERE type = 'index' AND tbl_name = 'memory' AND sql IS NOT NULL LIMIT 1",
  ) as { rootpage: number };
  connection.close();
  bytes.fill(0, rootpage * 4096 - 2000, rootpage * 4096);
  await writeFile(path(), bytes);
  const damaged = await connect(path(), { readOnly: true, timeout: 0 });
  const here = await findDamage(damaged);
  expect(here[0]).toMatch(/^SQLite: /);
  expect(await findDamage(damaged, readAside)).toEqual(here);
  damaged.close();
});

test('a backup made by another thread is the backup that is made here', async () => {
  const { store } = await makeLarge();
  await store.close();
  const connection = await connect(path(), { readOnly: true, timeout: 0 });
  const [here, aside] = [join(directory, 'here.backup'), join(directory, 'aside.backup')];
  await backupTo(connection, here);
  await backupTo(connection, aside, readAside);
  expect((await readFile(here)).equals(await readFile(aside))).toBe(true);
  // One that failed leaves nothing behind, and is tried here.
  const again = join(directory, 'again.backup');
  await backupTo(connection, again, async (_path, _sql, made) => {
    await writeFile(made as string, 'half of a file');
    return undefined;
  });
  expect((await readFile(here)).equals(await readFile(again))).toBe(true);
  await expect(backupTo(connection, join(directory, 'nowhere', 'x.db'), readAside)).rejects.toMatchObject({
    name: 'SalienceError',
  });
  connection.close();
});

describe('a backup that is aborted', () => {
  const files = async () => (await readdir(directory)).filter((name) => /backup/.test(name));

  it('while another thread copies, or this one is about to, leaves nothing behind, and the next one is whole', async () => {
    const { store } = await makeLarge();
    await store.close();
    const connection = await connect(path(), { readOnly: true, timeout: 0 });
    const target = join(directory, 'a.backup');
    for (const isCopied of [true, false]) {
      const giving = new AbortController();
      const copying = backupTo(
        connection,
        target,
        async (...said) => {
          const rows = await readAside(...said);
          giving.abort();
          return isCopied ? rows : undefined;
        },
        giving.signal,
      );
      await expect(copying).rejects.toMatchObject({ code: 'aborted' });
      expect(await files()).toEqual([]);
    }
    await backupTo(connection, target, readAside, new AbortController().signal);
    expect(await files()).toEqual(['a.backup']);
    connection.close();
  });

  it('is one of a memory too, and the space does not take it for one', async () => {
    const { store } = await makeLarge();
    await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
    const giving = new AbortController();
    const copying = memory.backup(join(directory, 'a.backup'), { signal: giving.signal });
    giving.abort();
    await expect(copying).rejects.toMatchObject({ code: 'aborted' });
    expect(await files()).toEqual([]);
    expect((await memory.stats()).lastBackup).toBeUndefined();
    await memory.backup(join(directory, 'a.backup'));
    expect((await memory.stats()).lastBackup).toBeDefined();
    await store.close();
  });
});

test('others go on while a large space is checked and saved, and read it', async () => {
  const { store, space } = await makeLarge();
  const target = join(directory, 'a.backup');
  const work = [
    ['check', () => space.check()],
    ['backup', () => space.backup(target)],
  ] as const;
  for (const [name, run] of work) {
    let isDone = false;
    const running = run().then((result) => {
      isDone = true;
      return result;
    });
    let read = 0;
    while (!isDone) {
      await turn();
      if (isDone) break;
      const { memories } = await space.list({ filter: {}, limit: 3 });
      expect(memories).toHaveLength(3);
      read++;
    }
    const result = await running;
    // None of it keeps the connection that recalls read by.
    expect(read, name).toBeGreaterThan(1);
    if (name === 'check') expect(result).toEqual([]);
  }
  expect(existsSync(target)).toBe(true);
  await store.close();
});

test('what is forgotten of a large space is erased while others read it', async () => {
  const { store, space } = await makeLarge();
  const secret = 'xylophone8fe1';
  await write(space, [insert({ id: 'secret', content: `the ${secret} is hidden` }, [0, 1, 0])]);
  const holding = async () => {
    const files = await readdir(directory);
    const bytes = await Promise.all(files.map((file) => readFile(join(directory, file), 'latin1')));
    return files.filter((_, at) => bytes[at]!.includes(secret));
  };
  expect(await holding()).not.toEqual([]);
  let isDone = false;
  const forgetting = write(space, [{ kind: 'redact', id: 'secret' }], { verb: 'forget' }).then(() => {
    isDone = true;
  });
  let read = 0;
  while (!isDone) {
    await space.list({ filter: {}, limit: 3 });
    read++;
    await turn();
  }
  await forgetting;
  expect(read).toBeGreaterThan(5);
  expect(await holding()).toEqual([]);
  expect(await space.check()).toEqual([]);
  await write(space, [insert({ id: 'next' })]);
  expect((await space.info()).memories).toBe(2501);
  await store.close();
});

test('this thread erases if no other thread can', async () => {
  const { store } = await makeLarge();
  await store.close();
  const connection = await openWriter(path(), 'alice', { synchronous: 'normal', busyTimeout: 0 });
  const pages = () => connection.get('PRAGMA space.freelist_count') as { freelist_count: number };
  const asked: string[] = [];
  for (const answer of [undefined, [], [[1, 5, 0]]]) {
    connection.run('DELETE FROM memory WHERE row IN (SELECT row FROM memory LIMIT 100)');
    writeMeta(connection, 'erasure', 'pending');
    await eraseForgotten(connection, 0, async (_, sql) => {
      asked.push(sql);
      return answer;
    });
    expect(readMeta(connection, 'erasure')).toBeUndefined();
    // An answer stands for its VACUUM, and none but a 0 for an empty log.
    expect(pages().freelist_count === 0).toBe(answer === undefined);
    expect((await stat(`${path()}-wal`)).size).toBeLessThan(20_000);
  }
  expect(asked).toHaveLength(6);
  connection.close();
});

test('a small space is read on the existing connection', async () => {
  const opened: Connection[] = [];
  await using store = createObservedSqliteStore({ directory }, (connection) => void opened.push(connection));
  const small = await store.openSpace('bob');
  await write(small, [insert({ id: 'a' })]);
  expect((await small.info()).memories).toBe(1);
  expect(await small.check()).toEqual([]);
  expect(opened).toHaveLength(2);
  await (await makeLarge()).store.close();
  const large = await store.openSpace('alice');
  expect((await large.info()).memories).toBe(2500);
  expect(opened).toHaveLength(5);
  expect(opened.at(-1)?.database.isOpen).toBe(false);
});

test('a space is counted in steps of some rows, whatever their numbers', async () => {
  const { store, space } = await makeLarge();
  await write(
    space,
    Array.from({ length: 2499 }, (_, at) => ({ kind: 'redact' as const, id: `m${at}` })),
    { verb: 'forget' },
  );
  await write(space, [insert({ id: 'tea', type: 'preference', tier: 'cold', scope: 'project:tea' })]);
  const connection = await connect(path(), { readOnly: true, timeout: 0 });
  const steps = spaceInfo(connection, 'alice');
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) count++;
  // Two of memories, two of vectors, and at least two of events.
  expect(count).toBeGreaterThanOrEqual(6);
  expect(step.value).toMatchObject({
    memories: 2,
    vectors: 1,
    byType: { event: 1, preference: 1 },
    byScope: { global: 1, 'project:tea': 1 },
    events: 2500 + 2499 + 1,
  });
  expect(await space.info()).toEqual(step.value);
  connection.close();
  await store.close();
});

test('a file that was moved away and replaced is not taken for the one that is open', async () => {
  const { store, space } = await makeLarge();
  const other = await mkdtemp(join(tmpdir(), 'salience-aside-'));
  try {
    await (await makeLarge({ within: other, count: 2000 })).store.close();
    // Nothing of the one that is open is in the log, which stays where it is.
    const connection = await connect(path(), { readOnly: false, timeout: 0 });
    expect(connection.get('PRAGMA space.wal_checkpoint(TRUNCATE)')).toMatchObject({ busy: 0 });
    connection.close();
    await rename(path(), join(directory, 'moved.db'));
    await rename(join(other, fileNameOf('alice')), path());
    expect((await space.info()).memories).toBe(2500);
    await space.backup(join(directory, 'a.backup'));
    const copy = await connect(join(directory, 'a.backup'), { readOnly: true, timeout: 0 });
    expect(copy.get('SELECT count(*) AS count FROM memory')).toEqual({ count: 2500 });
    copy.close();
  } finally {
    await store.close().catch(() => undefined);
    await rm(other, { recursive: true, force: true });
  }
});
