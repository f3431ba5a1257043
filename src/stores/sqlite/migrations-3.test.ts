import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory } from '../../index.ts';
import { fileNameOf } from './files.ts';
import { SCHEMA_VERSION } from './schema.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-migrations-'));
  // As the last build of version 3 left it: sessions, a topic, links, votes, uses, and what a run of maintenance cooled.
  const file = await readFile(new URL('../../../test/fixtures/version-3.db.gz', import.meta.url));
  await writeFile(join(directory, fileNameOf('alice')), gunzipSync(file));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const now = Date.UTC(2026, 2, 3);
const open = () => openMemory({ path: directory, space: 'alice', clock: () => now });
const written = ['z', 'y', 'x', 'w', 'v'];

test('a file of version 3 opens with everything that was in it, in the order in which it was written', async () => {
  await using memory = await open();
  expect(await memory.check()).toEqual([]);
  expect((await memory.stats()).schemaVersion).toBe(SCHEMA_VERSION);
  const { memories } = await memory.list({ sort: 'inserted', limit: 100 });
  expect(memories.map(({ id }) => id)).toEqual([
    ...written,
    ...['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((day) => `run-${day}`),
  ]);
  expect(memories.map(({ ordinal }) => ordinal)).toEqual(memories.map((_, at) => at + 1));
  const tea = await memory.get('z');
  expect(tea).toMatchObject({
    content: 'Green tea at seven',
    topicKey: 'tea',
    revisionCount: 2,
    derivedFrom: [],
  });
  // It was changed in a later session, and stays born in the first.
  expect(tea?.sessionId).toBe('later');
  expect(tea?.bornIn).toBe((await memory.get('y'))?.bornIn);
  expect([tea?.author, tea?.role, tea?.seen]).toEqual([undefined, undefined, undefined]);
  const links = await memory.links('y');
  expect(
    links
      .filter(({ kind }) => kind === 'sequence')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['x', 'z']);
  expect((await memory.beliefs('tea'))[0]?.memory.content).toBe('Green tea at seven');
  expect((await memory.get('y'))?.effectiveWeight).toBe(0.1);
  expect((await memory.get('w'))?.invalidReason).toBe('not any more');
  expect((await memory.remember('Green  tea at seven ')).outcome).toBe('deduplicated');
  const next = await memory.remember('Something new', { id: 'new' });
  expect(next.outcome).toBe('created');
  expect((await memory.get('new'))?.ordinal).toBe(memories.length + 1);
});

test('a space of version 3 whose memories have faded goes on fading', async () => {
  await using memory = await open();
  expect((await memory.configure()).fading.mode).toBe('retention');
  expect((await memory.get('x'))?.tier).toBe('cold');
  expect(await memory.maintain({ dryRun: true })).toMatchObject({ fading: 'retention' });
});

test('what version 3 wrote can be looked back at and undone, and keeps its place', async () => {
  await using memory = await open();
  const asOf = { known: '2026-01-01T00:00:00.500Z' };
  const before = await memory.list({ sort: 'inserted', asOf });
  expect(before.memories.map(({ id, content }) => [id, content])).toEqual([
    ['z', 'Green tea at six'],
    ['y', 'Black coffee at nine'],
    ['x', 'Walked along the river'],
    ['w', 'Prefers dark roast'],
  ]);
  expect(before.memories.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4]);
  const { operation } = await memory.undo();
  expect(operation).toBeGreaterThan(0);
  expect((await memory.get('x'))?.tier).toBe('hot');
  expect(await memory.check()).toEqual([]);
});

test('a cursor of version 3 is refused, not misread', async () => {
  await using memory = await open();
  await expect(memory.list({ cursor: 'WzE3NjcyMjU2MDEwMDAsInJ1bi1UaHVyc2RheSJd' })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('start from the first page'),
  });
});
