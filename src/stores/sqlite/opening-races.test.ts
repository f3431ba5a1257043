import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copySpaces } from '../../copy-spaces.ts';
import type { SpaceStore } from '../../store/store.ts';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

/** What happens between the looks of a process at its files: nothing by default. */
const meanwhile = vi.hoisted(() => ({
  connecting: (_path: string, _isAlone: boolean) => {},
  connected: async (_path: string) => {},
  looking: async (_path: string) => {},
  reading: (_path: string) => {},
  isFull: false,
}));

vi.mock('./connection.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./connection.ts')>();
  return {
    ...original,
    async connect(...given: Parameters<typeof original.connect>) {
      meanwhile.connecting(given[0], given[1].alone === true);
      const connection = await original.connect(...given);
      await meanwhile.connected(given[0]);
      if (!meanwhile.isFull) return connection;
      const exec = connection.database.exec.bind(connection.database);
      const value = (sql: string) => {
        if (sql.includes('journal_mode = DELETE'))
          throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        exec(sql);
      };
      Object.defineProperty(connection.database, 'exec', { value });
      const get: typeof connection.get = (sql, ...values) => {
        if (sql.includes('wal_checkpoint'))
          throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        return connection.get(sql, ...values);
      };
      return { ...connection, get };
    },
  };
});

vi.mock('./presence.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./presence.ts')>();
  return {
    ...original,
    async checkFiles(path: string) {
      await original.checkFiles(path);
      await meanwhile.looking(path);
    },
  };
});

vi.mock('./schema.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./schema.ts')>();
  return {
    ...original,
    identify(connection: Parameters<typeof original.identify>[0]) {
      meanwhile.reading(connection.path);
      return original.identify(connection);
    },
  };
});

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-races-'));
  path = join(directory, fileNameOf('alice'));
  meanwhile.connecting = () => {};
  meanwhile.connected = async () => {};
  meanwhile.looking = async () => {};
  meanwhile.reading = () => {};
  meanwhile.isFull = false;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('a space is deleted where there is no room beside it, unless somebody has it open', async () => {
  await using other = createSqliteStore({ directory });
  await write(await other.openSpace('alice'), [insert({ id: 'a' })]);
  meanwhile.connecting = (file, isAlone) => {
    if (file === path && !isAlone) throw Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  };
  await using store = createSqliteStore({ directory, busyTimeout: 0 });
  await expect(store.deleteSpace('alice')).rejects.toMatchObject({ code: 'store_busy' });
  expect(existsSync(path)).toBe(true);
  await other.close();
  await store.deleteSpace('alice');
  expect(readdirSync(directory)).toEqual([]);
});

test('a space is not deleted in place of another one where there is no room', async () => {
  await using store = createSqliteStore({ directory });
  await write(await store.openSpace('bob'), [insert({ id: 'a' })]);
  await store.close();
  renameSync(join(directory, fileNameOf('bob')), path);
  meanwhile.connecting = (_, isAlone) => {
    if (!isAlone) throw Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  };
  await using again = createSqliteStore({ directory });
  await expect(again.deleteSpace('alice')).rejects.toMatchObject({ code: 'not_a_store' });
  expect(existsSync(path)).toBe(true);
});

test('a file that another process deletes while it is opened is made again', async () => {
  let deletions = 0;
  meanwhile.connecting = (file) => {
    if (file === path && deletions++ < 3) rmSync(file);
  };
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'a' })]);
  expect(deletions).toBeGreaterThan(3);
  expect((await space.info()).memories).toBe(1);
});

test('a file that others delete and make again once it is connected to is the one that is written to', async () => {
  await using other = createSqliteStore({ directory });
  let deletions = 0;
  meanwhile.connected = async (file) => {
    if (file !== path || deletions++ > 0) return;
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
    await write(await other.openSpace('alice'), [insert({ id: 'a' })]);
  };
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'b' })]);
  expect(deletions).toBeGreaterThan(1);
  await using third = createSqliteStore({ directory });
  const found = await (await third.openSpace('alice')).get(['a', 'b']);
  expect(found.map((memory) => memory?.id)).toEqual(['a', 'b']);
});

test('a file that others replace until this process holds it is not written to', async () => {
  const made = join(directory, 'made');
  {
    await using other = createSqliteStore({ directory });
    await write(await other.openSpace('alice'), [insert({ id: 'a' })]);
  }
  renameSync(path, made);
  let reads = 0;
  meanwhile.reading = (file) => {
    // At first it is only known to be one of ours, or new; by the second one it is held.
    if (file !== path || ++reads !== 2) return;
    for (const name of readdirSync(directory)) if (name !== 'made') rmSync(join(directory, name));
    copyFileSync(made, path);
  };
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  expect(reads).toBeGreaterThan(2);
  await write(space, [insert({ id: 'b' })]);
  await using third = createSqliteStore({ directory });
  const found = await (await third.openSpace('alice')).get(['a', 'b']);
  expect(found.map((memory) => memory?.id)).toEqual(['a', 'b']);
});

test('a space that another process makes while a copy of that name ends is not replaced', async () => {
  const from = await mkdtemp(join(tmpdir(), 'salience-races-from-'));
  try {
    await using source = createSqliteStore({ directory: from });
    await write(await source.openSpace('alice'), [insert({ id: 'copied' })]);
    await using store = createSqliteStore({ directory });
    let looks = 0;
    let made: SpaceStore | undefined;
    meanwhile.looking = async (file) => {
      // At the start, and when all is copied; opening the space looks too.
      if (file !== path || ++looks !== 2) return;
      made = await store.openSpace('alice');
      await write(made, [insert({ id: 'a' })]);
    };
    const copying = copySpaces({ from, to: directory, spaces: ['alice'] });
    await expect(copying).rejects.toMatchObject({ code: 'already_exists' });
    // What was copied could never become that space.
    expect(existsSync(join(directory, '.copying'))).toBe(false);
    if (!made) throw new Error('the copy ended without a look');
    await write(made, [insert({ id: 'b' })]);
    const found = await made.get(['a', 'b', 'copied']);
    expect(found.map((memory) => memory?.id)).toEqual(['a', 'b', undefined]);
  } finally {
    await rm(from, { recursive: true, force: true });
  }
});

test('what seems damaged while another process deletes it is looked at again', async () => {
  await mkdir(directory, { recursive: true });
  writeFileSync(path, '');
  await using store = createSqliteStore({ directory });
  // Looked at before the first promise is awaited.
  const opening = store.openSpace('alice');
  rmSync(path);
  expect((await (await opening).info()).memories).toBe(0);
});

test('a space is deleted on a full disk, although its log cannot be put into its file', async () => {
  await using store = createSqliteStore({ directory });
  await write(await store.openSpace('alice'), [insert({ id: 'a' })]);
  meanwhile.isFull = true;
  await store.deleteSpace('alice');
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(directory)).toEqual([]);
});

test('a copy whose log cannot be put into its file is not complete, and is continued later', async () => {
  const to = join(directory, 'copies');
  {
    await using store = createSqliteStore({ directory });
    await write(await store.openSpace('alice'), [insert({ id: 'a' }), insert({ id: 'b' })]);
  }
  meanwhile.isFull = true;
  await expect(copySpaces({ from: directory, to })).rejects.toMatchObject({
    code: 'store_full',
    message: expect.stringMatching(/; what was copied before is kept\. .* is a copy that has not ended/),
  });
  expect(existsSync(join(to, fileNameOf('alice')))).toBe(false);
  meanwhile.isFull = false;
  expect(await copySpaces({ from: directory, to })).toMatchObject([{ rows: { memory: 2 } }]);
  await using copies = createSqliteStore({ directory: to });
  expect((await (await copies.openSpace('alice')).info()).memories).toBe(2);
});
