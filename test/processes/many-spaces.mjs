// Recalls in COUNT spaces in one process, remembers in some, and says how many descriptors it had open at most.
// usage: sh -c 'ulimit -n 1024; exec node many-spaces.mjs DIRECTORY COUNT'
import { copyFileSync, existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openSpaces } from '../../build/index.js';
import { connect } from '../../build/stores/sqlite/connection.js';
import { fileNameOf } from '../../build/stores/sqlite/files.js';
import { writeMeta } from '../../build/stores/sqlite/meta.js';

const [directory, count] = process.argv.slice(2);
const names = Array.from({ length: Number(count) }, (_, index) => `user ${index}`);
const options = { path: directory, embedder: 'none', synchronous: 'normal' };

// One space is made; the others are copies with a name of their own, which takes a tenth of the time.
const first = openSpaces(options);
await (await first.get('model')).remember('The tea is green');
await first.close();
const model = join(directory, 'model');
renameSync(join(directory, fileNameOf('model')), model);
for (const name of names) {
  const path = join(directory, fileNameOf(name));
  copyFileSync(model, path);
  const connection = await connect(path, { readOnly: false, timeout: 0 });
  writeMeta(connection, 'space', name);
  connection.close();
}

const listed = '/proc/self/fd';
let descriptors = 0;
let right = 0;
let written = 0;
const spaces = openSpaces(options);
const left = [...names.entries()];
const worker = async () => {
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [index, name] = next;
    const memory = await spaces.get(name);
    const { hits } = await memory.recall('tea');
    if (memory.space === name && hits.length === 1) right++;
    if (index % 10 === 0) {
      await memory.remember(`The tea of ${name} is black`);
      if ((await memory.stats()).memories === 2) written++;
    }
    if (index % 5 === 0 && existsSync(listed)) {
      descriptors = Math.max(descriptors, readdirSync(listed).length);
    }
  }
};
// Eight at a time, as a server would have it.
await Promise.all(Array.from({ length: 8 }, worker));
const open = spaces.size;
await spaces.close();
const beside = readdirSync(directory).filter((name) => name.includes('-wal') || name.includes('-shm')).length;
process.stdout.write(`${JSON.stringify({ right, written, open, descriptors, beside })}\n`);
