import { expect, test } from 'vitest';
import { mapConcurrently } from './concurrency.ts';

const costOf = (item: number) => item;

test('results come in the order of the items, the costliest start first', async () => {
  const started: number[] = [];
  const work = async (item: number) => {
    started.push(item);
    return item * 10;
  };
  expect(await mapConcurrently([1, 3, 2], { costOf, concurrency: 2 }, work)).toEqual([10, 30, 20]);
  expect(started).toEqual([3, 2, 1]);
  started.length = 0;
  expect(await mapConcurrently([1, 3, 2], { costOf }, work)).toEqual([10, 30, 20]);
  expect(started).toEqual([1, 3, 2]);
  expect(await mapConcurrently([], { costOf, concurrency: 4 }, work)).toEqual([]);
});

test('one that fails ends the others by their signal, and nothing more starts', async () => {
  const started: number[] = [];
  const ended: unknown[] = [];
  const work = (item: number, signal: AbortSignal) => {
    started.push(item);
    if (item === 1) return Promise.reject(new Error('first'));
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        ended.push(item);
        reject(new Error('second'));
      });
    });
  };
  await expect(mapConcurrently([1, 9, 0], { costOf, concurrency: 2 }, work)).rejects.toThrow('first');
  expect([started, ended]).toEqual([[9, 1], [9]]);
});
