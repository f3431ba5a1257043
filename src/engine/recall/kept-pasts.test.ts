import { describe, expect, test } from 'vitest';
import type { PastSpace, SpaceStore } from '../../store/store.ts';
import { day, live } from '../../testing/live-memory.ts';
import { pastOf } from './kept-pasts.ts';

/** A space that counts how often it was walked back. */
function counted(memories = 1) {
  let version = 0;
  const opened: number[] = [];
  const space = { version: async () => version } as unknown as SpaceStore;
  const look = (known: number) =>
    pastOf(space, known, async () => {
      opened.push(known);
      return { memories } as unknown as PastSpace;
    });
  return {
    opened,
    look,
    commit: () => {
      version += 1;
    },
  };
}

describe('moments of the past that are kept', () => {
  test('the last four are cached', async () => {
    const { opened, look } = counted();
    const first = await look(1);
    for (const known of [2, 3, 4, 1, 2, 3, 4]) await look(known);
    expect(await look(1)).toBe(first);
    expect(opened).toEqual([1, 2, 3, 4]);
    await look(5);
    // The one that was looked at longest ago has gone.
    await look(1);
    expect(opened).toEqual([1, 2, 3, 4, 5]);
    await look(2);
    expect(opened).toEqual([1, 2, 3, 4, 5, 2]);
  });

  test('a commit drops them all', async () => {
    const { opened, look, commit } = counted();
    await look(1);
    commit();
    await look(1);
    expect(opened).toEqual([1, 1]);
  });

  test('fewer are cached for large spaces', async () => {
    const { opened, look } = counted(20_000);
    for (const known of [1, 2, 3, 2, 3, 1]) await look(known);
    expect(opened).toEqual([1, 2, 3, 1]);
    const huge = counted(60_000);
    await huge.look(1);
    await huge.look(1);
    expect(huge.opened).toEqual([1, 1]);
  });

  test('a forgotten memory is gone from a cached past', async () => {
    const { memory, clock } = await live();
    await memory.remember('Coffee is served at eight', { id: 'eight' });
    await memory.remember('Coffee is served at nine', { id: 'nine' });
    const known = new Date(clock.now());
    clock.advance(day);
    const ids = async () => {
      const { hits, trace } = await memory.recall('coffee', { asOf: { known }, track: false });
      return [hits.map((hit) => hit.memory.id).sort(), trace.asOf?.redacted];
    };
    expect(await ids()).toEqual([['eight', 'nine'], 0]);
    expect(await ids()).toEqual([['eight', 'nine'], 0]);
    await memory.forget('eight');
    expect(await ids()).toEqual([['nine'], 1]);
  });
});
