// How writers slow down readers in the same process: sequential recalls while batches or single memories are written.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { openMemory } from '../dist/index.js';
import { makeMemories, makeQueries } from './data.mjs';
import { quantile, round, summary } from './measure.mjs';

const now = Date.UTC(2026, 0, 1);
const clock = () => now;
const BATCH = 1000;
const BATCHES = 8;

export async function benchBeside(sizes, log) {
  const results = [];
  for (const size of sizes) {
    const directory = mkdtempSync(join(tmpdir(), 'salience-beside-'));
    try {
      results.push(await besideIn(directory, size));
      log('recalls beside batches', results.at(-1));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return results;
}

async function besideIn(directory, size) {
  const memory = await openMemory({ path: directory, space: 'default', clock });
  const made = makeMemories(size + BATCHES * BATCH + 2000, now);
  for (let at = 0; at < size; at += BATCH) await memory.rememberMany(made.slice(at, at + BATCH));
  const questions = await usual(memory, makeQueries(1000));
  const [alone, beside] = [[], []];
  let [times, longest, isDone] = [alone, 0, false];
  const reading = (async () => {
    for (let at = 0; !isDone; at++) {
      const started = performance.now();
      await memory.recall(questions[at % questions.length]);
      times.push(performance.now() - started);
      await turn();
    }
  })();
  const watching = (async () => {
    for (let last = performance.now(); !isDone; ) {
      await turn();
      const at = performance.now();
      if (times === beside) longest = Math.max(longest, at - last);
      last = at;
    }
  })();
  while (alone.length < 300) await turn();
  times = beside;
  const batches = [];
  for (let at = size; at < size + BATCHES * BATCH; at += BATCH) {
    const started = performance.now();
    await memory.rememberMany(made.slice(at, at + BATCH));
    batches.push(performance.now() - started);
    // The index takes it in with the next recall.
    const count = beside.length;
    while (beside.length < count + 10) await turn();
  }
  isDone = true;
  await Promise.all([reading, watching]);
  const rest = made.slice(size + BATCHES * BATCH);
  const writesPerSecond = {
    oneByOne: await oneByOne(memory, rest),
    twentyAtOnce: await atOnce(memory, rest),
  };
  await memory.close();
  return {
    memories: size,
    batch: BATCH,
    alone: summary(alone),
    beside: { ...summary(beside), longest: round(Math.max(...beside)) },
    longestTurnMs: round(longest),
    batchMs: round(quantile(batches, 0.5)),
    writesPerSecond,
  };
}

/** Without those that name no word that is looked up, or name a date: they take longer whatever is written. */
async function usual(memory, queries) {
  const times = [];
  for (const query of queries) {
    const started = performance.now();
    await memory.recall(query);
    times.push(performance.now() - started);
  }
  const most = 2.5 * quantile(times, 0.5);
  return queries.filter((_, at) => times[at] < most);
}

async function oneByOne(memory, made) {
  const started = performance.now();
  for (const each of made.slice(0, 1000)) await memory.rememberMany([each]);
  return Math.round(1000 / ((performance.now() - started) / 1000));
}

async function atOnce(memory, made) {
  const started = performance.now();
  for (let at = 1000; at < 2000; at += 20)
    await Promise.all(made.slice(at, at + 20).map((each) => memory.rememberMany([each])));
  return Math.round(1000 / ((performance.now() - started) / 1000));
}
