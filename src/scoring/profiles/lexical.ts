import type { ProfileDefinition } from '../profile.ts';
import { recencyPart, revisionPart } from './shared.ts';

/** Relevance to a query by its words: SearchScore of the first document. */
export const lexical: ProfileDefinition = {
  name: 'lexical',
  description: 'Words of the query first, then recency and revisions: what a keyword search should return.',
  source: 'iLAB Memory, Scoring, SearchScore: 0.60·fts rank + 0.25·recency + 0.15·revisions',
  parts: {
    lexical: { op: 'signal', name: 'lexical' },
    recency: recencyPart,
    revision: revisionPart,
  },
  score: {
    op: 'sum',
    terms: [
      { weight: 0.6, of: { op: 'ref', name: 'lexical' } },
      { weight: 0.25, of: { op: 'ref', name: 'recency' } },
      { weight: 0.15, of: { op: 'ref', name: 'revision' } },
    ],
  },
  require: [{ signal: 'lexical', above: 0 }],
};
