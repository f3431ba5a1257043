// A scoring formula of your own: a built-in one, with a part and a parameter of yours.
import { openMemory } from 'salience';
import { defineProfile, formulaText } from 'salience/scoring';

const engineeringNotes = {
  name: 'engineering-notes',
  description: 'As balanced, but a decision outlives its age and counts for more.',
  extends: 'balanced',
  set: { recencyHalfLifeDays: 30 },
  parameters: {
    decisionShare: {
      kind: 'number',
      default: 0.2,
      min: 0,
      max: 1,
      description: 'Share of being a decision.',
    },
  },
  parts: {
    decided: { op: 'table', by: 'type', cases: { decision: 1, rule: 1 }, otherwise: 0 },
    composite: {
      op: 'mean',
      terms: [
        { weight: { op: 'param', name: 'weights.semantic' }, of: { op: 'ref', name: 'semantic' } },
        { weight: { op: 'param', name: 'weights.recency' }, of: { op: 'ref', name: 'recency' } },
        { weight: { op: 'param', name: 'weights.importance' }, of: { op: 'ref', name: 'importance' } },
        { weight: { op: 'param', name: 'decisionShare' }, of: { op: 'ref', name: 'decided' } },
      ],
    },
  },
  score: { op: 'ref', name: 'composite' },
  require: [{ signal: 'similarity', atLeast: 0.45 }],
};
console.log(formulaText(defineProfile(engineeringNotes)));

const memory = await openMemory({
  path: ':memory:',
  space: 'alice',
  profiles: [engineeringNotes],
  clock: () => Date.parse('2026-04-20T09:00:00Z'),
});
await memory.rememberMany([
  { content: 'We store sessions in Postgres, not in Redis', type: 'decision', createdAt: '2026-01-10' },
  {
    content: 'Sessions were slow on Friday: the database had no index',
    type: 'event',
    createdAt: '2026-04-17',
  },
  { content: 'Lunch is at noon', type: 'fact', createdAt: '2026-04-19' },
]);

async function show(parameters) {
  const { hits } = await memory.recall('where do we store sessions?', {
    strategy: 'engineering-notes',
    parameters,
  });
  console.log(`\nwith ${JSON.stringify(parameters)}`);
  for (const { score, features, memory: found } of hits) {
    const parts = ['semantic', 'recency', 'decided'].map((name) => `${name} ${features[name].toFixed(2)}`);
    console.log(`${score.value.toFixed(3)}  ${found.content}  (${parts.join(', ')})`);
  }
}
await show({});
await show({ decisionShare: 0 });
await show({ weights: { recency: 0 }, decisionShare: 0 });

// A value out of range is refused before anything is scored.
await show({ decisionShare: 2 }).catch((error) => console.log(`\n${error.code}: ${error.message}`));
await memory.close();
