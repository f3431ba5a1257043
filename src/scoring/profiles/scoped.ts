import type { ProfileDefinition } from '../profile.ts';

/** Similarity times scope, the caller's weight and a gentle decay: the fifth document's product. */
export const scoped: ProfileDefinition = {
  name: 'scoped',
  description: 'Similarity, discounted for global scope, low weight and age: project knowledge first.',
  source: 'Scoring & recall: similarity × scope weight × memory weight × e^(−0.005·days since update)',
  parameters: {
    globalWeight: {
      kind: 'number',
      default: 0.8,
      min: 0,
      max: 1,
      description: 'Factor of the global scope.',
    },
    decayRate: { kind: 'number', default: 0.005, min: 0, description: 'λ, a day.' },
  },
  parts: {
    similarity: { op: 'signal', name: 'similarity', missing: 0 },
    scopeWeight: {
      op: 'table',
      by: 'scope',
      cases: { global: { op: 'param', name: 'globalWeight' } },
      otherwise: 1,
    },
    weight: { op: 'signal', name: 'weight' },
    temporalDecay: {
      op: 'decay',
      age: { op: 'age', of: 'updatedAt' },
      rate: { op: 'param', name: 'decayRate' },
    },
  },
  score: {
    op: 'product',
    of: [
      { op: 'ref', name: 'similarity' },
      { op: 'ref', name: 'scopeWeight' },
      { op: 'ref', name: 'weight' },
      { op: 'ref', name: 'temporalDecay' },
    ],
  },
};
