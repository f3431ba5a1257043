import type { ProfileDefinition } from '../profile.ts';
import { recencyPart } from './shared.ts';

/**
 * Words and meaning together, nudged by recency, importance, confidence and whether a possible update is known. The
 * nudge is bounded: a memory whose relevance is more than a tenth lower never ranks above.
 */
export const hybrid: ProfileDefinition = {
  name: 'hybrid',
  description:
    'The default: words and meaning together, gently preferring what is recent, important and sure.',
  source:
    'Salience. A fixed convex mix keeps scores comparable between queries, which rank fusion does not. The shares and the calibration are the middle of the plateau that bench/results/grid.json records (recall@10 .658; chosen on other spaces: .656)',
  parameters: {
    'weights.lexical': { kind: 'number', default: 0.55, min: 0, description: 'Share of words in relevance.' },
    'weights.vector': {
      kind: 'number',
      default: 0.45,
      min: 0,
      description: 'Share of meaning in relevance.',
    },
    similarityFloor: {
      kind: 'number',
      default: 0.1,
      min: -1,
      max: 1,
      from: 'calibration.floor',
      description: 'Cosine of the embedder that counts as nothing.',
    },
    similaritySpan: {
      kind: 'number',
      default: 0.8,
      min: 1e-6,
      max: 2,
      from: 'calibration.span',
      description: 'Cosine above the floor at which similarity counts in full.',
    },
  },
  parts: {
    calibrated: {
      op: 'capped',
      of: {
        op: 'sum',
        terms: [
          { weight: 1, of: { op: 'signal', name: 'similarity', missing: 0 } },
          { weight: -1, of: { op: 'param', name: 'similarityFloor' } },
        ],
      },
      cap: { op: 'param', name: 'similaritySpan' },
    },
    relevance: {
      op: 'when',
      if: { known: 'similarity' },
      then: {
        op: 'mean',
        terms: [
          { weight: { op: 'param', name: 'weights.lexical' }, of: { op: 'signal', name: 'lexical' } },
          { weight: { op: 'param', name: 'weights.vector' }, of: { op: 'ref', name: 'calibrated' } },
        ],
      },
      else: { op: 'signal', name: 'lexical' },
    },
    recency: recencyPart,
    importance: { op: 'signal', name: 'importance' },
    confidence: { op: 'signal', name: 'confidence' },
  },
  score: {
    op: 'product',
    of: [
      { op: 'ref', name: 'relevance' },
      {
        op: 'sum',
        terms: [
          { weight: 0.91, of: 1 },
          { weight: 0.05, of: { op: 'ref', name: 'recency' } },
          { weight: 0.02, of: { op: 'ref', name: 'importance' } },
          { weight: 0.02, of: { op: 'ref', name: 'confidence' } },
          { weight: -0.01, of: { op: 'signal', name: 'conflict' } },
        ],
      },
    ],
  },
};
