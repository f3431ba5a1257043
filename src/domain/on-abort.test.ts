import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort } from './on-abort.ts';

test('calls that share a signal share one listener of it, which goes with the last of them', () => {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const called: number[] = [];
  const listening = () => getEventListeners(signal, 'abort').length;
  const ends = Array.from({ length: 20 }, (_, at) => onAbort(signal, () => called.push(at)));
  expect(listening()).toBe(1);
  for (const end of ends) end();
  for (const end of ends) end();
  expect(listening()).toBe(0);
  const again = [3, 4, 5].map((at) => onAbort(signal, () => called.push(at)));
  again[1]?.();
  again[1]?.();
  expect(listening()).toBe(1);
  giveUp.abort();
  expect(called).toEqual([3, 5]);
});
