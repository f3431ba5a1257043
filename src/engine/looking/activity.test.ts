import { setTimeout as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemory } from '../../index.ts';
import type { Store } from '../../store/store.ts';
import { live, liveOnDisk } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

test('tells writes and uses in order, from any position', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  expect(await memory.activity()).toEqual({ entries: [], position: '0.0' });
  await memory.rememberMany([
    { id: 'a', content: 'Ann drinks tea' },
    { id: 'b', content: 'Ben drinks tea' },
  ]);
  clock.advance(1000);
  await memory.markUsed(['b', 'a'], { sessionId: 's' });
  await memory.link('a', 'b');
  await memory.configure({ timeZone: 'Europe/Berlin' });
  await memory.undo({ operation: 3 });
  const at = '2026-01-01T00:00:01.000Z';
  const { entries, position } = await memory.activity('start');
  expect(entries).toEqual([
    { kind: 'write', at: '2026-01-01T00:00:00.000Z', operation: 1, verb: 'remember', ids: ['a', 'b'] },
    expect.objectContaining({ kind: 'use', at, effect: 'touch', ids: ['b', 'a'], sessionId: 's' }),
    { kind: 'write', at, operation: 3, verb: 'link', ids: ['a', 'b'] },
    { kind: 'write', at, operation: 4, verb: 'configure', ids: [] },
    { kind: 'write', at, operation: 5, verb: 'undo', ids: ['a', 'b'], undoes: 3 },
  ]);
  expect(position).toBe('5.1');
  expect(await memory.activity('end')).toEqual({ entries: [], position });
  expect(await memory.activity(position)).toEqual({ entries: [], position });
  // One operation in two parts.
  expect(await memory.activity('start', { limit: 1 })).toMatchObject({
    entries: [{ ids: ['a'] }],
    position: '1.0',
  });
  expect(await memory.activity('1.0', { limit: 1 })).toMatchObject({
    entries: [{ ids: ['b'] }],
    position: '2.0',
  });
  expect(await memory.activity('2.0', { limit: 1 })).toMatchObject({
    entries: [{ kind: 'use' }],
    position: '2.1',
  });
  await memory.close();
});

test('carries nothing of what was forgotten but ids', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Her number is 555 0100', { id: 'a' });
  await memory.markUsed(['a']);
  await memory.update('a', { content: 'Her number is 555 0199' });
  await memory.forget('a');
  const { entries } = await memory.activity();
  expect(JSON.stringify(entries)).not.toContain('555');
  expect(entries.map(({ kind, ids }) => [kind, ids])).toEqual([
    ['write', ['a']],
    ['use', []],
    ['write', ['a']],
    ['write', ['a']],
  ]);
  await memory.close();
});

test.each(['', 'x', '1', '1.1.1', '-1.0', '9.0', '0.9', ' 0.0', 'START'])(
  'refuses the position %j',
  async (after) => {
    await using memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
    await memory.remember('Tea');
    await expect(memory.activity(after)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('is not a valid position of this space'),
    });
    await expect(memory.activity('start', { wait: 60_001 })).rejects.toThrow('wait: 60001');
  },
);

test('waits for what another handle of the file writes, and lets it write', async () => {
  const { memory, reopen, cleanUp } = await liveOnDisk({ embedder: 'none' });
  const other = await reopen();
  try {
    const { position } = await memory.activity('end');
    const waiting = [1, 2].map(() => memory.activity(position, { wait: 60_000 }));
    await turn(0);
    await other.remember('Tea', { id: 'a' });
    for (const each of waiting) {
      expect(await each).toMatchObject({ entries: [{ verb: 'remember', ids: ['a'] }], position: '1.0' });
    }
    const used = memory.activity('1.0', { wait: 60_000 });
    await other.markUsed(['a']);
    expect(await used).toMatchObject({ entries: [{ kind: 'use', ids: ['a'] }], position: '1.1' });
    await memory.remember('Of its own', { id: 'b' });
    expect(await memory.activity('1.1', { wait: 60_000 })).toMatchObject({ entries: [{ ids: ['b'] }] });
  } finally {
    await other.close();
    await memory.close();
    await cleanUp();
  }
});

test('waiting ends with its signal, and does not hold a memory that closes', async () => {
  const memory = await openMemory({ path: ':memory:', space: 'alice', embedder: 'none' });
  const controller = new AbortController();
  const aborted = memory.activity('end', { wait: 60_000, signal: controller.signal });
  const closed = memory.activity('end', { wait: 60_000 });
  await turn(0);
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  const ended = expect(closed).rejects.toMatchObject({ code: 'closed' });
  await memory.close();
  await ended;
});

test('the end is that of the moment in which it is read, though the space is deleted and made again meanwhile', async () => {
  const kept = createReferenceStore();
  const other = await openMemory({ store: kept, space: 'alice', embedder: 'none' });
  let isFirst = true;
  const store: Store = {
    ...kept,
    async openSpace(name, options) {
      const space = await kept.openSpace(name, options);
      return {
        ...space,
        async activity(place, limit) {
          const part = await space.activity(place, limit);
          // As after it: the log begins anew.
          const next = isFirst ? part : { ...part, end: { sequence: 0, usage: 0 } };
          isFirst = false;
          return next;
        },
      };
    },
  };
  await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  await other.remember('Tea');
  expect(await memory.activity('end')).toEqual({ entries: [], position: '1.0' });
  await other.close();
});
