// The formulas without a store: signals in, a number and its explanation out.
import {
  computeCompositeScore,
  defineProfile,
  explain,
  formatExplanation,
  recencyScore,
  score,
} from 'salience/scoring';

const now = '2026-04-20T00:00:00Z';
const note = { similarity: 0.92, scope: 'project:shop', updatedAt: '2026-04-15T00:00:00Z' };

console.log(`scoped, in a project   ${score('scoped', note, { now }).toFixed(3)}`);
console.log(`scoped, global         ${score('scoped', { ...note, scope: 'global' }, { now }).toFixed(3)}`);
console.log(
  `scoped, twice the pace ${score('scoped', note, { now, parameters: { decayRate: 0.01 } }).toFixed(3)}`,
);
console.log(formatExplanation(explain('scoped', note, { now }), 'text'));

const createdAt = '2026-04-06T00:00:00Z';
const composite = computeCompositeScore({ similarity: 0.8, createdAt, importance: 0.9, now });
const recency = recencyScore(createdAt, { now, halfLifeDays: 14 });
console.log(`\nbalanced, by its helper ${composite.toFixed(3)}, with a recency of ${recency.toFixed(3)}`);

// A formula that could leave [0, 1] is refused when it is defined, not when a memory happens to break it.
try {
  defineProfile({
    name: 'too-much',
    description: 'Weights that add up to more than 1.',
    score: {
      op: 'sum',
      terms: [
        { weight: 0.7, of: { op: 'signal', name: 'similarity' } },
        { weight: 0.7, of: { op: 'signal', name: 'importance' } },
      ],
    },
  });
} catch (error) {
  console.log(`\n${error.code} at ${error.details.path}: ${error.message}`);
}
