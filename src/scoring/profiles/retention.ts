import type { Expression } from '../operators/index.ts';
import type { ProfileDefinition } from '../profile.ts';

const semantic = 120;
const episodic = 45;

/** Base rate β in days: events fade faster than knowledge. Core memories fade like knowledge. */
const baseRate: Expression = {
  op: 'table',
  by: 'core',
  cases: { true: semantic },
  otherwise: {
    op: 'table',
    by: 'type',
    cases: {
      profile: semantic,
      preference: semantic,
      decision: semantic,
      pattern: semantic,
      discovery: semantic,
      fact: semantic,
      plan: semantic,
      transient_state: semantic,
      entity: semantic,
      learning: semantic,
      rule: semantic,
      feedback: semantic,
      context: semantic,
      event: episodic,
      summary: episodic,
    },
    otherwise: episodic,
  },
};

/** S·B·β: the days until a memory fades to 1/e. */
const timescale: Expression = {
  op: 'product',
  of: [
    { op: 'max', of: [{ op: 'signal', name: 'stability' }, 0.01] },
    {
      op: 'min',
      of: [
        3,
        {
          op: 'sum',
          terms: [
            { weight: 1, of: 1 },
            { weight: 2, of: { op: 'signal', name: 'importance' } },
          ],
        },
      ],
    },
    baseRate,
  ],
};

const sinceLastUse: Expression = {
  op: 'when',
  if: { known: 'lastAccessedAt' },
  then: { op: 'age', of: 'lastAccessedAt' },
  else: { op: 'age', of: 'createdAt' },
};

/** R: how much of a memory is left, by the time since its last use. */
const retentionPart: Expression = {
  op: 'table',
  by: 'tier',
  cases: { stub: 0 },
  otherwise: {
    op: 'table',
    by: 'type',
    cases: { procedure: 1 },
    otherwise: {
      op: 'max',
      of: [
        { op: 'ref', name: 'floor' },
        {
          op: 'when',
          if: { param: 'curve', is: 'power' },
          then: {
            op: 'decay',
            curve: 'power',
            age: sinceLastUse,
            scale: { op: 'ref', name: 'timescale' },
            exponent: 1 / Math.LN2,
          },
          else: { op: 'decay', age: sinceLastUse, scale: { op: 'ref', name: 'timescale' } },
        },
      ],
    },
  },
};

/** Similarity reduced by what is left of the memory: the second document's sim·R^α. */
export const retention: ProfileDefinition = {
  name: 'retention',
  description: 'Similarity times what time has left of a memory; used memories stay, unused ones fade.',
  source: 'Scoring pipeline v6, stage 2: sim(m,q)·R(m)^α with R = max(floor, e^(−Δt/(S·B·β)))',
  parameters: {
    alpha: {
      kind: 'number',
      default: 0.3,
      min: 0,
      max: 10,
      description: 'How strongly fading counts; 0 turns it off.',
    },
    curve: {
      kind: 'choice',
      default: 'exponential',
      choices: ['exponential', 'power'],
      description: 'The shape of forgetting.',
    },
    hybridSearch: {
      kind: 'flag',
      default: false,
      description: 'An exact keyword match counts even when its vector is far.',
    },
    missingSimilarity: {
      kind: 'number',
      default: 0.1,
      min: 0,
      max: 1,
      description: 'Of a memory without a vector.',
    },
  },
  parts: {
    relevance: {
      op: 'when',
      if: { param: 'hybridSearch', is: true },
      then: {
        op: 'max',
        of: [
          { op: 'signal', name: 'similarity', missing: { op: 'param', name: 'missingSimilarity' } },
          { op: 'signal', name: 'lexical' },
        ],
      },
      else: { op: 'signal', name: 'similarity', missing: { op: 'param', name: 'missingSimilarity' } },
    },
    timescale,
    floor: { op: 'table', by: 'core', cases: { true: 0.6 }, otherwise: 0.02 },
    retention: retentionPart,
  },
  score: {
    op: 'product',
    of: [
      { op: 'ref', name: 'relevance' },
      { op: 'power', base: { op: 'ref', name: 'retention' }, exponent: { op: 'param', name: 'alpha' } },
    ],
  },
};
