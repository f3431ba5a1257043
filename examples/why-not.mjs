// Why a memory was not returned: the stage at which it fell, and what would have had to differ.
import { formatExplanation, openMemory } from 'salience';

const memory = await openMemory({
  path: ':memory:',
  space: 'alice',
  clock: () => Date.parse('2026-04-20T09:00:00Z'),
});
await memory.rememberMany([
  { id: 'deploy', content: 'Deploy on Tuesday, after the backup', createdAt: '2026-04-15' },
  { id: 'friday', content: 'No deploy on Friday', type: 'rule', createdAt: '2025-06-01' },
  { id: 'lunch', content: 'Lunch is at noon', createdAt: '2026-04-19' },
  { id: 'freeze', content: 'No deploy before the release', expiresAt: '2026-04-01', createdAt: '2026-03-01' },
  { id: 'other', content: 'Deploy whenever you like', scope: 'project:sandbox', createdAt: '2026-04-15' },
]);

const query = 'when may I deploy?';
const options = { strategy: 'lexical', scope: 'project:shop', limit: 1 };
const { hits } = await memory.recall(query, options);
console.log(`returned: ${hits.map((hit) => hit.memory.id).join(', ')}`);

for (const id of ['friday', 'lunch', 'freeze', 'other']) {
  const { outcome, stage, message, changes } = await memory.whyNot(id, { query, ...options });
  console.log(`\n${id}: ${outcome} at the stage ${stage}: ${message}`);
  for (const { signal, to } of changes) {
    console.log(`  it would enter with ${signal} ${typeof to === 'number' ? to.toFixed(4) : to}`);
  }
}

const { explanation } = await memory.explain('friday', { query, ...options });
console.log(`\n${formatExplanation(explanation, 'text')}`);
await memory.close();
