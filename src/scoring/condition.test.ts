import { expect, test } from 'vitest';
import { conditionText, writtenCondition } from './condition.ts';

test.each([
  [undefined, 'validUntil has passed'],
  [0, 'validUntil has passed'],
  [86_400_000, 'validUntil passed at least 86400000 ms ago'],
  [-5, 'validUntil passes within 5 ms'],
])('a clock that passed by %j is said in a formula as in an explanation', (by, text) => {
  expect(writtenCondition({ passed: 'validUntil', by })).toBe(text);
  expect(conditionText({ test: 'passed', clock: 'validUntil', by: by ?? 0 })).toBe(text);
});

test('a clock that passed by a parameter names it', () => {
  expect(writtenCondition({ passed: 'expiresAt', by: { op: 'param', name: 'grace' } })).toBe(
    'expiresAt passed at least grace ms ago',
  );
});
