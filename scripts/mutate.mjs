import { fork } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutants.mjs';

/**
 * Mutation testing: applies one small change after another to a copy of the source and runs the tests that should
 * detect it. A mutant that no test detects is a survivor; test/mutation/survivors.json lists each with the reason why
 * it may stay.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFile = join(root, 'test/mutation/survivors.json');

/** The folders to mutate, and the tests that must detect the mutants: those of the folder and of its direct users. */
const rooms = [
  {
    source: 'src/search/',
    tests: [
      'src/search/',
      'src/engine/recall/visible-',
      'src/engine/recall/spelling',
      'src/engine/recall/missing-words',
      'src/engine/recall/scoped-recall',
      'src/text/bm25',
    ],
  },
  { source: 'src/scoring/', tests: ['src/scoring/', 'src/search/'] },
  { source: 'src/text/', tests: ['src/text/', 'src/search/vocabulary', 'src/engine/recall/spelling'] },
  { source: 'src/engine/recall/', tests: ['src/engine/recall/', 'src/engine/belief/possible-updates'] },
  {
    source: 'src/store/eligibility.ts',
    tests: [
      'src/testing/reference-store/store.test.ts',
      'src/stores/sqlite/store.test.ts',
      'src/engine/belief/validity',
      'src/search/',
    ],
  },
  { source: 'src/context/', tests: ['src/context/'] },
  { source: 'src/import/', tests: ['src/import/'] },
  { source: 'src/files/', tests: ['src/files/', 'src/import/'] },
  { source: 'src/engine/graph/', tests: ['src/engine/graph/'] },
  { source: 'src/uuids.ts', tests: ['src/uuids.test.ts'] },
  { source: 'src/stores/postgres/', tests: ['test/postgres/'] },
];

/** Runs of each property test. The normal tests have more, so they may still detect a survivor. */
const MOST_RUNS = 15;

/** Tests that import this run the build in other processes, which contains no mutant. */
const runsBuild = 'test/processes/start-script.ts';

const usage = `usage: ./run mutate [FILES] [--sample N] [--each] [--seed N] [--minutes N] [--open] [--list]

Makes N mutants (default 20; with --each, N of each file), drawn by a seed (default 1) among all of FILES (default: every file of ${rooms
  .map(({ source }) => source)
  .join(', ')}),
and stops after --minutes (default 30). Prints what no test noticed, and records it in test/mutation/survivors.json.
--open tries again those recorded without a reason, and draws none; the runs do not count it.
--list prints how many mutants there are, and runs none.`;

const { values, positionals } = readArguments();
const files = sourceFiles(positionals);
const all = files.flatMap((file) =>
  mutantsOf(readFileSync(join(root, file), 'utf8')).map((mutant) => ({ file, ...mutant })),
);
if (values.list) {
  for (const file of files) console.log(`${all.filter((each) => each.file === file).length} ${file}`);
  console.log(`${all.length} in all`);
} else {
  await run();
}

async function run() {
  const copy = mkdtempSync(join(tmpdir(), 'salience-mutants-'));
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const each of [
    'src',
    'test',
    'docs',
    'examples',
    'scripts',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(join(root, each), join(copy, each), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const file of testFiles(copy)) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      text.replaceAll(/numRuns: (\d+)\b(?!, seed)/gu, (_, runs) => `numRuns: ${Math.min(runs, MOST_RUNS)}`),
    );
  }

  const recorded = readReport().survivors;
  const open = new Set(recorded.filter(({ reason }) => reason === '').map(keyOf));
  const known = new Set(recorded.filter(({ reason }) => reason !== '').map(keyOf));
  const drawn = values.open
    ? all.filter((mutant) => open.has(keyOf(mutant)))
    : (values.each ? files.map((file) => all.filter((mutant) => mutant.file === file)) : [all]).flatMap(
        (list) => sampled(list, values.sample, values.seed),
      );
  const chosen = drawn.sort((a, b) => (a.file < b.file ? -1 : 1));
  const host = hostIn(copy);
  const testsOf = await measured(host, copy, [...new Set(chosen.map(({ file }) => file))]);
  const begins = performance.now();
  const outcomes = [];
  for (const mutant of chosen) {
    if (performance.now() - begins > values.minutes * 60_000) break;
    const outcome = known.has(keyOf(mutant))
      ? { result: 'equivalent' }
      : await tried(host, copy, mutant, testsOf.get(mutant.file));
    outcomes.push({ mutant, ...outcome });
    const by = outcome.by ? ` (${relative(copy, outcome.by)})` : '';
    console.log(`${outcome.result.padEnd(10)} ${mutant.file}:${mutant.line} ${mutant.change}${by}`);
  }
  await host.end();
  const minutes = (performance.now() - begins) / 60_000;
  console.log(`${(outcomes.length / minutes).toFixed(1)} mutants a minute`);
  record(outcomes);
}

/**
 * Returns for each file the tests of its folder that import it, directly or not, quickest first, with the milliseconds
 * that each takes without a mutant.
 */
async function measured(host, copy, files) {
  const tests = await host.tests();
  const reads = new Map(tests.map((test) => [test, readBy(test)]));
  const testsOf = new Map(
    files.map((file) => {
      const room = rooms.find(({ source }) => file.startsWith(source));
      const ofRoom = tests.filter((test) => room.tests.some((each) => relative(copy, test).startsWith(each)));
      const reading = ofRoom.filter((test) => reads.get(test).has(join(copy, file)));
      return [file, reading.filter((test) => !reads.get(test).has(join(copy, runsBuild)))];
    }),
  );
  const used = [...new Set([...testsOf.values()].flat())];
  const milliseconds = new Map();
  let redrawn;
  for (let left = used; left.length > 0; ) {
    const { failed, done } = await host.run(redrawn, left, () => 600_000);
    for (const each of done) milliseconds.set(each.file, each.milliseconds);
    if (failed.length === 0) break;
    const [file] = failed;
    const own = readFileSync(join(root, relative(copy, file)), 'utf8');
    // Tests after a failure have not run.
    left = left.filter((each) => !milliseconds.has(each));
    if (readFileSync(file, 'utf8') === own) {
      console.log(`left out: ${relative(copy, file)} fails without a mutant`);
      left = left.filter((each) => each !== file);
    } else {
      // This test counts its draws, so it needs the full number.
      writeFileSync(file, own);
      redrawn = file;
    }
  }
  for (const [file, time] of milliseconds) {
    console.log(`${(time / 1000).toFixed(1)} s ${relative(copy, file)}`);
  }
  for (const [file, ofFile] of testsOf) {
    const timed = ofFile
      .filter((test) => milliseconds.has(test))
      .map((test) => ({ test, milliseconds: milliseconds.get(test) }));
    testsOf.set(
      file,
      timed.sort((a, b) => a.milliseconds - b.milliseconds),
    );
  }
  return testsOf;
}

/** Whether a test fails or hangs with a mutant in place. That test then runs first for the next mutant of the file. */
async function tried(host, copy, mutant, tests) {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, original.slice(0, mutant.start) + mutant.replacement + original.slice(mutant.end));
  const limits = new Map(tests.map(({ test, milliseconds }) => [test, 10_000 + 6 * milliseconds]));
  const { failed, late } = await host.run(path, [...limits.keys()], (test) => limits.get(test));
  writeFileSync(path, original);
  const by = late ?? failed[0];
  if (by === undefined) return { result: 'survived' };
  const at = tests.findIndex(({ test }) => test === by);
  if (at > 0) tests.unshift(...tests.splice(at, 1));
  return { result: late ? 'timed out' : 'killed', by };
}

/** Manages the process that runs tests (scripts/mutation-host.mjs). It is restarted after a test that hangs. */
function hostIn(copy) {
  let child;
  /** Unread messages of the child, and the reader that waits for one. */
  let said = [];
  let heard;
  /** The file changed in the last request; restoring it is a change that the host must know too. */
  let before;
  const end = () => {
    // A mutant may loop forever in a worker, so the whole process group is killed.
    if (child) process.kill(-child.pid, 'SIGKILL');
    child = undefined;
  };
  process.once('exit', end);
  /** Resolves with the next message of the child, or `undefined` after `limit` milliseconds. */
  const message = async (limit) => {
    if (said.length === 0) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, limit);
        heard = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return said.shift();
  };
  const start = async () => {
    const options = {
      cwd: copy,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: {
        // As many random cases as in CI.
        SALIENCE_RUNS: '1',
        ...process.env,
        SALIENCE_DATA: '',
        MUTATION_SEED: String(values.seed),
        MUTATION_RUNS: String(MOST_RUNS),
        MUTATION_SETUP: join(copy, 'scripts/mutation-setup.mjs'),
      },
    };
    child = fork(join(copy, 'scripts/mutation-host.mjs'), options);
    said = [];
    const started = child;
    const hear = (value) => {
      if (started !== child) return;
      said.push(value);
      heard?.();
    };
    child.on('message', hear);
    child.once('exit', () => hear({ ended: { failed: [], done: [], errors: ['the host ended'] } }));
    return (await message(120_000)).tests;
  };
  let tests;
  const ready = async () => {
    if (!child) tests = await start();
    return tests;
  };
  return {
    tests: ready,
    end,
    async run(changed, files, limitOf) {
      await ready();
      child.send({ changed: [before, changed].filter((path) => path !== undefined), files });
      before = changed;
      let running = files[0];
      let limit = 60_000;
      for (;;) {
        const value = await message(limit);
        if (value === undefined) {
          end();
          return { failed: [], done: [], late: running };
        }
        if (value.begins !== undefined) {
          running = value.begins;
          limit = limitOf(running);
        } else {
          const { failed, done, errors } = value.ended;
          // An error outside a test counts as a failure of the running file.
          return { done, failed: failed.length === 0 && errors.length > 0 ? [running] : failed };
        }
      }
    },
  };
}

function testFiles(directory) {
  return readdirSync(join(directory, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(directory, 'src', name));
}

/** Returns the source files that a file imports, directly or not. */
function readBy(file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return found;
  }
  for (const [, path] of text.matchAll(/(?:from|import) ?\(?'(\.[^']*\.ts)'/gu)) {
    readBy(join(dirname(file), path), found);
  }
  return found;
}

function readReport() {
  return JSON.parse(readFileSync(reportFile, 'utf8'));
}

/**
 * Returns the key of a survivor. It contains the source line, not its number, so that it stays valid when lines move.
 */
function keyOf({ file, source, change }) {
  return `${file}\n${source}\n${change}`;
}

/** Adds the outcomes of this run to the report, and removes survivors that are now detected. */
function record(outcomes) {
  const report = readReport();
  const known = new Map(report.survivors.map((each) => [keyOf(each), each]));
  const counts = { killed: 0, 'timed out': 0, equivalent: 0, survived: 0 };
  for (const { mutant, result } of outcomes) {
    counts[result]++;
    const { file, source, change } = mutant;
    const key = keyOf(mutant);
    if (result === 'killed') known.delete(key);
    if (result === 'survived' && !known.has(key)) known.set(key, { file, source, change, reason: '' });
  }
  const thisRun = values.open
    ? []
    : [
        {
          files: positionals.length > 0 ? positionals : 'all',
          mutants: all.length,
          seed: values.seed,
          sample: outcomes.length,
          killed: counts.killed,
          timedOut: counts['timed out'],
          equivalent: counts.equivalent,
          survived: counts.survived,
        },
      ];
  const runs = [...report.runs, ...thisRun];
  const sorted = [...known.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  writeFileSync(reportFile, `${JSON.stringify({ runs, survivors: sorted }, undefined, 2)}\n`);
  const open = sorted.filter(({ reason }) => reason === '');
  console.log(`${outcomes.length} of ${all.length} mutants: ${JSON.stringify(counts)}`);
  if (open.length > 0) {
    console.log(
      `${open.length} without a reason in test/mutation/survivors.json: write a test, or say why it may stay`,
    );
    process.exitCode = 1;
  }
}

function sourceFiles(wanted) {
  const found = readdirSync(join(root, 'src'), { recursive: true })
    .map((name) => relative(root, join(root, 'src', name)))
    .filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    .filter(
      (file) => statSync(join(root, file)).isFile() && rooms.some(({ source }) => file.startsWith(source)),
    )
    .sort();
  for (const each of wanted) {
    if (!found.some((file) => file.startsWith(each)))
      throw new Error(`${each}: no source that is mutated\n${usage}`);
  }
  return wanted.length === 0 ? found : found.filter((file) => wanted.some((each) => file.startsWith(each)));
}

/** Returns a random sample of a list, the same for the same seed (mulberry32 by Tommy Ettinger, public domain). */
function sampled(list, count, seed) {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return list
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ each }) => each);
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '20' },
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '30' },
      each: { type: 'boolean', default: false },
      open: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const number = (name) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 0) return value;
    throw new Error(`--${name}: must be a whole number\n${usage}`);
  };
  return {
    values: {
      list: values.list,
      each: values.each,
      open: values.open,
      sample: number('sample'),
      seed: number('seed'),
      minutes: number('minutes'),
    },
    positionals,
  };
}
