import { join } from 'node:path';

/** Remembers, counts and makes a backup, under the permission model of Node.js: prints what became of it. */
const [built, directory] = process.argv.slice(2);
const { openMemory } = await import(built);
try {
  const memory = await openMemory({ path: directory, space: 'alice', embedder: 'none' });
  for (const text of ['One fish', 'Two birds', 'Three bees']) await memory.remember(text);
  const { memories } = await memory.stats();
  await memory.backup(join(directory, 'copy.backup'));
  await memory.close();
  console.log(JSON.stringify({ memories }));
} catch ({ name, code, message }) {
  console.log(JSON.stringify({ name, code, message }));
}
