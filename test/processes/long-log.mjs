// Writes so much that another thread puts the log into its file after the last batch, and ends: after closing its store, without
// that, or at once, while that thread is at work or the file is checked.
// usage: node long-log.mjs DIRECTORY close|leave|exit|exit-in-check
import { openMemory } from '../../build/index.js';

const [directory, end] = process.argv.slice(2);
const memory = await openMemory({ path: directory, space: 'alice' });
const more = ' and more of it'.repeat(end === 'exit-in-check' ? 300 : 0);
for (let batch = 0; batch < 8; batch++) {
  await memory.rememberMany(
    Array.from({ length: 600 }, (_, at) => ({
      content: `statement ${batch} about the ${at}th thing${more}`,
    })),
  );
}
process.stdout.write('done\n');
if (end === 'close') await memory.close();
if (end === 'exit') process.exit();
if (end === 'exit-in-check') {
  // It begins with what SQLite checks on another thread.
  const checked = memory.check();
  setTimeout(() => process.exit(), 20);
  await checked;
  await memory.check();
}
