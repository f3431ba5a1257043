import { setTimeout as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemory } from '../../index.ts';
import { activityOf } from '../../store/activity.ts';
import type { Store, Usage } from '../../store/store.ts';
import { live, liveOnDisk } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

/** A position: the last event and use, and a mark of what they say. */
const at = (sequence: number, usage: number) =>
  expect.stringMatching(new RegExp(`^${sequence}\\.${usage}\\.[0-9a-f]{8}$`));

test('tells writes and uses in order, from any position', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  expect(await memory.activity()).toEqual({ entries: [], position: at(0, 0) });
  await memory.rememberMany([
    { id: 'a', content: 'Ann drinks tea' },
    { id: 'b', content: 'Ben drinks tea' },
  ]);
  clock.advance(1000);
  await memory.markUsed(['b', 'a'], { sessionId: 's' });
  await memory.link('a', 'b');
  await memory.configure({ timeZone: 'Europe/Berlin' });
  await memory.undo({ operation: 3 });
  const later = '2026-01-01T00:00:01.000Z';
  const { entries, position } = await memory.activity('start');
  expect(entries).toEqual([
    { kind: 'write', at: '2026-01-01T00:00:00.000Z', operation: 1, verb: 'remember', ids: ['a', 'b'] },
    expect.objectContaining({ kind: 'use', at: later, effect: 'touch', ids: ['b', 'a'], sessionId: 's' }),
    { kind: 'write', at: later, operation: 3, verb: 'link', ids: ['a', 'b'] },
    { kind: 'write', at: later, operation: 4, verb: 'configure', ids: [] },
    { kind: 'write', at: later, operation: 5, verb: 'undo', ids: ['a', 'b'], undoes: 3 },
  ]);
  expect(position).toEqual(at(5, 1));
  expect(await memory.activity('end')).toEqual({ entries: [], position });
  expect(await memory.activity(position)).toEqual({ entries: [], position });
  // One operation in two parts.
  const parts = [
    [{ ids: ['a'] }, 1, 0],
    [{ ids: ['b'] }, 2, 0],
    [{ kind: 'use' }, 2, 1],
  ] as const;
  let from = 'start';
  for (const [entry, sequence, usage] of parts) {
    const part = await memory.activity(from, { limit: 1 });
    expect(part).toMatchObject({ entries: [entry], position: at(sequence, usage) });
    from = part.position;
  }
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

test.each(['', 'x', '1', '1.0', '1.1.1', '-1.0.00000000', '1.0.00000000', '9.0.00000000', 'START'])(
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
      expect(await each).toMatchObject({
        entries: [{ verb: 'remember', ids: ['a'] }],
        position: at(1, 0),
      });
    }
    const written = (await memory.activity('end')).position;
    const used = memory.activity(written, { wait: 60_000 });
    await other.markUsed(['a']);
    expect(await used).toMatchObject({ entries: [{ kind: 'use', ids: ['a'] }], position: at(1, 1) });
    await memory.remember('Of its own', { id: 'b' });
    expect(await memory.activity((await used).position, { wait: 60_000 })).toMatchObject({
      entries: [{ ids: ['b'] }],
    });
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

test('refuses a position of another space, and of one that was deleted and made again', async () => {
  const store = createReferenceStore();
  let now = Date.UTC(2026, 0, 1);
  const opened = async (space: string) => {
    const memory = await openMemory({ store, space, embedder: 'none', clock: () => now });
    for (const id of ['a', 'b']) await memory.remember(`Tea ${id}`, { id });
    await memory.markUsed(['a']);
    return memory;
  };
  await using memory = await opened('alice');
  const positions = await Promise.all(
    [memory.activity('start', { limit: 1 }), memory.activity('end')].map((each) =>
      each.then((a) => a.position),
    ),
  );
  await using other = await opened('bob');
  await memory.close();
  await store.deleteSpace('alice');
  now++;
  await using again = await opened('alice');
  for (const position of positions) {
    for (const each of [other, again]) {
      await expect(each.activity(position)).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining('go on from "start" or "end"'),
      });
    }
  }
});

test('goes on from a position after a reindex, and after its memory was forgotten', async () => {
  const { memory } = await live({ embedder: 'none' });
  await memory.remember('Tea', { id: 'a' });
  await memory.markUsed(['a']);
  const { position } = await memory.activity('end');
  await memory.reindex();
  await memory.forget('a');
  expect((await memory.activity(position)).entries).toMatchObject([{ verb: 'forget', ids: ['a'] }]);
  await memory.close();
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
          const next = isFirst ? part : { ...part, from: { sequence: 0, usage: 0, stamp: '' } };
          isFirst = false;
          return next;
        },
      };
    },
  };
  await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  await other.remember('Tea');
  expect(await memory.activity('end')).toEqual({ entries: [], position: at(1, 0) });
  await other.close();
});

test('a use tells a position from one of another log, where no event does', () => {
  const stampOf = (strategy: string) => {
    const use = { kind: 'use', sequence: 1, at: 0, strategy, after: 1 } as unknown as Usage;
    return activityOf([], [use], { after: { sequence: 0, usage: 1 }, limit: 1 }).from.stamp;
  };
  expect(stampOf('hybrid')).not.toBe(stampOf('bm25'));
});
