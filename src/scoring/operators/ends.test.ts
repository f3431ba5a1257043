import { expect, test } from 'vitest';
import { resolveProfile } from '../profile.ts';
import { rangeOf } from '../range.ts';
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
