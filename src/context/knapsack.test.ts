import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Knapsack, solveKnapsack } from './knapsack.ts';

/** The highest value of all 2^n choices. */
function bruteForce({ values, weights, capacity, most = values.length }: Knapsack): number {
  let best = 0;
  for (let choice = 0; choice < 1 << values.length; choice++) {
    let [value, weight, count] = [0, 0, 0];
    for (let item = 0; item < values.length; item++) {
      if ((choice & (1 << item)) === 0) continue;
      value += values[item]!;
      weight += weights[item]!;
      count += 1;
    }
    if (weight <= capacity && count <= most) best = Math.max(best, value);
  }
  return best;
}

function sums({ values, weights }: Knapsack, taken: readonly boolean[]) {
  const items = [...values.keys()].filter((item) => taken[item]);
  const add = (numbers: readonly number[]) => items.reduce((sum, item) => sum + numbers[item]!, 0);
  return { value: add(values), weight: add(weights), count: items.length };
}

const value = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constantFrom(0, 0.1, 0.2, 0.3, 0.5, 1),
  fc.double({ min: 0, max: 1e-6, noNaN: true }),
);

const small: fc.Arbitrary<Knapsack> = fc
  .record({
    items: fc.array(fc.tuple(value, fc.nat(30)), { maxLength: 12 }),
    capacity: fc.nat(150),
    most: fc.option(fc.nat(12), { nil: undefined }),
  })
  .map(({ items, ...rest }) => ({
    values: items.map(([each]) => each),
    weights: items.map(([, weight]) => weight),
    ...rest,
  }));

/**
 * More items than the first core holds. With a spread of 0 values grow with the weight: bounds decide nothing there, the
 * table must decide.
 */
const large = (spread: number): fc.Arbitrary<Knapsack> =>
  fc
    .record({
      items: fc.array(fc.tuple(fc.integer({ min: 10, max: 40 }), fc.nat(spread)), {
        minLength: 60,
        maxLength: 90,
      }),
      fixed: fc.constantFrom(0, 3, 7),
      capacity: fc.integer({ min: 100, max: 1500 }),
      most: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    })
    .map(({ items, fixed, ...rest }) => ({
      weights: items.map(([weight]) => weight),
      values: items.map(([weight, more]) => (weight + fixed + more) / 50),
      ...rest,
    }));
const hard = large(0);

/** The optimum by the plain table over weight and count, whose values are whole fiftieths. */
function plainTable({ values, weights, capacity, most = values.length }: Knapsack): number {
  let best = Array.from({ length: most + 1 }, () => new Array<number>(capacity + 1).fill(0));
  for (const [item, weight] of weights.entries()) {
    best = best.map((row, count) =>
      row.map((without, room) =>
        count > 0 && room >= weight
          ? Math.max(without, best[count - 1]![room - weight]! + Math.round(values[item]! * 50))
          : without,
      ),
    );
  }
  return best[most]![capacity]! / 50;
}

describe('solveKnapsack', () => {
  test('finds what brute force finds', () => {
    fc.assert(
      fc.property(small, fc.constantFrom(undefined, 0, 3), (knapsack, firstCore) => {
        const { taken, lossBound } = solveKnapsack({ ...knapsack, firstCore });
        const { value, weight, count } = sums(knapsack, taken);
        expect(weight).toBeLessThanOrEqual(knapsack.capacity);
        expect(count).toBeLessThanOrEqual(knapsack.most ?? count);
        expect(lossBound).toBe(0);
        expect(value).toBeCloseTo(bruteForce(knapsack), 8);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([0, 1, 5, 50])('finds the optimum of many items whose values are spread by %i', (spread) => {
    fc.assert(
      fc.property(large(spread), (knapsack) => {
        const { taken, lossBound } = solveKnapsack(knapsack);
        expect(lossBound).toBe(0);
        expect(sums(knapsack, taken).value).toBeCloseTo(plainTable(knapsack), 8);
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test('finds the optimum of 300 memories in 8,000 tokens', () => {
    const spread = fc.nat(200);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(spread, fc.integer({ min: 20, max: 200 })), { minLength: 300, maxLength: 300 }),
        fc.integer({ min: 2000, max: 9000 }),
        fc.constantFrom(undefined, 0, 8),
        (items, capacity, firstCore) => {
          const knapsack = {
            firstCore,
            values: items.map(([value, weight]) => (value + weight) / 400),
            weights: items.map(([, weight]) => weight),
            capacity,
          };
          const table = new Float64Array(capacity + 1);
          for (const [value, weight] of items) {
            for (let room = capacity; room >= weight; room--) {
              table[room] = Math.max(table[room]!, table[room - weight]! + value + weight);
            }
          }
          const { taken, lossBound } = solveKnapsack(knapsack);
          expect(lossBound).toBe(0);
          expect(sums(knapsack, taken).value).toBeCloseTo(table[capacity]! / 400, 8);
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('says what it may lose where the table is too small, and stays within it', () => {
    let lossy = 0;
    fc.assert(
      fc.property(hard, fc.integer({ min: 50, max: 5000 }), (knapsack, maxCells) => {
        const { taken, lossBound } = solveKnapsack({ ...knapsack, maxCells });
        const { value, weight, count } = sums(knapsack, taken);
        expect(weight).toBeLessThanOrEqual(knapsack.capacity);
        expect(count).toBeLessThanOrEqual(knapsack.most ?? count);
        expect(plainTable(knapsack) - value).toBeLessThanOrEqual(lossBound + 1e-8);
        if (lossBound > 0) lossy += 1;
      }),
      { numRuns: 40, seed: 1, endOnFailure: true },
    );
    expect(lossy).toBeGreaterThan(0);
  });

  test('is never worse than taking items in their order, however small the table', () => {
    fc.assert(
      fc.property(fc.oneof(small, hard), fc.integer({ min: 1, max: 100 }), (knapsack, maxCells) => {
        let [room, places, inOrder] = [knapsack.capacity, knapsack.most ?? knapsack.values.length, 0];
        for (const [item, weight] of knapsack.weights.entries()) {
          if (weight > room || places === 0) continue;
          room -= weight;
          places -= 1;
          inOrder += knapsack.values[item]!;
        }
        const { taken } = solveKnapsack({ ...knapsack, maxCells });
        expect(sums(knapsack, taken).value).toBeGreaterThanOrEqual(inOrder - 1e-8);
      }),
    );
  });

  test('finds the best choice for the last place, where a greedy choice does not', () => {
    const one = { values: [27, 43, 28, 16, 53], weights: [14, 37, 17, 8, 37], capacity: 61, most: 2 };
    const { taken, lossBound } = solveKnapsack({ ...one, firstCore: 0 });
    expect([sums(one, taken).value, lossBound]).toEqual([bruteForce(one), 0]);
  });

  test('proves the best choice without a table if places are the limit', () => {
    const weights = Array.from({ length: 40 }, () => 10);
    const values = weights.map((_, at) => ((at * 7) % 40) + 1);
    const { taken, lossBound } = solveKnapsack({ values, weights, capacity: 200, most: 5, maxCells: 1 });
    expect([sums({ values, weights, capacity: 200 }, taken).value, lossBound]).toEqual([190, 0]);
  });

  test('is exact where there is far more room than all items need', () => {
    const weights = Array.from({ length: 20 }, () => 10);
    const values = weights.map(() => 0.5);
    const { taken, lossBound } = solveKnapsack({ values, weights, capacity: 1_000_000_000, most: 5 });
    expect([taken.filter((each) => each).length, lossBound]).toEqual([5, 0]);
  });

  test('prefers the earlier of equal items', () => {
    const equal = { values: [0.5, 0.5, 0.5, 0.5], weights: [7, 7, 7, 7], capacity: 20 };
    expect(solveKnapsack(equal).taken).toEqual([true, true, false, false]);
  });
});
