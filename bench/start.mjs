// What a whole process costs from its start to its end: a command, and a program that imports the package. The runs alternate
// with those of an empty process, so that whatever else the machine does slows all of them alike: the ratios to it are what
// two runs of this benchmark may be compared by.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openMemory } from '../dist/index.js';
import { makeMemories, makeQueries } from './data.mjs';
import { round, summary } from './measure.mjs';

const RUNS = 20;
const SIZES = [1000, 10_000];

export async function benchStart(log) {
  const directory = mkdtempSync(join(tmpdir(), 'salience-bench-'));
  try {
    const cli = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));
    const library = new URL('../dist/index.js', import.meta.url).href;
    const queries = makeQueries(RUNS + 1);
    const program = `import ${JSON.stringify(library)}`;
    const alternatives = {
      'node -e 0': () => ['-e', '0'],
      'salience --version': () => [cli, '--version'],
      "import 'salience'": () => ['--input-type=module', '-e', program],
    };
    for (const size of SIZES) {
      const path = join(directory, String(size));
      await makeStore(path, size);
      alternatives[`salience recall, ${size.toLocaleString('en')} memories`] = (run) => [
        cli,
        ...['recall', queries[run], '--path', path, '--no-track', '--json'],
      ];
    }
    const measured = measure(alternatives);
    const empty = measured['node -e 0'];
    return Object.entries(measured).map(([name, each]) => {
      const result = {
        name,
        milliseconds: summary(each.times),
        cpuMilliseconds: each.cpu && round(each.cpu),
        timesOfNode: round(summary(each.times).p50 / summary(empty.times).p50),
        cpuTimesOfNode: each.cpu && empty.cpu && round(each.cpu / empty.cpu),
      };
      log(name, result);
      return result;
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function makeStore(path, size) {
  const now = Date.now();
  const memory = await openMemory({ path, space: 'default', synchronous: 'normal' });
  for (let from = 0, all = makeMemories(size, now); from < size; from += 1000) {
    await memory.rememberMany(all.slice(from, from + 1000));
  }
  await memory.close();
}

/** Each in turn, again and again, after a round that is not counted; every round asks another query. */
function measure(alternatives) {
  const measured = Object.fromEntries(
    Object.keys(alternatives).map((name) => [name, { times: [], cpu: undefined }]),
  );
  for (let run = 0; run <= RUNS; run++) {
    for (const [name, argsOf] of Object.entries(alternatives)) {
      const before = cpuOfChildren();
      const started = performance.now();
      const { status, stderr } = spawnSync(process.execPath, argsOf(run), { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
      if (run === 0) continue;
      const each = measured[name];
      each.times.push(performance.now() - started);
      if (before !== undefined) each.cpu = (each.cpu ?? 0) + (cpuOfChildren() - before) / RUNS;
    }
  }
  return measured;
}

/** Milliseconds of processor time, user and system, of the processes that have ended, in steps of 10; Linux alone tells. */
function cpuOfChildren() {
  if (process.platform !== 'linux') return undefined;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
