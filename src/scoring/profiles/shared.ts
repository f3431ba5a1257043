import type { Expression } from '../operators/index.ts';

/** Halves every 30 days since the last update: the recency that `lexical`, `ambient` and `hybrid` share. */
export const recencyPart: Expression = { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 30 };

/** Linear in the number of revisions, full at 10. */
export const revisionPart: Expression = {
  op: 'capped',
  of: { op: 'signal', name: 'revisionCount' },
  cap: 10,
};

/** How much a type matters by default, independent of any query. */
export const typePriorityPart: Expression = {
  op: 'table',
  by: 'type',
  cases: { profile: 1, preference: 0.9, decision: 0.7, pattern: 0.6, discovery: 0.5, summary: 0.3 },
  otherwise: 0.5,
};
