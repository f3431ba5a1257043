import { openMemory } from 'salience';

const memory = await openMemory({ path: ':memory:', space: 'alice' }); // a directory keeps it
await memory.remember('Prefers dark roast coffee, without sugar');
await memory.remember('Bought a coffee grinder on Sunday');
const { hits } = await memory.recall('which coffee does she prefer?');
for (const { score, memory } of hits) console.log(score.value.toFixed(2), memory.content);
await memory.close();
