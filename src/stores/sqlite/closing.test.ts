import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { SpaceStore } from '../../store/store.ts';
import { expectCode, insert, searchIn, write } from '../../testing/store-contract/harness.ts';
import type { Connection } from './connection.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { createObservedSqliteStore } from './store.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-closing-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const listed = '/proc/self/fd';

/** The files of the directory that this process has open, each as often as it is open. */
function openFiles(): readonly string[] {
  return readdirSync(listed).flatMap((descriptor) => {
    try {
      const target = readlinkSync(join(listed, descriptor));
      return target.startsWith(directory) ? [target] : [];
    } catch {
      // The one with which the list was read.
      return [];
    }
  });
}

const search = (space: SpaceStore) =>
  searchIn(space, {
    profile: resolveProfile(builtinProfile('bm25')),
    query: { terms: ['word'] },
    filter: {},
    now: 0,
    limit: 10,
  });

test.skipIf(!existsSync(listed))(
  'a closed store holds no descriptor and leaves the files of its spaces alone (needs /proc)',
  async () => {
    for (let round = 0; round < 40; round++) {
      const store = createSqliteStore({ directory, synchronous: round % 2 ? 'normal' : 'full' });
      const space = await store.openSpace(`space ${round % 20}`);
      await write(space, [insert({ id: `m${round}` }, [1, 0, 0])]);
      expect((await search(space)).total).toBeGreaterThan(0);
      expect((await space.list({ filter: {}, limit: 10 })).memories.length).toBeGreaterThan(0);
      if (round % 5 === 0) await write(space, [{ kind: 'redact', id: `m${round}` }]);
      if (round % 7 === 0) expect(await space.check()).toEqual([]);
      if (round === 0) expect(openFiles().length).toBeGreaterThan(0);
      await store.close();
      expect(openFiles()).toEqual([]);
    }
    const reading = createSqliteStore({ directory });
    expect(await reading.listSpaces()).toHaveLength(20);
    const space = await reading.openSpace('space 1', { readOnly: true });
    expect((await search(space)).total).toBeGreaterThan(0);
    expect(openFiles().length).toBeGreaterThan(0);
    await reading.close();
    expect(openFiles()).toEqual([]);
    expect((await readdir(directory)).sort()).toEqual(
      Array.from({ length: 20 }, (_, index) => fileNameOf(`space ${index}`)).sort(),
    );
  },
);

test('what cannot be opened holds no descriptor either', async () => {
  const path = join(directory, fileNameOf('alice'));
  await writeFile(path, 'this is no database, whatever its name says '.repeat(100));
  const store = createSqliteStore({ directory, busyTimeout: 0 });
  await expect(store.openSpace('alice')).rejects.toMatchObject({ code: 'not_a_store' });
  await expect(store.openSpace('alice', { readOnly: true })).rejects.toMatchObject({ code: 'not_a_store' });
  if (existsSync(listed)) expect(openFiles()).toEqual([]);
  await store.close();
});

test('a connection that fails to close is an error of ours, and the other one closes too', async () => {
  const connections: Connection[] = [];
  const store = createObservedSqliteStore({ directory }, (connection) => void connections.push(connection));
  await write(await store.openSpace('alice'), [insert({ id: 'a' })]);
  const [writer, reader] = connections as [Connection, Connection];
  const { close } = reader;
  Object.assign(reader, {
    close() {
      close();
      throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
    },
  });
  await expectCode(store.close(), 'store_failed');
  expect(writer.database.isOpen).toBe(false);
});
