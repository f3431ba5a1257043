import { describe, expect, test } from 'vitest';
import { createWatch, LOOK_EVERY } from './watch.ts';

/** A space whose version the test moves, and a timer that the test runs. */
function sample() {
  let version = 0;
  let looks = 0;
  let now = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const watch = createWatch(
    {
      name: 'alice',
      async version() {
        looks++;
        return version;
      },
    },
    (run, milliseconds) => {
      const timer = { at: now + milliseconds, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
  );
  /** Lets everything happen that waits for no timer. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    watch,
    settle,
    commit: () => void version++,
    looks: () => looks,
    timers: () => timers.length,
    async pass(milliseconds: number) {
      await settle();
      const end = now + milliseconds;
      for (;;) {
        const [next] = timers.toSorted((a, b) => a.at - b.at);
        if (!next || next.at > end) break;
        now = next.at;
        timers = timers.filter((each) => each !== next);
        next.run();
        await settle();
      }
      now = end;
    },
  };
}

/** What a promise has come to so far. */
function watched<Result>(promise: Promise<Result>) {
  const seen: { value?: Result | undefined; ended: boolean; code?: unknown } = { ended: false };
  promise.then(
    (value) => Object.assign(seen, { value, ended: true }),
    (error: { code: unknown }) => Object.assign(seen, { code: error.code, ended: true }),
  );
  return seen;
}

const nothing = async () => undefined;

describe('a watch', () => {
  test('reads once if it need not wait, and leaves no timer', async () => {
    const { watch, timers } = sample();
    let reads = 0;
    const read = async () => void reads++;
    expect(await watch.until(read, 0)).toBeUndefined();
    expect(await watch.until(async () => 'there', 5000)).toBe('there');
    expect([reads, timers()]).toEqual([1, 0]);
  });

  test('reads again once something was committed, and not before', async () => {
    const { watch, pass, commit, timers } = sample();
    let [reads, there] = [0, false];
    const read = async () => {
      reads++;
      return there ? 'found' : undefined;
    };
    const answer = watched(watch.until(read, 60_000));
    await pass(10 * LOOK_EVERY);
    expect([reads, answer.ended]).toEqual([1, false]);
    commit();
    await pass(LOOK_EVERY);
    expect([reads, answer.ended]).toEqual([2, false]);
    there = true;
    commit();
    await pass(LOOK_EVERY);
    expect(answer).toEqual({ value: 'found', ended: true });
    expect(timers()).toBe(0);
  });

  test('misses nothing that is committed while it reads', async () => {
    const { watch, pass, commit } = sample();
    let there = false;
    const answer = watched(
      watch.until(async () => {
        if (there) return 'found';
        there = true;
        commit();
        return undefined;
      }, 60_000),
    );
    await pass(LOOK_EVERY);
    expect(answer.value).toBe('found');
  });

  test('ends when the time is up', async () => {
    const { watch, pass, timers } = sample();
    const answer = watched(watch.until(nothing, 250));
    await pass(249);
    expect(answer.ended).toBe(false);
    await pass(1);
    expect(answer).toEqual({ value: undefined, ended: true });
    expect(timers()).toBe(0);
  });

  test('polls once for all waiting calls', async () => {
    const { watch, pass, looks } = sample();
    const answers = Array.from({ length: 50 }, () => watched(watch.until(nothing, 10_000)));
    await pass(0);
    const begun = looks();
    await pass(10 * LOOK_EVERY);
    expect(looks() - begun).toBe(10);
    await pass(10_000);
    expect(answers.every(({ ended }) => ended)).toBe(true);
  });

  test('ends with its signal, and leaves the others waiting', async () => {
    const { watch, pass, settle, timers } = sample();
    const controller = new AbortController();
    const [one, other] = [
      watched(watch.until(nothing, 500, controller.signal)),
      watched(watch.until(nothing, 500)),
    ];
    await pass(LOOK_EVERY);
    controller.abort();
    await settle();
    expect([one.code, other.ended]).toEqual(['aborted', false]);
    await pass(500);
    expect([other.ended, timers()]).toEqual([true, 0]);
  });

  test('ends with the memory, and waits no more then', async () => {
    const { watch, pass, settle, timers } = sample();
    const answer = watched(watch.until(nothing, 500));
    await pass(LOOK_EVERY);
    watch.close();
    await settle();
    expect([answer.code, timers()]).toEqual(['closed', 0]);
    await expect(watch.until(nothing, 500)).rejects.toMatchObject({ code: 'closed' });
    expect(await watch.until(nothing, 0)).toBeUndefined();
  });

  test('if the version cannot be read, the read itself reports the error', async () => {
    let fails = false;
    const { pass, settle } = sample();
    const timers: (() => void)[] = [];
    const watch = createWatch(
      {
        name: 'alice',
        async version() {
          if (fails) throw Object.assign(new Error('gone'), { code: 'store_failed' });
          return 1;
        },
      },
      (run) => {
        timers.push(run);
        return () => {};
      },
    );
    const answer = watched(watch.until(nothing, 500));
    await pass(0);
    fails = true;
    timers.at(-1)?.();
    await settle();
    expect(answer.code).toBe('store_failed');
  });
});
