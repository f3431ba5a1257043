import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { SINGLE_VALUED } from '../../domain/relation.ts';
import { openMemory } from '../../index.ts';
import { fileNameOf } from './files.ts';
import { SCHEMA_VERSION } from './schema.ts';

test('a file of version 4 opens with everything that was in it, records nothing, and can begin to', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-migrations-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  // As the last build of version 4 left it: a topic, a link, a use, and settings of its own.
  const file = await readFile(new URL('../../../test/fixtures/version-4.db.gz', import.meta.url));
  await writeFile(join(directory, fileNameOf('alice')), gunzipSync(file));
  await using memory = await openMemory({
    path: directory,
    space: 'alice',
    embedder: 'none',
    clock: () => Date.UTC(2026, 2, 3),
  });
  expect(await memory.check()).toEqual([]);
  const { schemaVersion, settings } = await memory.stats();
  expect(schemaVersion).toBe(SCHEMA_VERSION);
  expect(settings).toEqual({
    fading: { mode: 'retention', curve: 'exponential', daysAtFloor: 7, daysCold: 180 },
    recordRecalls: 'off',
    timeZone: 'Europe/Berlin',
    singleValued: SINGLE_VALUED,
    people: 'off',
  });
  const { memories } = await memory.list({ sort: 'inserted' });
  expect(memories.map(({ id, content }) => [id, content])).toEqual([
    ['tea', 'Green tea at seven'],
    ['coffee', 'Black coffee at nine'],
  ]);
  expect((await memory.recall('tea')).trace.recallId).toBeUndefined();
  expect(await memory.recalls()).toEqual([]);
  // Settings from before there was a choice are given back as they were.
  expect((await memory.undo()).verb).toBe('configure');
  expect((await memory.configure()).timeZone).toBe('UTC');
  await memory.configure({ recordRecalls: { texts: true } });
  const { trace } = await memory.recall('tea');
  expect(await memory.replay(trace.recallId as string)).toMatchObject({ equal: true });
  expect(await memory.check()).toEqual([]);
});
