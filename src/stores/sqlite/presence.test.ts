import { existsSync } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
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
import { openMemory, openSpaces } from '../../index.ts';
import { expectCode, insert, write } from '../../testing/store-contract/harness.ts';
import { connect } from './connection.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { createObservedSqliteStore } from './store.ts';
import { describeStrays } from './strays.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-presence-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const fileOf = (space: string, root = directory) => join(root, fileNameOf(space));

describe('a space whose file is taken away while it is open', () => {
  test.each([
    ['its directory is deleted', (root: string) => rm(root, { recursive: true })],
    ['its file is deleted', (root: string) => rm(fileOf('alice', root))],
    ['its log is deleted', (root: string) => rm(`${fileOf('alice', root)}-wal`)],
    ['its shared memory is deleted', (root: string) => rm(`${fileOf('alice', root)}-shm`)],
    ['its directory is moved', (root: string) => rename(root, `${root}-elsewhere`)],
    [
      'its file is replaced by a copy',
      async (root: string) => {
        await copyFile(fileOf('alice', root), join(root, 'copy'));
        await rename(join(root, 'copy'), fileOf('alice', root));
      },
    ],
  ])('acknowledges no write: %s', async (_, takeAway) => {
    const root = join(directory, 'store');
    await using store = createSqliteStore({ directory: root });
    const space = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' })]);
    await takeAway(root);
    for (const id of ['b', 'c']) {
      const error = await expectCode(write(space, [insert({ id })]), 'store_replaced');
      expect(error.message).toMatch(/close the space, and open it again/i);
    }
    expect((await space.info()).memories).toBe(1);
  });

  // On Windows, a directory with open files cannot be moved.
  test.skipIf(process.platform === 'win32').each([
    ['a file', (root: string) => writeFile(root, ''), 'store_replaced', /was deleted, moved or replaced/],
    ['a link to itself', (root: string) => symlink(root, root), 'store_failed', /links lead in a circle/],
  ] as const)(
    'says why no write is possible, and closes, if its directory became %s',
    async (_, replace, code, saying) => {
      const root = join(directory, 'store');
      const aside = join(directory, 'aside');
      const store = createSqliteStore({ directory: root });
      const space = await store.openSpace('alice');
      await write(space, [insert({ id: 'a' })]);
      await rename(root, aside);
      await replace(root);
      const error = await expectCode(write(space, [insert({ id: 'b' })]), code);
      expect(error.message).toMatch(saying);
      expect(await space.info()).toMatchObject({ memories: 1, bytes: 0 });
      expect(await space.check()).toEqual([]);
      await space.backup(join(directory, 'backup'), 0);
      await store.close();
      await rm(root);
      await rename(aside, root);
      await using again = createSqliteStore({ directory: root });
      expect((await (await again.openSpace('alice')).info()).memories).toBe(1);
    },
  );

  test('goes on when the file was put back', async () => {
    await using store = createSqliteStore({ directory });
    const space = await store.openSpace('alice');
    await rename(fileOf('alice'), join(directory, 'aside'));
    await expectCode(write(space, [insert({ id: 'a' })]), 'store_replaced');
    await rename(join(directory, 'aside'), fileOf('alice'));
    await write(space, [insert({ id: 'b' })]);
    expect((await space.info()).memories).toBe(1);
  });

  test('is opened anew by openSpaces after the call that found it out', async () => {
    const root = join(directory, 'store');
    await using spaces = openSpaces({ path: root, embedder: 'none' });
    const alice = await spaces.get('alice');
    await alice.remember('Prefers tea');
    await rm(root, { recursive: true });
    await expect(alice.remember('Prefers coffee')).rejects.toMatchObject({ code: 'store_replaced' });
    await alice.remember('Prefers cocoa');
    expect((await alice.list()).memories.map(({ content }) => content)).toEqual(['Prefers cocoa']);
    await using other = await openMemory({ path: root, space: 'alice', embedder: 'none', readOnly: true });
    expect((await other.stats()).memories).toBe(1);
  });
});

describe('files that do not belong together', () => {
  /** The files of a space as they are after so many writes, with the last ones in the log alone. */
  async function kept(
    name: string,
    writes: number,
  ): Promise<{ readonly file: Buffer; readonly log: Buffer }> {
    const root = await mkdtemp(join(directory, 'kept-'));
    await using store = createSqliteStore({ directory: root });
    const space = await store.openSpace(name);
    for (let each = 0; each < writes; each++) await write(space, [insert({ id: `m${each}` })]);
    const log = await readFile(`${fileOf(name, root)}-wal`);
    expect(log.length).toBeGreaterThan(0);
    await store.close();
    return { file: await readFile(fileOf(name, root)), log };
  }

  async function expectCorrupt(saying: string): Promise<void> {
    for (const readOnly of [true, false]) {
      await using store = createSqliteStore({ directory });
      const error = await expectCode(store.openSpace('alice', { readOnly }), 'store_corrupt');
      expect(error.message).toContain(saying);
      expect(await store.listSpaces()).toEqual([]);
    }
  }

  test('an empty file is no new store', async () => {
    await writeFile(fileOf('alice'), (await kept('alice', 1)).file);
    await truncate(fileOf('alice'));
    await expectCorrupt('is empty');
    expect((await readFile(fileOf('alice'))).length).toBe(0);
  });

  test('an empty file leaves its log alone', async () => {
    const { log } = await kept('alice', 1);
    await writeFile(fileOf('alice'), '');
    await writeFile(`${fileOf('alice')}-wal`, log);
    await expectCorrupt('is empty');
    expect((await readFile(`${fileOf('alice')}-wal`)).equals(log)).toBe(true);
  });

  test('a log without its file is no new store', async () => {
    const { log } = await kept('alice', 1);
    await writeFile(`${fileOf('alice')}-wal`, log);
    await expectCorrupt('is missing, but its log');
    expect((await readFile(`${fileOf('alice')}-wal`)).equals(log)).toBe(true);
  });

  test.each([
    ['an older log', 'alice', 1],
    ['the log of another space', 'bob', 7],
  ])('%s does not take the place of newer memories', async (_, name, writes) => {
    const { file } = await kept('alice', 6);
    const { log } = await kept(name, writes);
    await writeFile(fileOf('alice'), file);
    await writeFile(`${fileOf('alice')}-wal`, log);
    for (const readOnly of [true, false]) {
      await using store = createSqliteStore({ directory });
      const error = await expectCode(store.openSpace('alice', { readOnly }), 'store_corrupt');
      expect(error.message).toContain('Move the log away');
    }
    expect((await readFile(fileOf('alice'))).equals(file)).toBe(true);
    await rm(`${fileOf('alice')}-wal`);
    await rm(`${fileOf('alice')}-shm`, { force: true });
    await using store = createSqliteStore({ directory });
    expect((await (await store.openSpace('alice')).info()).memories).toBe(6);
  });

  test('the log of a process that was killed is taken up', async () => {
    const root = join(directory, 'live');
    await using store = createSqliteStore({ directory: root });
    const space = await store.openSpace('alice');
    for (const id of ['a', 'b']) await write(space, [insert({ id })]);
    for (const suffix of ['', '-wal']) {
      await copyFile(`${fileOf('alice', root)}${suffix}`, `${fileOf('alice')}${suffix}`);
    }
    await using again = createSqliteStore({ directory });
    expect((await (await again.openSpace('alice')).info()).memories).toBe(2);
  });
});

describe('a recall that learns from use, where nothing can be written', () => {
  test('answers without effects, and says why', async () => {
    await using writable = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
    await writable.remember('Prefers tea', { id: 'tea' });
    await using readOnly = await openMemory({
      path: directory,
      space: 'alice',
      embedder: 'none',
      readOnly: true,
    });
    // As on a disk that became read-only after the space was opened.
    await using frozen = await openMemory({
      path: directory,
      store: createObservedSqliteStore({ directory }, ({ database }) =>
        database.exec('PRAGMA query_only = ON'),
      ),
      space: 'alice',
      embedder: 'none',
    });
    for (const [memory, reason] of [
      [readOnly, 'the space is open for reading only'],
      [frozen, 'the space cannot be written to'],
    ] as const) {
      const { hits, trace } = await memory.recall('tea', { strategy: 'retention' });
      expect(hits.map(({ memory: { id } }) => id)).toEqual(['tea']);
      expect(trace.stages.at(-1)).toMatchObject({ name: 'effects', candidates: 1, survivors: 0, reason });
      const context = await memory.context('tea', { strategy: 'retention', maxTokens: 100 });
      expect(context.trace.stages.at(-1)).toMatchObject({ name: 'effects', survivors: 0, reason });
    }
    expect(await writable.get('tea')).toMatchObject({ accessCount: 0 });
  });
});

test('a file that is a link is the file that it leads to: written, backed up and deleted with its log', async () => {
  const elsewhere = join(directory, 'elsewhere');
  const root = join(directory, 'store');
  {
    await using store = createSqliteStore({ directory: elsewhere });
    await write(await store.openSpace('alice'), [insert({ id: 'a' })]);
  }
  await mkdir(root);
  await symlink(fileOf('alice', elsewhere), fileOf('alice', root));
  await using store = createSqliteStore({ directory: root });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'b' })]);
  expect(await store.listSpaces()).toEqual(['alice']);
  expect((await space.info()).memories).toBe(2);
  expect(existsSync(`${fileOf('alice', elsewhere)}-wal`)).toBe(true);
  await space.close();
  await store.deleteSpace('alice');
  expect([...(await readdir(root)), ...(await readdir(elsewhere))]).toEqual([]);
});

test('reading a file that was just deleted does not create it', async () => {
  const gone = fileOf('alice');
  await expect(connect(gone, { readOnly: true, timeout: 0, immutable: true })).rejects.toThrow();
  expect(await readdir(directory)).toEqual([]);
});

test('a file that is a link to what is not there is made nowhere, and said to be one', async () => {
  const [root, elsewhere] = [join(directory, 'store'), join(directory, 'elsewhere')];
  await mkdir(root);
  await mkdir(elsewhere);
  await symlink(fileOf('alice', elsewhere), fileOf('alice', root));
  await using store = createSqliteStore({ directory: root });
  for (const readOnly of [true, false]) {
    const { message } = await expectCode(store.openSpace('alice', { readOnly }), 'store_failed');
    expect(message).toContain(`${fileOf('alice', root)} leads to ${fileOf('alice', elsewhere)}`);
  }
  expect(await describeStrays(root)).toEqual([expect.stringContaining('which is not there')]);
  expect(await readdir(elsewhere)).toEqual([]);
});

test('a file that cannot be examined is not reported as missing', async () => {
  await symlink(fileOf('alice'), fileOf('alice'));
  await using store = createSqliteStore({ directory });
  const asked = [store.openSpace('alice', { readOnly: true }), store.deleteSpace('alice')];
  for (const each of asked) expect((await expectCode(each, 'store_failed')).message).toContain('in a circle');
});

test.each(['', '-wal', '-shm', '-journal'])(
  'a directory in the place of a file is named, and not taken for a failure of SQLite: %s',
  async (suffix) => {
    const place = `${fileOf('alice')}${suffix}`;
    {
      await using store = createSqliteStore({ directory });
      await store.openSpace('alice');
    }
    await rm(place, { force: true });
    await mkdir(place);
    await using store = createSqliteStore({ directory });
    const { message } = await expectCode(store.openSpace('alice'), 'store_failed');
    expect(message).toContain(`${place} is a directory`);
  },
);
