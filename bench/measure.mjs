import { spawnSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

/** Measures `work` on each of `inputs` in milliseconds, after a warm-up with the first few. */
export async function timeEach(inputs, work) {
  for (const input of inputs.slice(0, Math.min(10, inputs.length))) await work(input);
  return timeAll(inputs, work);
}

async function timeAll(inputs, work) {
  const times = [];
  for (const input of inputs) {
    const started = performance.now();
    await work(input);
    times.push(performance.now() - started);
  }
  return summary(times);
}

/** How many inputs `timeWarm` takes. */
export const WARM_INPUTS = 1000;

/**
 * Measures the same in a process that has run for a while, like a server. `first` are the times of the first 200
 * inputs, while V8 still compiles. The last 400 inputs, all new, are the measurement; `again` repeats them.
 */
export async function timeWarm(inputs, work) {
  const measured = inputs.slice(600, WARM_INPUTS);
  const first = await timeEach(inputs.slice(0, 200), work);
  for (const input of inputs.slice(200, 600)) await work(input);
  const times = await timeAll(measured, work);
  const again = await timeAll(measured, work);
  return { ...times, after: 600, first, again };
}

/** Returns the median and the tail of times, in milliseconds. */
export function summary(times) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => round(quantile(times, share)));
  return { p50, p95, ...(times.length >= 200 ? { p99 } : {}), n: times.length };
}

/** The value below which a share of the values lies. */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export function round(value) {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Milliseconds that a whole process takes, over several runs after one that is not counted. */
export function timeProcess(command, args, runs = 7) {
  const times = [];
  for (let run = 0; run <= runs; run++) {
    const started = performance.now();
    const result = spawnSync(command, args, { encoding: 'utf8' });
    if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${result.stderr}`);
    if (run > 0) times.push(performance.now() - started);
  }
  return summary(times);
}

export function machine() {
  const [cpu] = cpus();
  return {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    // Machines with the same processor differ by a factor of two in this, and in the time of a recall.
    memoryGBPerSecond: round(READ_BYTES / 1e6 / millisecondsToRead(READ_BYTES)),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
}

/** Beyond any cache. */
const READ_BYTES = 2 ** 28;

/** Returns the shortest time to read `bytes` bytes once, measured by searching for a byte that does not occur. */
export function millisecondsToRead(bytes) {
  const most = Math.min(bytes, READ_BYTES);
  const memory = Buffer.alloc(most, 1);
  let best = Infinity;
  for (let run = 0; run < 5; run++) {
    const started = performance.now();
    memory.indexOf(0);
    best = Math.min(best, performance.now() - started);
  }
  return (best * bytes) / most;
}
