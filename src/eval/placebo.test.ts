import { expect, test } from 'vitest';
import { seedOf, shuffled } from '../fit/random.ts';
import { isPlacebo, PLACEBOS, rankPlacebo } from './placebo.ts';

const memories = ['a', 'b', 'c', 'd'].map((id, at) => ({
  ...{ id, content: id, createdAt: [2, 3, 3, 1][at]!, session: undefined, type: undefined, metadata: {} },
}));
const answer = [
  { id: 'c', score: 0.9 },
  { id: 'a', score: 0.4 },
];
const input = { memories, answer, key: ['space', 'q1'], seed: 1 };

test('names of placebos are theirs alone', () => {
  expect(PLACEBOS.every(isPlacebo)).toBe(true);
  expect(isPlacebo('hybrid')).toBe(false);
});

test('each ranks the ids it is given, with scores that do not rise', () => {
  for (const placebo of PLACEBOS) {
    const hits = rankPlacebo(placebo, input);
    const expected = placebo === 'placebo:shuffled' ? ['a', 'c'] : ['a', 'b', 'c', 'd'];
    expect(hits.map(({ id }) => id).sort()).toEqual(expected);
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
  }
});

test('the newest first, and of two of one time the later in the file', () => {
  expect(rankPlacebo('placebo:recent', input).map(({ id }) => id)).toEqual(['c', 'b', 'a', 'd']);
});

test('every memory is as often first at random', () => {
  const first = new Map<string, number>();
  for (let at = 0; at < 4000; at++) {
    const { id } = rankPlacebo('placebo:random', { ...input, key: ['space', `q${at}`] })[0]!;
    first.set(id, (first.get(id) ?? 0) + 1);
  }
  for (const { id } of memories) expect(Math.abs(first.get(id)! - 1000)).toBeLessThan(120);
});

test('a seed depends on every text and on where one ends', () => {
  const seeds = [
    seedOf(1, 'ab', 'c'),
    seedOf(1, 'a', 'bc'),
    seedOf(2, 'ab', 'c'),
    seedOf(1, 'ab'),
    seedOf(1),
  ];
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(shuffled([], 1)).toEqual([]);
});
