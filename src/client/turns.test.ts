import { describe, expect, test } from 'vitest';
import { createTurns } from './turns.ts';

/** Calls that end when they are told to. */
function pendingCalls(most: number) {
  const inTurn = createTurns(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const call = (name: string, signal?: AbortSignal) =>
    inTurn(() => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    }, signal);
  return { inTurn, begun, call, end: (name: string) => ends.get(name)?.() };
}

describe('calls in turn', () => {
  test('at most so many run at once, and the others begin in their order', async () => {
    const { begun, call, end } = pendingCalls(2);
    const calls = ['a', 'b', 'c', 'd'].map((name) => call(name));
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await calls[1];
    // A call that comes now does not overtake one that waits.
    const last = call('e');
    await Promise.resolve();
    expect(begun).toEqual(['a', 'b', 'c']);
    end('a');
    end('c');
    await Promise.all([calls[0], calls[2]]);
    await Promise.resolve();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    end('d');
    end('e');
    expect(await Promise.all([calls[3], last])).toEqual(['d', 'e']);
  });

  test('a call that fails gives its place to the next', async () => {
    const inTurn = createTurns(1);
    const failing = inTurn(() => Promise.reject(new Error('no')));
    const next = inTurn(async () => 'next');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  test('an aborted call ends at once, is never begun, and takes no place', async () => {
    const { begun, call, end } = pendingCalls(1);
    const first = call('a');
    const controller = new AbortController();
    const aborted = call('b', controller.signal);
    const third = call('c');
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', cause: { message: 'enough' } });
    await expect(call('d', controller.signal)).rejects.toMatchObject({ code: 'aborted' });
    expect(begun).toEqual(['a']);
    end('a');
    await first;
    await Promise.resolve();
    expect(begun).toEqual(['a', 'c']);
    end('c');
    expect(await third).toBe('c');
    expect(await createTurns(1)(async () => 'free')).toBe('free');
  });
});
