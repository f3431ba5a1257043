// Answers what it is asked about moments of the past: a JSON list of instants, one answer a line.
// usage: node looking-back.mjs DIRECTORY MOMENTS
import { openMemory } from '../../build/index.js';
import { answersOf } from '../../build/testing/answers.js';

const [directory, moments] = process.argv.slice(2);
const memory = await openMemory({ path: directory, space: 'default', readOnly: true });
for (const known of JSON.parse(moments)) {
  process.stdout.write(`${JSON.stringify(await answersOf(memory, { known }))}\n`);
}
await memory.close();
