import { expect, test } from 'vitest';
import { BUILTIN_PROFILE_NAMES, builtinProfile, explain, score } from './index.ts';

test('scoped golden', () => {
  expect(BUILTIN_PROFILE_NAMES.map((name) => builtinProfile(name).name)).toEqual(BUILTIN_PROFILE_NAMES);
  const now = '2026-01-06T00:00:00Z';
  const signals = { similarity: 0.92, scope: 'project:match', updatedAt: '2026-01-01T00:00:00Z' };
  expect(score('scoped', signals, { now })).toBeCloseTo(0.897, 3);
  expect(explain('scoped', signals, { now }).value).toBe(score('scoped', signals, { now }));
});
