import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { atOnce, inSlices, mapInSlices, pauseIfDue, type Scheduler, startSlices } from './slices.ts';

/** Work that takes as long as it says, and the pauses between: each with what had been done by then. */
function watched() {
  let now = 0;
  const done: number[] = [];
  const pauses: (readonly [done: number, rests: boolean])[] = [];
  const scheduler: Scheduler = {
    now: () => now,
    async pause(rests) {
      pauses.push([done.length, rests]);
      // Others took their time.
      now += 1000;
    },
  };
  return {
    scheduler,
    pauses,
    work(milliseconds: number) {
      now += milliseconds;
      return done.push(milliseconds);
    },
  };
}

describe('long work in slices', () => {
  it('pauses once a slice has lasted long enough, and not for the time that others took', async () => {
    const { scheduler, pauses, work } = watched();
    const slices = startSlices({ scheduler, most: 4 });
    const results = await mapInSlices([1, 1, 1, 1, 1, 5, 3, 1, 1], work, slices);
    expect(results).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(pauses).toEqual([
      [4, false],
      [6, false],
      [8, false],
    ]);
  });

  it('is a millisecond long where nothing else is said', async () => {
    const { scheduler, pauses, work } = watched();
    await mapInSlices([0.5, 0.5, 0.25, 2], work, startSlices({ scheduler }));
    expect(pauses.map(([done]) => done)).toEqual([2, 4]);
  });

  it('rests while others go first', async () => {
    const { scheduler, pauses, work } = watched();
    let others = true;
    const slices = startSlices({ scheduler, givesWay: () => others });
    await mapInSlices([1, 1], work, slices);
    others = false;
    await mapInSlices([1], work, slices);
    expect(pauses.map(([, rests]) => rests)).toEqual([true, true, false]);
  });

  it('gives the index of each item, and stops where one cannot be done', async () => {
    const seen: string[] = [];
    const failing = mapInSlices(
      ['a', 'b', 'c'],
      (item, index) => {
        seen.push(`${item}${index}`);
        if (item === 'b') throw new Error('b cannot be done');
      },
      startSlices(),
    );
    await expect(failing).rejects.toThrow('b cannot be done');
    expect(seen).toEqual(['a0', 'b1']);
  });

  it('of steps ends with what they return, with pauses or without', async () => {
    const { scheduler, pauses, work } = watched();
    function* steps() {
      for (let each = 0; each < 3; each++) {
        work(1);
        yield;
      }
      return 'done';
    }
    expect(atOnce(steps())).toBe('done');
    expect(pauses).toEqual([]);
    expect(await inSlices(steps(), startSlices({ scheduler, most: 2 }))).toBe('done');
    // What was done at once had taken the slice already.
    expect(pauses.map(([done]) => done)).toEqual([5]);
  });
});

describe('short pieces of work, one after the other', () => {
  it('let others in once they have kept them waiting for 2 ms, and not before', async () => {
    await turn();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
    try {
      expect(pauseIfDue()).toBeUndefined();
      clock.mockReturnValue(1001.9);
      expect(pauseIfDue()).toBeUndefined();
      clock.mockReturnValue(1002);
      let turns = 0;
      setImmediate(() => turns++);
      const pause = pauseIfDue();
      expect(pause).toBeInstanceOf(Promise);
      await pause;
      expect(turns).toBe(1);
      // Others had their turn: it begins anew.
      expect(pauseIfDue()).toBeUndefined();
      clock.mockReturnValue(1008.5);
      expect(pauseIfDue()).toBeInstanceOf(Promise);
      await turn();
      // However long nobody had anything to do.
      clock.mockReturnValue(5000);
      expect(pauseIfDue()).toBeUndefined();
    } finally {
      clock.mockRestore();
    }
  });
});
