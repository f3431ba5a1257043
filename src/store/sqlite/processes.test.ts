import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScript } from '../../../test/processes/start-script.ts';
import { bindProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { sampleIndexed, sampleMemory } from '../../testing/sample-memory.ts';
import { createSqliteStore } from './index.ts';

test('4 processes × 500 writes on one file: none is lost, and each sees the others at its next read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-processes-'));
  const store = createSqliteStore({ directory, synchronous: 'normal' });
  const space = await store.openSpace('shared');
  const counter = sampleMemory({ id: 'counter', content: 'shared' });
  await space.write({ verb: 'remember', at: 0 }, async () => ({
    changes: [{ kind: 'insert', memory: counter, indexed: sampleIndexed(counter) }],
    result: undefined,
  }));
  const profile = bindProfile(builtinProfile('bm25'));
  const search = () =>
    space.search({ profile, query: { terms: ['written'] }, filter: {}, now: 0, limit: 10_000 });
  expect((await search()).hits).toEqual([]);

  const names = ['a', 'b', 'c', 'd'];
  const writers = names.map((name) => startScript('counting-writer.mjs', directory, name, '500'));
  for (const writer of writers) {
    const { value } = await writer.lines.next();
    if (value !== 'written') throw new Error(`a writer ended early: ${(await writer.ended).errors}`);
  }
  const sequence = 1 + 4 * 500 * 2;
  for (const writer of writers) {
    writer.child.stdin.write('read\n');
    const { value } = await writer.lines.next();
    expect(JSON.parse(value as string)).toEqual({ found: 2000, sequence });
    expect(await writer.ended).toEqual({ code: 0, signal: null, errors: '' });
  }

  expect((await space.get(['counter']))[0]?.accessCount).toBe(2000);
  const found = await search();
  expect(found.sequence).toBe(sequence);
  const expected = names.flatMap((name) => Array.from({ length: 500 }, (_, index) => `${name}-${index}`));
  expect(found.hits.map((hit) => hit.memory.id).toSorted()).toEqual(expected.toSorted());
  expect(await space.check()).toEqual([]);
  await store.close();
  await rm(directory, { recursive: true, force: true });
});
