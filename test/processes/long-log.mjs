// Writes so much that another thread puts the log into its file, and ends: after closing its store, or without.
// usage: node long-log.mjs DIRECTORY close|leave
import { openMemory } from '../../build/index.js';

const [directory, end] = process.argv.slice(2);
const memory = await openMemory({ path: directory, space: 'alice' });
for (let batch = 0; batch < 4; batch++) {
  await memory.rememberMany(
    Array.from({ length: 600 }, (_, at) => ({ content: `statement ${batch} about the ${at}th thing` })),
  );
}
if (end === 'close') await memory.close();
process.stdout.write('done\n');
