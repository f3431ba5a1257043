import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cappedLinear, exponentialDecay, halfLifeOfRate, power, powerDecay } from './arithmetic.ts';

describe('exponential decay', () => {
  test.each([
    [0, 1],
    [14, 0.5],
    [28, 0.25],
    [42, 0.125],
    [56, 0.0625],
  ])('with a half-life of 14 days, %d days leave %d ("Composite Scoring", recency decay)', (age, left) => {
    expect(exponentialDecay(age, 14)).toBeCloseTo(left, 12);
  });

  test('a rate is the same curve: λ .05 has a half-life of 13.863 days', () => {
    expect(halfLifeOfRate(0.05)).toBeCloseTo(13.863, 3);
    expect(exponentialDecay(14, halfLifeOfRate(0.05))).toBeCloseTo(Math.exp(-0.7), 14);
  });

  test('never rises with age', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e5, noNaN: true }),
        fc.double({ min: 0, max: 1e5, noNaN: true }),
        fc.double({ min: 0.1, max: 1e4, noNaN: true }),
        (a, b, halfLife) => {
          const [younger, older] = a < b ? [a, b] : [b, a];
          expect(exponentialDecay(older, halfLife)).toBeLessThanOrEqual(exponentialDecay(younger, halfLife));
        },
      ),
    );
  });
});

test.each([
  [-3, 0],
  [0, 0],
  [5, 0.5],
  [10, 1],
  [50, 1],
])('cappedLinear(%d, 10) is %d', (count, share) => {
  expect(cappedLinear(count, 10)).toBe(share);
});

test('a power decay has a longer tail than an exponential one of the same scale', () => {
  expect(powerDecay(0, 10, 2)).toBe(1);
  expect(powerDecay(10, 10, 2)).toBeCloseTo(0.25, 12);
  expect(powerDecay(1000, 10, 2)).toBeGreaterThan(exponentialDecay(1000, 10 * Math.LN2));
});

test('power: 0 to any power is 0, everything else as exp and log have it', () => {
  expect(power(0, 0)).toBe(0);
  expect(power(0, 0.3)).toBe(0);
  expect(power(5, 0)).toBe(1);
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      fc.double({ min: 0, max: 5, noNaN: true }),
      (base, exponent) => {
        const expected = base ** exponent;
        expect(Math.abs(power(base, exponent) - expected)).toBeLessThanOrEqual(1e-12 * expected);
      },
    ),
  );
});
