import { expect, test } from 'vitest';
import { evidenceValue } from './evidence.ts';

test('a memory is worth the sixth power of its score times the root of its length', () => {
  expect(evidenceValue(1, 100)).toBeCloseTo(10, 12);
  expect(evidenceValue(0.5, 100) * 64).toBeCloseTo(10, 12);
  expect(evidenceValue(0.8, 400) / evidenceValue(0.8, 100)).toBeCloseTo(2, 12);
  expect(evidenceValue(0, 100)).toBe(0);
  // Three memories of 30 tokens that score 0.35 do not outweigh one of 90 that scores 0.7.
  expect(3 * evidenceValue(0.35, 30)).toBeLessThan(evidenceValue(0.7, 90) / 30);
});
