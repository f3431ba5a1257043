import { formatExplanation, openMemory } from 'salience';

const clock = () => Date.parse('2026-04-20T09:00:00Z');
const memory = await openMemory({ path: ':memory:', space: 'alice', clock });
await memory.rememberMany([
  { content: 'Prefers dark roast coffee, without sugar', type: 'preference', createdAt: '2026-02-01' },
  { content: 'Bought a coffee grinder on Sunday', type: 'event', createdAt: '2026-04-19' },
]);
const { hits, trace } = await memory.recall('which coffee does she prefer?', { limit: 1 });
for (const hit of hits) console.log(`${hit.memory.content}\n${formatExplanation(hit.explain(), 'text')}`);
console.log(`${trace.completeness}: no other memory scores above ${trace.upperBound.toFixed(4)}`);
await memory.close();
