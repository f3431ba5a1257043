// How much memory a process needs for each memory of a space. Run in a process of its own: node --expose-gc.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemory } from '../dist/index.js';
import { makeMemories } from './data.mjs';

const count = Number(process.argv[2] ?? 100_000);
const now = Date.UTC(2026, 0, 1);
const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
try {
  {
    const writing = await openMemory({ path: directory, space: 'default', clock: () => now });
    const memories = makeMemories(count, now);
    for (let at = 0; at < count; at += 1000) await writing.rememberMany(memories.slice(at, at + 1000));
    await writing.close();
  }
  // A store of one memory first: what every process pays once is not counted.
  const small = await openMemory({ path: directory, space: 'small', clock: () => now });
  await small.remember('one memory');
  await small.recall('one');
  const before = used();
  const memory = await openMemory({ path: directory, space: 'default', clock: () => now, readOnly: true });
  await memory.recall('one');
  const after = used();
  console.log(
    JSON.stringify({
      memories: count,
      bytesPerMemory: Math.round((after - before) / count),
      dimensions: 256,
    }),
  );
  await memory.close();
  await small.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function used() {
  for (let round = 0; round < 4; round++) globalThis.gc();
  // With `external`, which holds what a WebAssembly memory takes: the codes of all vectors.
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
