import type { ProfileDefinition } from '../profile.ts';

/** Semantic similarity, recency and importance in one weighted mean: the third document's composite. */
export const balanced: ProfileDefinition = {
  name: 'balanced',
  description: 'Similarity, recency and importance in balance: a general-purpose assistant.',
  source: 'Composite scoring: 0.4·semantic + 0.3·recency + 0.3·importance, half-life 14 days',
  parameters: {
    'weights.semantic': { kind: 'number', default: 0.4, min: 0, description: 'Share of similarity.' },
    'weights.recency': { kind: 'number', default: 0.3, min: 0, description: 'Share of recency.' },
    'weights.importance': { kind: 'number', default: 0.3, min: 0, description: 'Share of importance.' },
    recencyHalfLifeDays: {
      kind: 'number',
      default: 14,
      min: 1e-6,
      description: 'Days until recency halves.',
    },
    missingSimilarity: {
      kind: 'number',
      default: 0.5,
      min: 0,
      max: 1,
      description: 'Of a memory without a vector.',
    },
  },
  parts: {
    semantic: { op: 'signal', name: 'similarity', missing: { op: 'param', name: 'missingSimilarity' } },
    recency: {
      op: 'decay',
      age: { op: 'age', of: { latest: ['createdAt', 'lastAccessedAt'] } },
      halfLife: { op: 'param', name: 'recencyHalfLifeDays' },
    },
    importance: { op: 'signal', name: 'importance' },
  },
  score: {
    op: 'mean',
    terms: [
      { weight: { op: 'param', name: 'weights.semantic' }, of: { op: 'ref', name: 'semantic' } },
      { weight: { op: 'param', name: 'weights.recency' }, of: { op: 'ref', name: 'recency' } },
      { weight: { op: 'param', name: 'weights.importance' }, of: { op: 'ref', name: 'importance' } },
    ],
  },
};
