import type { ProfileDefinition } from '../profile.ts';

/** Five signals with fixed weights. Its numbers are not negotiable: a variant is a profile of its own. */
export const fiveFactor: ProfileDefinition = {
  name: 'five-factor',
  description: 'Relevance, recency, usefulness, confidence and frequency of use, with fixed weights.',
  source:
    'Milestone 3.5.4, memory composite scorer: 0.40/0.25/0.20/0.10/0.05, λ 0.05 a day, frequency capped at 50',
  parameters: {
    relevanceFloor: {
      kind: 'number',
      default: 0,
      min: 0,
      max: 1,
      description: 'Similarity that a memory needs to be scored at all; 0.15 is a sensible value, 0 is off.',
    },
  },
  parts: {
    relevance: { op: 'signal', name: 'similarity', missing: 0 },
    recency: { op: 'decay', age: { op: 'age', of: 'createdAt' }, rate: 0.05, missing: 0.5 },
    usefulness: { op: 'signal', name: 'usefulness', missing: 0.5 },
    confidence: { op: 'signal', name: 'confidence', missing: 0.8 },
    frequency: { op: 'capped', of: { op: 'signal', name: 'accessCount', missing: 0 }, cap: 50 },
  },
  score: {
    op: 'sum',
    terms: [
      { weight: 0.4, of: { op: 'ref', name: 'relevance' } },
      { weight: 0.25, of: { op: 'ref', name: 'recency' } },
      { weight: 0.2, of: { op: 'ref', name: 'usefulness' } },
      { weight: 0.1, of: { op: 'ref', name: 'confidence' } },
      { weight: 0.05, of: { op: 'ref', name: 'frequency' } },
    ],
  },
  require: [{ signal: 'similarity', atLeast: { op: 'param', name: 'relevanceFloor' } }],
};
