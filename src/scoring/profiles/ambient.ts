import type { ProfileDefinition } from '../profile.ts';
import { recencyPart, revisionPart, typePriorityPart } from './shared.ts';

/** What an agent should see before the user speaks: ContextScore of the first document. */
export const ambient: ProfileDefinition = {
  name: 'ambient',
  description:
    'What matters when there is no query yet: recent, often revised, and of the types that matter most.',
  source: 'iLAB Memory, Scoring, ContextScore: 0.50·recency + 0.30·revisions + 0.20·type priority',
  parts: { recency: recencyPart, revision: revisionPart, typePriority: typePriorityPart },
  score: {
    op: 'sum',
    terms: [
      { weight: 0.5, of: { op: 'ref', name: 'recency' } },
      { weight: 0.3, of: { op: 'ref', name: 'revision' } },
      { weight: 0.2, of: { op: 'ref', name: 'typePriority' } },
    ],
  },
};
