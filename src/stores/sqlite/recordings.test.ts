import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Keep, NewRecording } from '../../store/recording.ts';
import type { SpaceStore } from '../../store/store.ts';
import { expectCode, start } from '../../testing/store-contract/harness.ts';
import { connect } from './connection.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-recordings-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const all: Keep = { since: 0, most: 1000, texts: true };
const recording = (at: number): NewRecording => ({
  at,
  strategy: 'hybrid',
  sessionId: undefined,
  query: 'tea',
  hits: [{ id: 'a', score: 0.5 }],
  details: { options: {} },
});

async function damaged(sql: string): Promise<SpaceStore> {
  const connection = await connect(join(directory, fileNameOf('alice')), { readOnly: false, timeout: 0 });
  connection.database.exec(sql);
  connection.close();
  return createSqliteStore({ directory }).openSpace('alice');
}

async function recordOne(): Promise<void> {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await space.record(recording(start), all);
  expect(await space.check()).toEqual([]);
}

test('a damaged row is known by its checksum, when it is read and when the store is checked', async () => {
  await recordOne();
  await using space = await damaged('UPDATE recall SET at = at + 1, checksum = checksum + 1');
  expect(await space.check()).toEqual([
    '1 rows of recall are damaged, the first is 1: restore the space from a backup',
  ]);
  const error = await expectCode(space.recordings({ limit: 1 }), 'store_corrupt');
  expect(error.details).toMatchObject({ table: 'recall', row: 1 });
});

test.each([
  ['hits', "UPDATE recall SET hits = 'x'"],
  ['hits', `UPDATE recall SET hits = '[{"id":"a"}]'`],
  ['details', "UPDATE recall SET details = '[]'"],
  ['details', "UPDATE recall SET details = '{}'"],
])('a row whose %s cannot have been written is damaged: %s', async (column, sql) => {
  await recordOne();
  await using space = await damaged(sql);
  const error = await expectCode(space.recordings({ limit: 1 }), 'store_corrupt');
  expect(error.message).toContain(`its ${column} `);
  expect(await space.check()).toEqual([expect.stringContaining('the row 1 of recall is damaged')]);
});

test('a recall removes a hundred old rows along with its own, and maintenance all of them', async () => {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  for (let at = 0; at < 250; at++) await space.record(recording(start + at), all);
  const count = async () => (await space.recordings({ limit: 1000 })).length;
  const later = { ...all, since: start + 240 };
  await space.record(recording(start + 250), later);
  expect(await count()).toBe(151);
  await space.record(undefined, later);
  expect(await count()).toBe(11);
});

test('removing recordings only for their age does not rewrite the file', async () => {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  const cookie = async () => {
    const reader = await connect(join(directory, fileNameOf('alice')), { readOnly: true, timeout: 1000 });
    try {
      // Rewriting the file changes it.
      return (reader.get('PRAGMA space.schema_version') as { schema_version: number }).schema_version;
    } finally {
      reader.close();
    }
  };
  const before = await cookie();
  for (const at of [1, 2, 3]) await space.record(recording(start + at), all);
  await space.record(undefined, { ...all, since: start + 2 });
  expect(await cookie()).toBe(before);
  await space.record(undefined, { ...all, texts: false });
  const rewritten = await cookie();
  expect(rewritten).not.toBe(before);
  await space.record(undefined, { ...all, texts: false });
  expect(await cookie()).toBe(rewritten);
  await space.record(undefined, { since: 0, most: 0, texts: false });
  expect(await cookie()).not.toBe(rewritten);
});
