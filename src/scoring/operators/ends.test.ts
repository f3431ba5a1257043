import { expect, test } from 'vitest';
import { power } from '../arithmetic.ts';
import { resolveProfile } from '../profile.ts';
import { anything, intervalOf, rangeOf } from '../range.ts';
import { defineProfile, explain } from '../score.ts';
import type { Expression } from './index.ts';

const profileOf = (score: Expression) => defineProfile({ name: 'ends', description: 'Ends.', score });
const importance: Expression = { op: 'signal', name: 'importance' };

test('a value at an end of a clamp, or at the cap, is not clipped; one beyond it is', () => {
  const clamp = profileOf({ op: 'clamp', of: importance, min: 0.2, max: 0.8 });
  const capped = profileOf({ op: 'capped', of: importance, cap: 0.5 });
  const clippedOf = (profile: typeof clamp, value: number) =>
    (explain(profile, { importance: value }, { now: 0 }).detail as { clipped?: string }).clipped;
  expect([0.1, 0.2, 0.5, 0.8, 0.9].map((value) => clippedOf(clamp, value))).toEqual([
    'low',
    undefined,
    undefined,
    undefined,
    'high',
  ]);
  expect([0, 0.4, 0.5, 0.6].map((value) => clippedOf(capped, value))).toEqual([
    undefined,
    undefined,
    undefined,
    'high',
  ]);
});

test('the range of a capped value is that of its share of the cap', () => {
  const rangeOfCapped = (of: Expression, cap: number) =>
    rangeOf(resolveProfile(profileOf({ op: 'capped', of, cap })).root);
  expect(rangeOfCapped(0.4, 2)).toEqual([0.2, 0.2]);
  expect(rangeOfCapped(importance, 4)).toEqual([0, 0.25]);
  expect(rangeOfCapped(importance, 0.5)).toEqual([0, 1]);
  expect(rangeOfCapped({ op: 'signal', name: 'accessCount' }, 3)).toEqual([0, 1]);
});

test('the range of a power with a small exponent starts at 0 where its base comes close to 0', () => {
  const rangeOfPower = (exponent: number, base: readonly [number, number]) =>
    intervalOf(resolveProfile(profileOf({ op: 'power', base: importance, exponent })).root, {
      ...anything,
      signal: () => base,
    });
  // In another order of operations the base may be 0, or as large as 1e-300.
  expect(rangeOfPower(0.02, [1e-320, 1e-310])).toEqual([0, power(1e-300, 0.02)]);
  expect(rangeOfPower(0.02, [1e-320, 0.25])).toEqual([0, power(0.25, 0.02)]);
  // The difference is no more than rounding where the exponent is larger, the base is larger or it is one value.
  expect(rangeOfPower(0.5, [1e-320, 1e-310])).toEqual([power(1e-320, 0.5), power(1e-310, 0.5)]);
  expect(rangeOfPower(0.02, [1e-290, 0.25])).toEqual([power(1e-290, 0.02), power(0.25, 0.02)]);
  expect(rangeOfPower(0.02, [1e-310, 1e-310])).toEqual([power(1e-310, 0.02), power(1e-310, 0.02)]);
});
