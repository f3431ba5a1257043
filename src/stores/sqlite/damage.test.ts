import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SalienceError } from '../../domain/errors.ts';
import { signalsOf } from '../../scoring/signals.ts';
import { decodePages, encodePages } from '../../search/pages.ts';
import { createResidentIndex, putMemory, turnOf } from '../../search/resident-index.ts';
import { sampleIndexed, sampleMemory } from '../../testing/sample-memory.ts';
import {
  expectCode,
  insert,
  replace,
  searchIn,
  start,
  use,
  write,
} from '../../testing/store-contract/harness.ts';
import { profileOf, request } from '../../testing/store-contract/queries.ts';
import { checksumOf } from './checksum.ts';
import { connect } from './connection.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import type { BytesRow } from './rows.ts';
import { decodeTermVector, encodeTermVector } from './term-vector.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-damage-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const path = () => join(directory, fileNameOf('alice'));
const words = request({ terms: ['tea'] });
const vector = request({ terms: [], vector: Float32Array.of(1, 0, 0) }, { profile: profileOf('vector') });

/** Makes a space with memories, vectors, links, history and use, and closes it. */
async function makeSpace(): Promise<void> {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await write(space, [
    insert({ id: 'a', content: 'tea at noon', metadata: { mood: 'calm' } }, [1, 0, 0]),
    insert({ id: 'b', content: 'tea at night', tags: ['drink'] }, [0, 1, 0]),
  ]);
  await write(space, [replace({ id: 'b', content: 'tea at midnight' }, [0, 1, 1])], { verb: 'update' });
  await write(space, [{ kind: 'link', link: { ids: ['a', 'b'], kind: 'stated', weight: 0.5, at: start } }], {
    verb: 'link',
  });
  await use(space, ['a'], ({ accessCount }) => ({ accessCount: accessCount + 1 }));
}

async function damage(sql: string): Promise<void> {
  const connection = await connect(path(), { readOnly: false, timeout: 0 });
  connection.database.exec(sql);
  connection.close();
}

/** A row whose bytes are what was written, so that they are decoded. */
const termVector = (bytes: Uint8Array, row: number): BytesRow => ({
  row,
  bytes,
  checksum: checksumOf([row, bytes]),
});

test('an operation whose first event is gone is named as damaged', async () => {
  await makeSpace();
  await damage('DELETE FROM event WHERE sequence = 1');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  const { details } = await expectCode(space.operations({ limit: 9, ids: 9 }), 'store_corrupt');
  expect(details).toEqual({ table: 'event', row: 1 });
});

test('a link of a memory with itself is reported as damage, not as an error of the caller', async () => {
  await makeSpace();
  await damage('PRAGMA ignore_check_constraints = ON; UPDATE link SET b_row = a_row');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  const { details } = await expectCode(space.links(['a']), 'store_corrupt');
  expect(details).toEqual({ table: 'link', row: 'a' });
});

test('a row that does not fit into its table is reported as damage, not as a failure of SQLite', async () => {
  await makeSpace();
  await damage('CREATE UNIQUE INDEX space.foreign_index ON event (verb) WHERE sequence > 4');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'c' })]);
  await expectCode(write(space, [insert({ id: 'd' })]), 'store_corrupt');
});

test('the bytes of a term vector are read in bounded steps, whatever they are', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  fc.assert(
    fc.property(bytes, (damaged) => {
      const read: [number, number][] = [];
      try {
        decodeTermVector(termVector(damaged, 7), (id, count) => read.push([id, count]));
      } catch (error) {
        expect(error).toMatchObject({ code: 'store_corrupt', details: { table: 'term_vector', row: 7 } });
        return;
      }
      expect(read.length).toBeLessThanOrEqual(damaged.length / 2);
      const seen: [number, number][] = [];
      decodeTermVector(termVector(encodeTermVector(read), 7), (id, count) => seen.push([id, count]));
      expect(seen).toEqual(read);
    }),
    { numRuns: 500 },
  );
});

test('a number that does not end, and one too large, are damage', () => {
  for (const damaged of [
    [1, 0x80],
    [1, 0x81],
    [1],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1],
    [1, 0],
    [0, 1],
  ]) {
    expect(() => decodeTermVector(termVector(Uint8Array.from(damaged), 3), () => {})).toThrow('term_vector');
  }
});

test.each([
  ['a term vector without its end', "UPDATE term_vector SET bytes = x'0181' WHERE row = 1", 'term_vector', 1],
  ['a vector of another length', "UPDATE vector SET bytes = x'000000' WHERE row = 1", 'vector', 1],
  ['tags that are no JSON', "UPDATE memory SET tags = '[\"x' WHERE row = 2", 'memory', 2],
  ['tags that are no list', "UPDATE memory SET tags = '{}' WHERE row = 2", 'memory', 2],
  ['metadata that is not valid JSON', "UPDATE memory SET metadata = 'x' WHERE row = 2", 'memory', 2],
  ['sessions that are no texts', "UPDATE memory SET sessions = '[1]' WHERE row = 2", 'memory', 2],
  ['superseded memories that are no list', "UPDATE memory SET supersedes = '7' WHERE row = 2", 'memory', 2],
])('%s fails with the table and the row, in a search and in looking back', async (_, sql, table, row) => {
  await makeSpace();
  await damage(sql);
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  const read = [searchIn(space, words), searchIn(space, vector), space.asKnown(start + 1, async () => [])];
  for (const answer of read)
    expect((await expectCode(answer, 'store_corrupt')).details).toMatchObject({ table, row });
  expect(await space.check().catch((error: SalienceError) => [error.code])).not.toEqual([]);
});

test.each([
  ['a log that is not valid JSON', "UPDATE event SET before = '{' WHERE before IS NOT NULL", 'event', 3],
  [
    'a log that is no record',
    'UPDATE event SET before = \'{"id":"b"}\' WHERE before IS NOT NULL',
    'event',
    3,
  ],
  [
    'a change of a link that is none',
    'UPDATE event SET link = \'{"link":7}\' WHERE link IS NOT NULL',
    'event',
    4,
  ],
])('%s fails with the table and the row, in the history', async (_, sql, table, row) => {
  await makeSpace();
  await damage(sql);
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  const histories = Promise.all(['a', 'b'].map((id) => space.history(id)));
  expect((await expectCode(histories, 'store_corrupt')).details).toMatchObject({ table, row });
});

test.each([
  ['used', "UPDATE usage SET used = 'x'"],
  ['used', "UPDATE usage SET used = '[7]'"],
  ['before', 'UPDATE usage SET before = \'{"memories":[]}\''],
])('a damaged log of uses fails with its row (%s)', async (column, sql) => {
  await makeSpace();
  await damage(sql);
  await using store = createSqliteStore({ directory });
  const error = await expectCode((await store.openSpace('alice')).usage(), 'store_corrupt');
  expect(error.details).toMatchObject({ table: 'usage', row: 1 });
  expect(error.message).toContain(column);
});

test('a saved index whose parts do not fit is not used', () => {
  const index = createResidentIndex();
  for (const key of [1, 2]) {
    const memory = sampleMemory({ id: `m${key}`, tags: ['x'] });
    putMemory(index, {
      key,
      ordinal: key,
      signals: signalsOf(memory),
      tags: memory.tags,
      turn: turnOf(memory),
      termIds: [1, 2],
      termCounts: [1, 40],
      vector: sampleIndexed(memory, [key, 1, 0]).vector,
    });
  }
  const parts = encodePages(index);
  expect(decodePages(parts)).toBeDefined();
  expect(parts.size).toBeGreaterThan(20);
  for (const [name, bytes] of parts) {
    expect(decodePages(new Map([...parts, [name, bytes.subarray(1)]])), name).toBeUndefined();
  }
  const changed = [
    ['postings', Uint8Array.of(1, 9, 0, 0)],
    ['attribute.type', Uint8Array.of(9)],
    ['terms', new Uint8Array(new Float64Array([1, 1e9]).buffer)],
    ['header', new TextEncoder().encode('{"layout":3}')],
    ['header', Uint8Array.of(0xff)],
  ] as const;
  for (const [name, start] of changed) {
    const bytes = (parts.get(name) as Uint8Array).slice(0, name === 'header' ? start.length : undefined);
    bytes.set(start);
    expect(decodePages(new Map([...parts, [name, bytes]])), name).toBeUndefined();
  }
});

test('invalid JSON in the usage log is store_corrupt, not an error of SQLite', async () => {
  await makeSpace();
  await damage("UPDATE usage SET used = '{' WHERE sequence = 1");
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await expectCode(write(space, [{ kind: 'redact', id: 'a' }], { verb: 'forget' }), 'store_corrupt');
});

test('a row whose number became huge is counted and found at once', async () => {
  await makeSpace();
  await damage(`PRAGMA foreign_keys = OFF; UPDATE memory SET row = ${2 ** 52} WHERE id = 'b'`);
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  expect((await space.info()).memories).toBe(2);
  expect(await space.check()).toContain('1 memories without their terms: reindex the space');
});

test('a whole number that is too large is damage, however many rows are read at once', async () => {
  await makeSpace();
  await damage('UPDATE term SET id = 9007199254740993 WHERE id = (SELECT max(id) FROM term)');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  await expectCode(
    space.asKnown(start + 1, async () => []),
    'store_corrupt',
  );
  await expectCode(space.check(), 'store_corrupt');
});

test('check names a row that cannot be read, and compares nothing with it', async () => {
  await makeSpace();
  await damage("UPDATE memory SET supersedes = 'null' WHERE id = 'a'");
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  expect(await space.check()).toEqual([
    'the row 1 of memory is damaged: its supersedes is malformed. Run doctor, then restore the space from a backup',
  ]);
});

test('a backup that fails because the space is damaged names the file of the space', async () => {
  await makeSpace();
  const connection = await connect(path(), { readOnly: false, timeout: 0 });
  const { page } = connection.get(
    "SELECT rootpage AS page FROM space.sqlite_schema WHERE name = 'event'",
  ) as {
    page: number;
  };
  connection.close();
  const file = await open(path(), 'r+');
  await file.write(Buffer.alloc(4096), 0, 4096, (page - 1) * 4096);
  await file.close();
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice', { readOnly: true });
  const error = await expectCode(space.backup(join(directory, 'backup')), 'store_corrupt');
  expect(error.message).toBe(
    `${path()} is damaged, or its disk cannot be read. Check the disk and try again; if the error stays, restore the file from a backup`,
  );
  expect((await readdir(directory)).filter((name) => name.includes('backup'))).toEqual([]);
});
