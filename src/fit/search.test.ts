import fc from 'fast-check';
import { expect, it } from 'vitest';
import { patternSearch, type Tunable } from './search.ts';

const tunable = (name: string, start: number, min = 0, max = Infinity): Tunable => ({
  ...{ name, start, min, max },
});

it('finds the one summit of a function of the logarithms', async () => {
  await fc.assert(
    fc.asyncProperty(fc.double({ min: 0.1, max: 50, noNaN: true }), fc.nat(), async (summit, seed) => {
      const measure = ([a = 0, b = 0]: readonly number[]) =>
        -(Math.log((a + 1e-9) / summit) ** 2) - Math.log((b + 1e-9) / 3) ** 2;
      const [a = 0, b = 0] = await patternSearch([tunable('a', 1), tunable('b', 1)], measure, seed);
      // The finest step is a factor of 1.19.
      expect(Math.abs(Math.log(a / summit))).toBeLessThan(Math.log(1.13));
      expect(Math.abs(Math.log(b / 3))).toBeLessThan(Math.log(1.13));
    }),
  );
});

it('stays within the limits, and can reach them', async () => {
  const seen: number[] = [];
  const found = await patternSearch(
    [tunable('a', 1, 0.5, 5)],
    ([a = 0]) => {
      seen.push(a);
      return a;
    },
    1,
  );
  expect(found).toEqual([5]);
  expect(Math.min(...seen)).toBe(0.5);
  expect(Math.max(...seen)).toBe(5);
});

it('does not move for no gain or one that is too small', async () => {
  expect(await patternSearch([tunable('a', 3), tunable('b', 0)], () => 0.5, 1)).toEqual([3, 0]);
  expect(await patternSearch([tunable('a', 3)], ([a = 0]) => 0.5 + (a === 6 ? 4.9e-4 : 0), 1)).toEqual([3]);
  expect(await patternSearch([tunable('a', 3)], ([a = 0]) => 0.5 + (a === 6 ? 5.1e-4 : 0), 1)).toEqual([6]);
});

it('switches a parameter off, and one that is off on', async () => {
  expect(await patternSearch([tunable('a', 3)], ([a]) => (a === 0 ? 1 : 0), 1)).toEqual([0]);
  expect(await patternSearch([tunable('a', 0)], ([a = 0]) => (a > 0 ? 1 : 0), 1)).toEqual([0.1]);
  expect(await patternSearch([tunable('a', 3, 1)], ([a = 0]) => -a, 1)).toEqual([1]);
});

it('leaves values that cannot be measured', async () => {
  expect(await patternSearch([tunable('a', 1)], ([a = 0]) => (a > 3 ? -Infinity : a), 1)).toEqual([2.828]);
});
