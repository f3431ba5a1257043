import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { everything, expectCode, getOne, insert, write } from '../../testing/store-contract/harness.ts';
import { addChecksumFunction } from './checksum.ts';
import { loadDriver } from './driver.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { createObservedSqliteStore } from './store.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-opening-'));
});
afterEach(async () => {
  await chmod(directory, 0o755);
  await rm(directory, { recursive: true, force: true });
});

const { DatabaseSync } = await loadDriver();

const fileOf = (space: string) => join(directory, fileNameOf(space));

/** Makes a space with one memory, and closes it. */
async function makeSpace(name: string): Promise<string> {
  await using store = createSqliteStore({ directory });
  await write(await store.openSpace(name), [insert({ id: 'a', content: `of ${name}` })]);
  return fileOf(name);
}

/** Expects that opening fails like this, for writing and for reading, and leaves the file alone. */
async function expectRefused(space: string, code: Parameters<typeof expectCode>[1]): Promise<void> {
  const before = await readFile(fileOf(space));
  for (const readOnly of [false, true]) {
    await using store = createSqliteStore({ directory, busyTimeout: 50 });
    const error = await expectCode(store.openSpace(space, { readOnly }), code);
    expect(error.message).toContain(fileOf(space));
  }
  expect((await readFile(fileOf(space))).equals(before)).toBe(true);
}

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  addChecksumFunction(database);
  database.exec(sql);
  database.close();
}

test('file names are safe on every disk, and differ where names do', () => {
  expect(fileNameOf('alice')).toBe('alice-2bd806c97f0e00af.db');
  const names = [
    'alice',
    'ALICE',
    'Alice',
    'a/b',
    'a-b',
    'a b',
    'CON',
    '🫖',
    '東京',
    'é',
    '-',
    'x'.repeat(200),
    '$(rm -rf ~)',
  ];
  const files = names.map(fileNameOf);
  for (const file of files) expect(file).toMatch(/^[a-z0-9][a-z0-9-]{0,39}-[0-9a-f]{16}\.db$/);
  expect(new Set(files).size).toBe(names.length);
});

test('nothing is made before a space is opened, and nothing outside of the directory', async () => {
  const store = createSqliteStore({ directory: join(directory, 'deep/er') });
  expect(await store.listSpaces()).toEqual([]);
  await expectCode(store.openSpace('../x'), 'invalid_space_name');
  await expectCode(store.openSpace('x', { readOnly: true }), 'not_found');
  expect(await readdir(directory)).toEqual([]);
  await store.openSpace('a/b');
  expect(await readdir(directory)).toEqual(['deep']);
  await store.close();
});

test('what is no database is refused and left alone', async () => {
  await writeFile(fileOf('alice'), 'This is my diary, not yours. '.repeat(400));
  await expectRefused('alice', 'not_a_store');
  expect(await createSqliteStore({ directory }).listSpaces()).toEqual([]);
});

test("another program's database is refused and left alone", async () => {
  edit(fileOf('alice'), 'CREATE TABLE diary (entry TEXT)');
  await expectRefused('alice', 'not_a_store');
  edit(fileOf('bob'), 'PRAGMA application_id = 7; PRAGMA user_version = 1');
  await expectRefused('bob', 'not_a_store');
});

test("another space's file under this name is refused", async () => {
  await rename(await makeSpace('bob'), fileOf('alice'));
  await expectRefused('alice', 'not_a_store');
});

test('a file of a newer version is refused, and says so', async () => {
  edit(await makeSpace('alice'), `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  await expectRefused('alice', 'newer_store');
});

test('a damaged file is called damaged', async () => {
  const path = await makeSpace('alice');
  const bytes = await readFile(path);
  bytes.fill(0xa5, 4096);
  await writeFile(path, bytes);
  await expectRefused('alice', 'store_corrupt');
  const bob = await makeSpace('bob');
  await truncate(bob, 5000);
  await expectRefused('bob', 'store_corrupt');
});

test('a directory that is a file is refused', async () => {
  await writeFile(join(directory, 'file'), 'x');
  const store = createSqliteStore({ directory: join(directory, 'file') });
  await expectCode(store.openSpace('alice'), 'store_failed');
});

test('an opening that was cut off before its first commit is taken up again', async () => {
  edit(fileOf('alice'), 'PRAGMA journal_mode = WAL');
  await using store = createSqliteStore({ directory });
  const { message } = await expectCode(store.openSpace('alice', { readOnly: true }), 'not_a_store');
  expect(message).toContain('write to the space, which finishes it, or delete the file');
  expect(await (await store.openSpace('alice')).check()).toEqual([]);
});

test('many openings of a new space at once make one space', async () => {
  const stores = Array.from({ length: 5 }, () => createSqliteStore({ directory }));
  const spaces = await Promise.all(stores.map((store) => store.openSpace('alice')));
  await Promise.all(spaces.map((space, index) => write(space, [insert({ id: `m${index}` })])));
  for (const space of spaces) expect((await space.info()).memories).toBe(5);
  await Promise.all(stores.map((store) => store.close()));
});

test('a writer that waits too long gives up without having changed anything', async () => {
  const path = await makeSpace('alice');
  await using store = createSqliteStore({ directory, busyTimeout: 20 });
  const space = await store.openSpace('alice');
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const { message } = await expectCode(write(space, [insert({ id: 'b' })]), 'store_busy');
  expect(message).toContain('raise busyTimeout, an option of createSqliteStore');
  expect((await space.info()).memories).toBe(1);
  other.exec('ROLLBACK');
  other.close();
  await write(space, [insert({ id: 'b' })]);
});

test('on a full disk a write fails whole, and the space goes on', async () => {
  let limit = (_pages: number) => {};
  const store = createObservedSqliteStore({ directory }, ({ database }) => {
    const present = limit;
    limit = (pages) => {
      present(pages);
      database.exec(`PRAGMA space.max_page_count = ${pages}`);
    };
  });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'a' }, [1, 0, 0])]);
  const before = await everything(space);
  limit(1);
  const large = Array.from({ length: 50 }, (_, index) =>
    insert({ id: `m${index}`, content: `word${index} `.repeat(2000) }),
  );
  const error = await expectCode(write(space, large), 'store_full');
  expect(error.message).toContain(directory);
  expect(await everything(space)).toEqual(before);
  expect(await space.check()).toEqual([]);
  limit(100_000);
  await write(space, large);
  expect((await space.info()).memories).toBe(51);
  expect(await space.check()).toEqual([]);
  await store.close();
});

test.skipIf(process.getuid?.() === 0)(
  'a read-only disk can be read, also without a log (not as root, who may write everywhere)',
  async () => {
    const path = await makeSpace('alice');
    // What the last process leaves beside the file when it ends properly is nothing, or an empty log.
    for (const file of await readdir(directory)) if (!file.endsWith('.db')) await rm(join(directory, file));
    await chmod(path, 0o444);
    await chmod(directory, 0o555);
    await using store = createSqliteStore({ directory, busyTimeout: 50 });
    expect(await store.listSpaces()).toEqual(['alice']);
    const space = await store.openSpace('alice', { readOnly: true });
    expect((await getOne(space, 'a'))?.content).toBe('of alice');
    await expectCode(write(space, []), 'store_read_only');
    await expectCode(store.openSpace('alice'), 'store_read_only');
    await expectCode(store.openSpace('bob'), 'store_read_only');
    expect(await readdir(directory)).toEqual([fileNameOf('alice')]);
  },
);

test('a backup is complete, overwrites nothing, and opens as the space', async () => {
  const store = createSqliteStore({ directory: join(directory, 'store') });
  const space = await store.openSpace('alice');
  await write(
    space,
    [insert({ id: 'a', content: 'tea' }, [1, 0, 0]), insert({ id: 'b' })],
    {},
    { analyzer: 'simple-1' },
  );
  const expected = await everything(space);
  const target = join(directory, 'copy.db');
  await space.backup(target);
  await write(space, [{ kind: 'remove', id: 'a' }]);
  await expectCode(space.backup(target), 'already_exists');
  await expectCode(space.backup(join(directory, 'nowhere/copy.db')), 'store_failed');
  await store.close();

  await mkdir(join(directory, 'restored'));
  await copyFile(target, join(directory, 'restored', fileNameOf('alice')));
  await using restored = createSqliteStore({ directory: join(directory, 'restored') });
  expect(await restored.listSpaces()).toEqual(['alice']);
  const copy = await restored.openSpace('alice');
  const found = (await everything(copy)) as { info: { path: string } };
  found.info.path = fileOf('alice').replace(directory, join(directory, 'store'));
  expect(found).toEqual(expected);
  expect(await copy.check()).toEqual([]);
});

test('texts that SQLite cannot hold as they are, are refused', async () => {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  for (const content of ['a\0b', 'a\ud800b']) {
    await expectCode(write(space, [insert({ id: 'ok' }), insert({ id: 'a', content })]), 'invalid_text');
  }
  expect((await space.info()).memories).toBe(0);
});

test('check tells of links that miss an end', async () => {
  const path = await makeSpace('alice');
  edit(
    path,
    "PRAGMA foreign_keys = OFF; INSERT INTO link (a_row, b_row, kind, weight, at) VALUES (1, 99, 'stated', 1, 0)",
  );
  await using store = createSqliteStore({ directory });
  expect(await (await store.openSpace('alice')).check()).toEqual([
    '1 links without both of their memories: restore the space from a backup',
  ]);
});

test('check tells what is wrong between the tables', async () => {
  const path = await makeSpace('alice');
  edit(
    path,
    "PRAGMA foreign_keys = OFF; DELETE FROM term_vector; INSERT INTO vector (row, bytes) VALUES (1, x'00'), (99, x'0000')",
  );
  await using store = createSqliteStore({ directory });
  expect(await (await store.openSpace('alice')).check()).toEqual([
    '1 memories without their terms: reindex the space',
    '1 rows in vector without a memory: reindex the space',
    "2 vectors that are not of the space's model (test-3): reindex the space",
    '2 rows of vector are damaged, the first is 1: reindex the space',
  ]);
});
