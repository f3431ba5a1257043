import { expect, test } from 'vitest';
import { pairedRandomisationTest } from './significance.ts';

test('the exact value matches a calculation by hand', () => {
  // Five equal gains: of 32 swaps only none and all give a sum that large.
  expect(pairedRandomisationTest([1, 1, 1, 1, 1], [0, 0, 0, 0, 0])).toBe(2 / 32);
  // Gains 1 and 2: sums ±3, ±1; only ±3 reach 3.
  expect(pairedRandomisationTest([1, 2], [0, 0])).toBe(0.5);
  // 2 and −1: sums ±1 and ±3 all reach 1.
  expect(pairedRandomisationTest([2, 0], [0, 1])).toBe(1);
});

test('pairs without a difference change nothing', () => {
  expect(pairedRandomisationTest([1, 1, 1, 1, 1, 0.3, 0.7], [0, 0, 0, 0, 0, 0.3, 0.7])).toBe(2 / 32);
  expect(pairedRandomisationTest([0.5, 0.5], [0.5, 0.5])).toBe(1);
  expect(pairedRandomisationTest([], [])).toBe(1);
});

test('the estimate comes near the exact value, from the same seed always the same', () => {
  const first = [0.9, 0.4, 0.8, 0.6, 0.7, 0.5, 0.3, 0.9, 0.2, 0.75, 0.66, 0.81];
  const second = [0.5, 0.5, 0.6, 0.7, 0.3, 0.35, 0.4, 0.2, 0.3, 0.55, 0.7, 0.6];
  const exact = pairedRandomisationTest(first, second, { rounds: 4096 });
  expect(exact).toBeGreaterThan(0.03);
  expect(exact).toBeLessThan(0.3);
  for (const seed of [1, 2, 3]) {
    const estimate = pairedRandomisationTest(first, second, { rounds: 4095, seed });
    expect(Math.abs(estimate - exact)).toBeLessThan(0.025);
    expect(pairedRandomisationTest(first, second, { rounds: 4095, seed })).toBe(estimate);
  }
});

test('the estimate over more than 32 pairs: a clear difference, none, and either side alike', () => {
  const values = Array.from({ length: 200 }, (_, index) => ((index * 37) % 101) / 101);
  const better = values.map((value, index) => value + (index % 3 === 0 ? -0.05 : 0.1));
  const level = values.map((value, index) => value + (index % 2 === 0 ? 0.1 : -0.1));
  expect(pairedRandomisationTest(better, values)).toBe(1 / 10_001);
  expect(pairedRandomisationTest(values, better)).toBe(1 / 10_001);
  expect(pairedRandomisationTest(level, values)).toBeGreaterThan(0.9);
});

test('under no difference, p is spread evenly', () => {
  // A linear congruential generator, unrelated to the one under test.
  let state = 12345;
  const noise = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31 - 0.5;
  };
  const trials = 300;
  const zeros = new Array<number>(40).fill(0);
  const values = Array.from({ length: trials }, (_, seed) =>
    pairedRandomisationTest(Array.from(zeros, noise), zeros, { rounds: 400, seed }),
  );
  for (const level of [0.1, 0.25, 0.5, 0.75]) {
    const share = values.filter((p) => p < level).length / trials;
    expect(Math.abs(share - level), `p < ${level}`).toBeLessThan(0.1);
  }
});

test('lists of different length are no pairs', () => {
  expect(() => pairedRandomisationTest([1], [1, 2])).toThrow(
    expect.objectContaining({ code: 'invalid_argument' }),
  );
});

test.each([
  ['first[1]', [1, Number.NaN], [0, 0]],
  ['second[0]', [1, 1], [Number.POSITIVE_INFINITY, 0]],
  ['first[0]', ['x', 1], [0, 0]],
])('%s is refused when it is not a finite number: p would be 0', (field, first, second) => {
  expect(() => pairedRandomisationTest(first as number[], second)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', details: { field } }),
  );
});

test.each([{ rounds: 0 }, { rounds: -1 }, { rounds: Number.NaN }, { seed: -1 }, { seed: 1.5 }])(
  '%j is refused',
  (options) => {
    const [field] = Object.keys(options);
    expect(() => pairedRandomisationTest([1, 2], [0, 0], options)).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { field } }),
    );
  },
);
