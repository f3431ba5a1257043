import { existsSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copySpaces, openMemory, restoreSpace } from './index.ts';
import { backupTo } from './stores/sqlite/backup.ts';
import { type Connection, connect } from './stores/sqlite/connection.ts';
import { fileNameOf } from './stores/sqlite/files.ts';
import { createSqliteStore } from './stores/sqlite/index.ts';
import { SCHEMA_VERSION } from './stores/sqlite/schema.ts';
import { expectCode } from './testing/store-contract/harness.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-restore-test-'));
  file = join(directory, 'backup.db');
  await using memory = await openMemory({ path: join(directory, 'first'), space: 'acme/bob' });
  await memory.remember('Drinks tea', { id: 'tea' });
  await memory.remember('Drinks coffee', { id: 'coffee' });
  await memory.link('tea', 'coffee');
  await memory.configure({ timeZone: 'Europe/Berlin' });
  await memory.backup(file);
});
afterEach(() => rm(directory, { recursive: true }));

test('brings a space back with everything, and leaves the backup as it is', async () => {
  const before = await readFile(file);
  const to = join(directory, 'second');
  expect(await restoreSpace({ file, to })).toEqual({ space: 'acme/bob', memories: 2 });
  await using memory = await openMemory({ path: to, space: 'acme/bob' });
  expect(await memory.links('tea')).toMatchObject([{ id: 'coffee' }]);
  expect((await memory.configure()).timeZone).toBe('Europe/Berlin');
  expect(await memory.operations()).toHaveLength(4);
  expect(await memory.check()).toEqual([]);
  expect(before.equals(await readFile(file))).toBe(true);
});

test('replaces no space, and takes nothing but a whole backup', async () => {
  await expectCode(restoreSpace({ file, to: join(directory, 'first') }), 'already_exists');
  const to = join(directory, 'third');
  await expectCode(restoreSpace({ file: join(directory, 'missing.db'), to }), 'unreadable_file');
  const other = join(directory, 'other.db');
  await writeFile(other, 'no backup');
  await expectCode(restoreSpace({ file: other, to }), 'not_a_store');
  const damaged = await readFile(file);
  damaged.write('Drinks TEA', damaged.indexOf('Drinks tea'));
  await writeFile(other, damaged);
  await expectCode(restoreSpace({ file: other, to }), 'store_corrupt');
  await expectCode(restoreSpace({ file, to, form: 1 } as never), 'invalid_argument');
  expect(await restoreSpace({ file, to })).toMatchObject({ memories: 2 });
});

test('tells how far it is', async () => {
  const told: (readonly [number, number])[] = [];
  const progress = (done: number, total: number) => void told.push([done, total]);
  await restoreSpace({ file, to: join(directory, 'told'), progress });
  const [last, total] = told.at(-1) ?? [];
  expect(last).toBeGreaterThan(0);
  expect(last).toBe(total);
  expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).sort((a, b) => a - b));
  const call = restoreSpace({ file, to: join(directory, 'untold'), progress: 1 as never });
  expect((await expectCode(call, 'invalid_argument')).message).toContain('progress');
});

test('takes no empty path, such as that of a variable that is not set', async () => {
  const call = restoreSpace({ file: '', to: join(directory, 'unnamed') });
  expect((await expectCode(call, 'invalid_argument')).message).toContain('file: "" is not a path');
});

test('is given up without an error that nobody can handle', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const to = join(directory, 'given-up');
    // Whenever it is looked at, it may be the first time that it has aborted.
    for (let most = 0; ; most++) {
      const { signal } = new AbortController();
      let looks = 0;
      Object.defineProperty(signal, 'aborted', { get: () => ++looks > most });
      const outcome = await restoreSpace({ file, to, signal }).catch((error) => error.code);
      expect(unhandled, `given up at look ${most + 1}`).toEqual([]);
      if (outcome !== 'aborted') {
        expect(outcome).toMatchObject({ memories: 2 });
        break;
      }
    }
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('takes the file of a space with its log beside it, as a process leaves them that was killed', async () => {
  const path = join(directory, 'first', fileNameOf('acme/bob'));
  const kept = join(directory, 'kept.db');
  {
    await using memory = await openMemory({ path: join(directory, 'first'), space: 'acme/bob' });
    await memory.remember('Has a cat', { id: 'cat' });
    await copyFile(path, kept);
    await copyFile(`${path}-wal`, `${kept}-wal`);
  }
  expect(await restoreSpace({ file: kept, to: join(directory, 'second') })).toMatchObject({ memories: 3 });
  const log = await readFile(`${kept}-wal`);
  log[100]! ^= 1;
  await writeFile(`${kept}-wal`, log);
  await expectCode(restoreSpace({ file: kept, to: join(directory, 'third') }), 'store_corrupt');
});

test('says of a backup of a later version that it is one', async () => {
  const later = await readFile(file);
  later.writeUInt32BE(SCHEMA_VERSION + 1, 60);
  await writeFile(file, later);
  const error = await expectCode(restoreSpace({ file, to: join(directory, 'second') }), 'newer_store');
  expect(error.message).toContain('update the package');
});

test('puts no file beside the log of one that is gone', async () => {
  const to = join(directory, 'second');
  await restoreSpace({ file, to });
  const path = join(to, fileNameOf('acme/bob'));
  await rm(path);
  for (const log of [`${path}-wal`, `${path}-journal`]) {
    await writeFile(log, 'memories that are stored nowhere else');
    const error = await expectCode(restoreSpace({ file, to }), 'store_corrupt');
    expect(error.message).toContain(`its log ${log} exists`);
    expect(await readFile(log, 'utf8')).toBe('memories that are stored nowhere else');
    await rm(log);
  }
  expect(await restoreSpace({ file, to })).toMatchObject({ memories: 2 });
});

test.each([
  ['damaged', (bytes: Buffer) => bytes.write('Drinks TEA', bytes.indexOf('Drinks tea'))],
  ['cut short', (bytes: Buffer) => bytes.subarray(0, 5000)],
  ['none of ours', () => Buffer.from('something else')],
])('begins anew where what an interrupted copy left is %s', async (_, spoil) => {
  const to = join(directory, 'second');
  await restoreSpace({ file, to: join(directory, 'whole') });
  const whole = await readFile(join(directory, 'whole', fileNameOf('acme/bob')));
  const left = spoil(whole);
  await mkdir(join(to, '.copying'), { recursive: true });
  await writeFile(join(to, '.copying', fileNameOf('acme/bob')), Buffer.isBuffer(left) ? left : whole);
  expect(await restoreSpace({ file, to })).toMatchObject({ memories: 2 });
  await using memory = await openMemory({ path: to, space: 'acme/bob' });
  expect(await memory.check()).toEqual([]);
  expect((await memory.get('tea'))?.content).toBe('Drinks tea');
});

test('a backup that is there is never replaced, by another one that is made at the same time either', async () => {
  const target = join(directory, 'both.db');
  const memories = await Promise.all(
    ['one', 'two'].map((space) => openMemory({ path: join(directory, 'first'), space })),
  );
  for (const memory of memories) await memory.remember('Drinks tea');
  const made = await Promise.allSettled(memories.map((memory) => memory.backup(target)));
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(made.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'already_exists' },
  });
  const space = ['one', 'two'][made.findIndex(({ status }) => status === 'fulfilled')];
  expect(await restoreSpace({ file: target, to: join(directory, 'second') })).toMatchObject({ space });
  expect((await readdir(directory)).filter((name) => name.startsWith('.backup'))).toEqual([]);
  for (const memory of memories) await memory.close();
});

test('a backup is one, even where its moment cannot be noted', async () => {
  const path = join(directory, 'first');
  await using memory = await openMemory({
    store: createSqliteStore({ directory: path, busyTimeout: 0 }),
    space: 'one',
  });
  const other = await connect(join(path, fileNameOf('one')), { readOnly: false, timeout: 0 });
  other.database.exec('BEGIN IMMEDIATE');
  await memory.backup(join(directory, 'beside.db'));
  other.close();
  expect((await memory.stats()).lastBackup).toBeUndefined();
  const restored = await restoreSpace({ file: join(directory, 'beside.db'), to: join(directory, 'second') });
  expect(restored.space).toBe('one');
});

test('a backup is not made where the store would take it for a space', async () => {
  const path = join(directory, 'first');
  await symlink(path, join(directory, 'linked'), 'junction');
  await using memory = await openMemory({ path, space: 'acme/bob' });
  for (const folder of [path, join(directory, 'linked')]) {
    const { message } = await expectCode(memory.backup(join(folder, 'copy.db')), 'invalid_argument');
    expect(message).toContain('each .db file must be a space; choose another folder');
  }
  await memory.backup(join(path, 'copy.backup'));
  expect(await createSqliteStore({ directory: path }).copying?.unlisted?.()).toEqual([]);
  expect(
    await restoreSpace({ file: join(path, 'copy.backup'), to: join(directory, 'second') }),
  ).toMatchObject({
    memories: 2,
  });
});

test('a backup that fails leaves nothing, its journal neither', async () => {
  const folder = join(directory, 'full');
  await mkdir(folder);
  // As SQLite does on a full disk.
  const run = (_: string, made: unknown) => {
    for (const path of [made, `${made}-journal`]) writeFileSync(String(path), 'text');
    throw new Error('database or disk is full');
  };
  const connection = { path: join(directory, 'first', 'some.db'), run } as unknown as Connection;
  await expect(backupTo(connection, join(folder, 'copy.db'))).rejects.toThrow('full');
  expect(await readdir(folder)).toEqual([]);
});

test('a path that the system cannot take is refused', async () => {
  await using memory = await openMemory({ path: join(directory, 'first'), space: 'one' });
  for (const path of [undefined, '', 'a\0b', 7])
    await expectCode(memory.backup(path as string), 'invalid_argument');
  await expectCode(memory.backup('n'.repeat(300)), 'store_failed');
  await expectCode(memory.backup(join(file, 'x.db')), 'store_failed');
});

test('spaces that are gone but for their log are named, and not left out of a copy of all', async () => {
  const path = join(directory, 'first', fileNameOf('acme/bob'));
  await writeFile(`${path}-wal`, 'memories that are stored nowhere else');
  await rm(path);
  const error = await expectCode(
    copySpaces({ from: join(directory, 'first'), to: join(directory, 'second') }),
    'store_corrupt',
  );
  expect(error.message).toContain('is missing, but its log');
});

test('a store is not copied onto itself, where the advice to delete what is there would lose it', async () => {
  const from = join(directory, 'first');
  await using store = createSqliteStore({ directory: from });
  for (const ends of [
    { from, to: from },
    { from, to: `${from}/../first/` },
    { from: store, to: store },
  ]) {
    const error = await expectCode(copySpaces(ends), 'invalid_argument');
    expect(error.message).toBe('to: this is the store to copy from; name another one');
  }
});

test('a store to which another process restores the same space says that, since no longer wait would help', async () => {
  const directoryOfTarget = join(directory, 'second');
  await using to = createSqliteStore({ directory: directoryOfTarget, busyTimeout: 20 });
  await using _ = await to.copying?.into('acme/bob');
  const { message } = await expectCode(restoreSpace({ file, to }), 'store_busy');
  expect(message).toBe(
    'another process copies or restores into the space "acme/bob"; wait for it, or stop it and try again: what was copied stays',
  );
});

test.each(['', ' '])('a blank path is no store to copy to or to restore into: %j', async (to) => {
  const from = join(directory, 'first');
  expect((await expectCode(copySpaces({ from, to }), 'invalid_argument')).message).toContain('to: ');
  expect((await expectCode(restoreSpace({ file, to }), 'invalid_argument')).message).toContain('to: ');
});

test('a log that appears beside the target during a copy is not mixed with it', async () => {
  const to = join(directory, 'second');
  const log = join(to, `${fileNameOf('acme/bob')}-wal`);
  const copying = copySpaces({
    from: join(directory, 'first'),
    to,
    progress: () => writeFileSync(log, 'memories that are stored nowhere else'),
  });
  await expectCode(copying, 'store_corrupt');
  expect(await readdir(to)).not.toContain(fileNameOf('acme/bob'));
});

test('a named space with a damaged log is not copied up to the damage', async () => {
  const from = join(directory, 'killed');
  await mkdir(from);
  const path = join(directory, 'first', fileNameOf('acme/bob'));
  const kept = join(from, fileNameOf('acme/bob'));
  {
    await using memory = await openMemory({ path: join(directory, 'first'), space: 'acme/bob' });
    for (const content of ['Has a cat', 'Has a dog']) await memory.remember(content);
    await copyFile(path, kept);
    const log = await readFile(`${path}-wal`);
    log[100]! ^= 1;
    await writeFile(`${kept}-wal`, log);
  }
  const copying = copySpaces({ from, to: join(directory, 'second'), spaces: ['acme/bob'] });
  await expectCode(copying, 'store_corrupt');
});

test('a copy between files lets other work in, and stops when it is told to', async () => {
  const from = join(directory, 'first');
  {
    await using memory = await openMemory({ path: from, space: 'acme/bob' });
    const notes = Array.from({ length: 1000 }, (_, n) => ({ content: `note ${n} of topic ${n % 97}` }));
    await memory.rememberMany(notes);
  }
  const ends = { from, to: join(directory, 'second') };
  const stop = new AbortController();
  let begun = false;
  const progress = () => {
    // As a signal of the system would: in another turn of the loop.
    if (!begun) setImmediate(() => stop.abort());
    begun = true;
  };
  const { message } = await expectCode(copySpaces({ ...ends, signal: stop.signal, progress }), 'aborted');
  const kept = join(ends.to, '.copying', fileNameOf('acme/bob'));
  expect(message).toMatch(/^the copy of space "acme\/bob" was interrupted\. /);
  expect(message).toContain(`${kept} is a copy that has not ended, with texts in it; copy or restore`);
  expect(existsSync(kept)).toBe(true);
  expect(await copySpaces(ends)).toMatchObject([{ space: 'acme/bob', rows: { memory: 1002 } }]);
});

test('a store below a file is told as such, and a backup that cannot be reached is not called missing', async () => {
  const error = await expectCode(copySpaces({ from: join(directory, 'first'), to: file }), 'store_failed');
  expect(error.message).toContain('is a file; choose a directory');
  const below = await expectCode(
    restoreSpace({ file: join(file, 'b.db'), to: directory }),
    'unreadable_file',
  );
  expect(below.message).toContain('ENOTDIR');
});
