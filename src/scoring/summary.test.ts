import { expect, test } from 'vitest';
import { explain } from './score.ts';
import { summariseExplanation } from './summary.ts';

const now = '2026-04-20T00:00:00Z';

test('a sum shows its weights, its parts and their values', () => {
  const tree = explain('lexical', { lexical: 0.9, revisionCount: 5, updatedAt: now }, { now });
  expect(summariseExplanation(tree)).toBe('0.6·lexical 0.90 + 0.25·recency 1.00 + 0.15·revision 0.50');
});

test('a product shows its factors, and opens them once', () => {
  const tree = explain('hybrid', { lexical: 0.5, similarity: 0.5, updatedAt: now }, { now });
  expect(summariseExplanation(tree)).toBe(
    'relevance 0.50 (0.55·lexical 0.50 + 0.45·calibrated 0.50) × (0.91 + 0.05·recency 1.00 + 0.02·importance 0.50 + 0.02·confidence 0.80 − 0.01·contested 0.00)',
  );
  const scoped = explain('scoped', { similarity: 0.5, scope: 'project:a', updatedAt: now }, { now });
  expect(summariseExplanation(scoped)).toBe(
    'similarity 0.50 × scopeWeight 1.00 × weight 1.00 × temporalDecay 1.00',
  );
  const retention = explain('retention', { similarity: 0.5, createdAt: now }, { now });
  expect(summariseExplanation(retention)).toBe('relevance 0.50 × retention^0.3 1.00');
});

test('a single signal stands alone', () => {
  expect(summariseExplanation(explain('bm25', { lexical: 0.25 }))).toBe('lexical 0.25');
});
