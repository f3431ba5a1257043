// What a recall costs in a space that was closed to make room for others: open, read the index, answer.
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSpaces } from '../build/index.js';
import { connect } from '../build/stores/sqlite/connection.js';
import { fileNameOf } from '../build/stores/sqlite/files.js';
import { writeMeta } from '../build/stores/sqlite/meta.js';
import { makeMemories, makeQueries } from './data.mjs';
import { round, summary } from './measure.mjs';

const SPACES = 300;
const OPEN = 20;
const MEMORIES = 1000;

export async function benchSpaces(log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  try {
    const names = await makeSpaces(directory);
    const spaces = openSpaces({ path: directory, maxOpenSpaces: OPEN });
    const queries = makeQueries(50);
    const times = { cold: [], warm: [] };
    const recall = async (name, at) => {
      const started = performance.now();
      const memory = await spaces.get(name);
      await memory.recall(queries[at % queries.length], { track: false });
      return performance.now() - started;
    };
    for (let turn = 0; turn < 2; turn++) {
      for (const [at, name] of names.entries()) {
        times.cold.push(await recall(name, at));
        times.warm.push(await recall(name, at + 1));
      }
    }
    const residentMiB = Math.round(spaces.residentBytes / 2 ** 20);
    await spaces.close();
    const result = {
      spaces: SPACES,
      maxOpenSpaces: OPEN,
      memories: MEMORIES,
      cold: withTail(times.cold),
      warm: withTail(times.warm),
      residentMiB,
    };
    log('recall in a closed space', result);
    return result;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function withTail(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return { ...summary(times), p99: round(sorted[Math.floor(0.99 * sorted.length)]) };
}

/** One space, and copies of it under other names. */
async function makeSpaces(directory) {
  const spaces = openSpaces({ path: directory });
  await (await spaces.get('model')).rememberMany(makeMemories(MEMORIES, Date.now()));
  await spaces.close();
  const model = join(directory, 'model');
  renameSync(join(directory, fileNameOf('model')), model);
  const names = Array.from({ length: SPACES }, (_, index) => `user ${index}`);
  for (const name of names) {
    const path = join(directory, fileNameOf(name));
    copyFileSync(model, path);
    const connection = await connect(path, { readOnly: false, timeout: 0 });
    writeMeta(connection, 'space', name);
    connection.close();
  }
  return names;
}
