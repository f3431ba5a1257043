import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

/** What happens between the looks of a process at its files: nothing by default. */
const meanwhile = vi.hoisted(() => ({ connecting: (_path: string) => {}, isFull: false }));

vi.mock('./connection.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('./connection.ts')>();
  return {
    ...original,
    async connect(...given: Parameters<typeof original.connect>) {
      meanwhile.connecting(given[0]);
      const connection = await original.connect(...given);
      if (!meanwhile.isFull) return connection;
      const exec = connection.database.exec.bind(connection.database);
      const value = (sql: string) => {
        if (sql.includes('journal_mode = DELETE'))
          throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
        exec(sql);
      };
      Object.defineProperty(connection.database, 'exec', { value });
      return connection;
    },
  };
});

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-races-'));
  path = join(directory, fileNameOf('alice'));
  meanwhile.connecting = () => {};
  meanwhile.isFull = false;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

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
