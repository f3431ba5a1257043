import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootstrapIntervals } from './bootstrap.ts';
import { randomWords } from './random.ts';

const gains = [0.2, 0, 0.5, 0.1, 0, 0.3, 0.4, 0, 0.2, 0.1];

/** The same by its definition: draw, take the mean, sort, look up. */
function naive(values: readonly number[], weights: readonly number[], rounds: number, seed: number) {
  const random = randomWords(seed);
  const means = Array.from({ length: rounds }, () => {
    const drawn = values.map(() => Math.floor((random() / 2 ** 32) * values.length));
    const mass = drawn.reduce((sum, at) => sum + weights[at]!, 0);
    return drawn.reduce((sum, at) => sum + weights[at]! * values[at]!, 0) / mass;
  }).sort((left, right) => left - right);
  const at = (share: number) => {
    const place = share * (rounds - 1);
    const low = means[Math.floor(place)]!;
    return low + (place - Math.floor(place)) * (means[Math.ceil(place)]! - low);
  };
  return { low: at(0.025), high: at(0.975) };
}

test('is the interval of its definition', () => {
  const pair = fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 15 }), fc.nat(), (pairs, seed) => {
      const [values, weights] = [pairs.map(([value]) => value), pairs.map(([, weight]) => weight)];
      const expected = naive(values, weights, 60, seed);
      const [found] = bootstrapIntervals([values], { weights, rounds: 60, seed });
      expect(found!.low).toBeCloseTo(expected.low, 12);
      expect(found!.high).toBeCloseTo(expected.high, 12);
    }),
    { numRuns: 40 },
  );
});

test('comes near the interval of the normal distribution', () => {
  const random = randomWords(7);
  const values = Array.from({ length: 400 }, () => random() / 2 ** 32);
  const mean = values.reduce((sum, each) => sum + each, 0) / 400;
  const deviation = Math.sqrt(values.reduce((sum, each) => sum + (each - mean) ** 2, 0) / 399);
  const [interval] = bootstrapIntervals([values]);
  expect(interval!.low).toBeCloseTo(mean - (1.96 * deviation) / 20, 2);
  expect(interval!.high).toBeCloseTo(mean + (1.96 * deviation) / 20, 2);
});

test('the same seed gives the same interval, and columns share what is drawn', () => {
  const doubled = gains.map((gain) => 2 * gain);
  const [first, second] = bootstrapIntervals([gains, doubled], { seed: 3 });
  expect(second!.low).toBeCloseTo(2 * first!.low, 12);
  expect(second!.high).toBeCloseTo(2 * first!.high, 12);
  expect(bootstrapIntervals([gains], { seed: 3 })).toEqual([first]);
  expect(bootstrapIntervals([gains], { seed: 4 })).not.toEqual([first]);
});

test('values of one group are drawn together', () => {
  // Two conversations, one with gains alone and one with losses alone: as many values, and little evidence.
  const values = [...Array<number>(50).fill(1), ...Array<number>(50).fill(-1)];
  const groups = values.map((value) => String(value));
  const [alone] = bootstrapIntervals([values]);
  const [together] = bootstrapIntervals([values], { groups });
  expect(alone!.high).toBeLessThan(0.3);
  expect(together).toEqual({ low: -1, high: 1 });
  // Each in a group of its own is no group at all.
  const single = values.map((_, at) => String(at));
  expect(bootstrapIntervals([values], { groups: single })).toEqual([alone]);
});

test('an interval that ends at 0 ends at 0 whatever rounding does: else it would exclude it', () => {
  // In sixtieths and tenths all sums are whole numbers, and exact.
  const sixtieths = [-20, 15, 0, 20, 15, 0, 15, 0, 30, 12];
  const tenths = [10, 70, 20, 3, 20, 1, 3, 1, 20, 10];
  const options = { rounds: 41, seed: 1 };
  const [exact] = bootstrapIntervals([sixtieths], { ...options, weights: tenths });
  expect(exact!.low).toBe(0);
  const values = sixtieths.map((value) => value / 60);
  const weights = tenths.map((weight) => weight / 10);
  const [found] = bootstrapIntervals([values], { ...options, weights });
  expect(found!.low).toBe(0);
  expect(found!.high).toBeCloseTo(exact!.high / 60, 12);
});

test('columns without values or of different lengths are refused', () => {
  const refused = expect.objectContaining({ code: 'invalid_argument' });
  expect(() => bootstrapIntervals([])).toThrow(refused);
  expect(() => bootstrapIntervals([[]])).toThrow(refused);
  expect(() => bootstrapIntervals([[1], [1, 2]])).toThrow(refused);
  expect(() => bootstrapIntervals([[1, 2]], { weights: [1] })).toThrow(refused);
  expect(() => bootstrapIntervals([[1, 2]], { groups: ['a'] })).toThrow(refused);
});

test.each([
  ['columns[0][1]', [[1, Number.NaN]]],
  [
    'columns[1][0]',
    [
      [1, 2],
      ['x', 1],
    ],
  ],
  ['columns[1]', [[1, 2], null]],
])(
  '%s is refused when it is not a finite number: an interval of the others would look right',
  (field, columns) => {
    expect(() => bootstrapIntervals(columns as number[][])).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { field } }),
    );
  },
);

test.each<[string, object]>([
  ['rounds', { rounds: 0 }],
  ['rounds', { rounds: -1 }],
  ['rounds', { rounds: 1.5 }],
  ['rounds', { rounds: 10_000_001 }],
  ['seed', { seed: -1 }],
  ['seed', { seed: 1.5 }],
  ['seed', { seed: 2 ** 32 }],
  ['seed', { seed: 'x' }],
  ['weights[0]', { weights: [0, 0] }],
  ['weights[1]', { weights: [1, Number.NaN] }],
  ['weights[1]', { weights: [1, -1] }],
])('%s of %j are refused', (field, options) => {
  expect(() => bootstrapIntervals([[1, 2]], options)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', details: { field } }),
  );
});

test('hundreds of thousands of values have an interval too', () => {
  const values = new Array<number>(200_000).fill(1);
  expect(bootstrapIntervals([values], { rounds: 1 })).toEqual([{ low: 1, high: 1 }]);
});
