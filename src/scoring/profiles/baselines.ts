import type { ProfileDefinition } from '../profile.ts';

/** Lexical relevance alone. A baseline for comparison. */
export const bm25: ProfileDefinition = {
  name: 'bm25',
  description: 'Baseline: words alone.',
  parts: { lexical: { op: 'signal', name: 'lexical' } },
  score: { op: 'ref', name: 'lexical' },
};

/** Similarity alone. A baseline for comparison. */
export const vector: ProfileDefinition = {
  name: 'vector',
  description: 'Baseline: meaning alone.',
  parts: { similarity: { op: 'signal', name: 'similarity', missing: 0 } },
  score: { op: 'ref', name: 'similarity' },
};
