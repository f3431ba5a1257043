import { expect, test } from 'vitest';
import { contextShare, holdsQuestion, NEIGHBOUR_OFFSETS, neighbourWeight } from './context.ts';

test('a text counts in full up to 25 terms, then the less the longer it is', () => {
  expect([0, 1, 2, 24, 25].map(contextShare)).toEqual([1, 1, 1, 1, 1]);
  expect(contextShare(26)).toBe(25 / 26);
  expect(contextShare(50)).toBe(0.5);
  expect(contextShare(100)).toBe(0.25);
});

test('the weights of neighbours by hand', () => {
  expect(NEIGHBOUR_OFFSETS).toEqual([-1, 1, -2, 2]);
  expect(NEIGHBOUR_OFFSETS.map((offset) => neighbourWeight(offset, false, 1, 1))).toEqual([
    0.3, 0.25, 0.15, 0.15,
  ]);
  // Only a question right before shares its words with the answer.
  expect(NEIGHBOUR_OFFSETS.map((offset) => neighbourWeight(offset, true, 1, 1))).toEqual([
    0.7, 0.25, 0.15, 0.15,
  ]);
});

test('a long text on either side makes the weight smaller', () => {
  expect(neighbourWeight(-1, true, 0.5, 1)).toBe(0.35);
  expect(neighbourWeight(-1, true, 1, 0.5)).toBe(0.35);
  expect(neighbourWeight(1, false, 0.5, 0.25)).toBe(0.25 * 0.125);
});

test('a question mark of any script makes a question', () => {
  for (const text of ['Why?', 'なぜ？', 'لماذا؟', '? first']) expect(holdsQuestion(text)).toBe(true);
  for (const text of ['', 'Why', 'So!', '¿']) expect(holdsQuestion(text)).toBe(false);
});
