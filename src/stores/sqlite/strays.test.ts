import {
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { makeFile } from './presence.ts';
import { describeStrays } from './strays.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-strays-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const atOnce = async () => {};
const fileOf = (space: string) => join(directory, fileNameOf(space));

async function makeSpaces(...names: readonly string[]): Promise<void> {
  await using store = createSqliteStore({ directory });
  for (const name of names) await write(await store.openSpace(name), [insert({ id: 'a', content: name })]);
}

async function listSpaces(): Promise<readonly string[]> {
  await using store = createSqliteStore({ directory });
  return store.listSpaces();
}

test('a directory that does not exist, and one of sound spaces, have no strays', async () => {
  expect(await describeStrays(join(directory, 'absent'))).toEqual([]);
  await makeSpaces('alice', 'bob');
  expect(await describeStrays(directory)).toEqual([]);
});

test('a space that another process is creating or deleting is no stray', async () => {
  await makeFile(fileOf('alice'));
  expect(await describeStrays(directory, () => makeSpaces('alice'))).toEqual([]);
  await makeFile(fileOf('bob'));
  expect(await describeStrays(directory, () => rm(fileOf('bob'), { force: true }))).toEqual([]);
  expect(await listSpaces()).toEqual(['alice']);
});

test('a space whose creation was interrupted is named', async () => {
  await makeFile(fileOf('alice'));
  expect(await describeStrays(directory, atOnce)).toEqual([
    expect.stringContaining(`${fileOf('alice')} is a space that was never finished`),
  ]);
});

describe('a file that cannot be read as a space is named', () => {
  const spoilt: [string, (path: string) => Promise<void>, string][] = [
    [
      'cut off',
      (path) => truncate(path, 100),
      'is damaged, or its disk cannot be read. Check the disk and try again; if the error stays, restore the file from a backup',
    ],
    ['emptied', (path) => truncate(path, 0), 'is empty, so it was truncated. Restore it from a backup'],
    ['overwritten', (path) => writeFile(path, 'a text'), 'is not a store of this engine'],
    [
      'with garbage in its header',
      async (path) => {
        const bytes = await readFile(path);
        await writeFile(path, bytes.fill(0x7f, 0, 100));
      },
      'is not a store of this engine',
    ],
    [
      'replaced by a link to itself',
      async (path) => {
        await rm(path);
        await symlink(path, path);
      },
      'cannot be opened, because links lead in a circle there',
    ],
    [
      'replaced by a directory',
      async (path) => {
        await rm(path);
        await mkdir(path);
      },
      'is a directory or a device where a file belongs',
    ],
  ];
  test.each(spoilt)('%s', async (_, spoil, problem) => {
    await makeSpaces('alice', 'bob');
    await spoil(fileOf('alice'));
    expect(await describeStrays(directory, atOnce)).toEqual([
      expect.stringContaining(`${fileOf('alice')} ${problem}`),
    ]);
    expect(await listSpaces()).toEqual(['bob']);
  });
});

test('a file of another name than its space has is named, and listed as no space', async () => {
  await makeSpaces('alice', 'bob');
  await copyFile(fileOf('alice'), fileOf('bob'));
  expect(await listSpaces()).toEqual(['alice']);
  expect(await describeStrays(directory, atOnce)).toEqual([
    `${fileOf('bob')} holds the space "alice", whose file must be named ${fileNameOf('alice')}; the store has that file too, so move this one out of ${directory}`,
  ]);
  await rename(fileOf('bob'), join(directory, 'old.db'));
  await rm(fileOf('alice'));
  expect(await describeStrays(directory, atOnce)).toEqual([
    `${join(directory, 'old.db')} holds the space "alice", whose file must be named ${fileNameOf('alice')}; rename it to ${fileNameOf('alice')}`,
  ]);
});
