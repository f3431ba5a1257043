import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScript } from '../../../test/processes/start-script.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { sampleIndexed, sampleMemory } from '../../testing/sample-memory.ts';
import { searchIn } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
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
  const profile = resolveProfile(builtinProfile('bm25'));
  const search = () =>
    searchIn(space, { profile, query: { terms: ['written'] }, filter: {}, now: 0, limit: 10_000 });
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

test('4 processes × 250 uses of the same memories: no count, session or strengthening is lost', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-processes-'));
  const store = createSqliteStore({ directory, synchronous: 'normal' });
  const space = await store.openSpace('shared');
  await space.write({ verb: 'remember', at: 0 }, async () => ({
    changes: ['a', 'b'].map((id) => {
      const memory = sampleMemory({ id, content: 'shared' });
      return { kind: 'insert', memory, indexed: sampleIndexed(memory) } as const;
    }),
    result: undefined,
  }));
  const names = ['p', 'q', 'r', 's'];
  const users = names.map((name) => startScript('counting-user.mjs', directory, name, '250'));
  for (const user of users) {
    const { value } = await user.lines.next();
    if (value !== 'used') throw new Error(`a user ended early: ${(await user.ended).errors}`);
  }
  for (const user of users) {
    user.child.stdin.write('read\n');
    const { value } = await user.lines.next();
    expect(JSON.parse(value as string)).toEqual([
      [1000, 4],
      [1000, 4],
    ]);
    expect(await user.ended).toEqual({ code: 0, signal: null, errors: '' });
  }
  for (const memory of await space.get(['a', 'b'])) {
    expect(memory?.accessCount).toBe(1000);
    expect(memory?.sessions.toSorted()).toEqual(names);
  }
  expect((await space.links(['a']))[0]?.weight).toBe(1000 / 2 ** 12);
  const usage = await space.usage();
  expect(usage).toHaveLength(1000);
  for (const name of names) expect(usage.filter(({ sessionId }) => sessionId === name)).toHaveLength(250);
  expect((await space.info()).sequence).toBe(2);
  expect(await space.check()).toEqual([]);
  await store.close();
  await rm(directory, { recursive: true, force: true });
});

test('what another process writes stays, where the shared memory of this one was deleted', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-processes-'));
  const store = createSqliteStore({ directory });
  const space = await store.openSpace('shared');
  const counter = sampleMemory({ id: 'counter', content: 'shared' });
  await space.write({ verb: 'remember', at: 0 }, async () => ({
    changes: [{ kind: 'insert', memory: counter, indexed: sampleIndexed(counter) }],
    result: undefined,
  }));
  await rm(join(directory, `${fileNameOf('shared')}-shm`));
  const writer = startScript('counting-writer.mjs', directory, 'a', '5');
  expect((await writer.lines.next()).value).toBe('written');
  writer.child.stdin.write('read\n');
  await writer.lines.next();
  expect(await writer.ended).toEqual({ code: 0, signal: null, errors: '' });
  // As the last one that has the file open, it would put the log into it as it knows it, and take the rest away.
  await store.close();

  const again = createSqliteStore({ directory });
  const opened = await again.openSpace('shared');
  expect((await opened.get(['counter']))[0]?.accessCount).toBe(5);
  expect((await opened.info()).memories).toBe(6);
  expect(await opened.check()).toEqual([]);
  await again.close();
  await rm(directory, { recursive: true, force: true });
});
