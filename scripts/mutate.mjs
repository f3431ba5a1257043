import { spawn } from 'node:child_process';
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
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf } from './mutants.mjs';

/**
 * Changes the source in one small place after the other, in a copy, and runs the tests that should notice. What no test
 * notices is a survivor, and stands in test/mutation/survivors.json with the reason why it may stay.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const reportFile = join(root, 'test/mutation/survivors.json');

/** Where mutants are made, and the tests that must notice them: those of the room, and of what stands directly on it. */
const rooms = [
  { source: 'src/search/', tests: ['src/search/', 'src/stores/sqlite/store.test.ts'] },
  { source: 'src/scoring/', tests: ['src/scoring/', 'src/search/'] },
  {
    source: 'src/engine/recall/',
    tests: [
      'src/engine/recall/',
      'src/engine/recall/associations',
      'src/engine/belief/possible-updates',
      'src/engine/recall/reinforcement',
    ],
  },
  {
    source: 'src/store/eligibility.ts',
    tests: [
      'src/testing/reference-store/store.test.ts',
      'src/stores/sqlite/store.test.ts',
      'src/engine/belief/validity',
    ],
  },
  { source: 'src/context/', tests: ['src/context/'] },
];

const usage = `usage: ./run mutate [FILES] [--sample N] [--seed N] [--minutes N] [--list]

Makes N mutants (default 20), drawn by a seed (default 1) among all of FILES (default: every file of ${rooms
  .map(({ source }) => source)
  .join(', ')}),
and stops after --minutes (default 30). Prints what no test noticed, and records it in test/mutation/survivors.json.
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
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  for (const each of [
    'src',
    'test',
    'docs',
    'examples',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
  ]) {
    cpSync(join(root, each), join(copy, each), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

  const chosen = sampled(all, values.sample, values.seed);
  const used = rooms.filter(({ source }) => chosen.some(({ file }) => file.startsWith(source)));
  for (const { source, tests } of used) {
    const outcome = await runTests(copy, tests, 600);
    if (outcome !== 'survived') throw new Error(`the tests of ${source} fail without a mutant (${outcome})`);
  }
  const ends = performance.now() + values.minutes * 60_000;
  const counts = { killed: 0, 'timed out': 0, survived: 0 };
  const survivors = [];
  for (const mutant of chosen) {
    if (performance.now() > ends) break;
    const path = join(copy, mutant.file);
    const original = readFileSync(path, 'utf8');
    writeFileSync(path, original.slice(0, mutant.start) + mutant.replacement + original.slice(mutant.end));
    const { tests } = rooms.find(({ source }) => mutant.file.startsWith(source));
    const outcome = await runTests(copy, tests, 240);
    writeFileSync(path, original);
    counts[outcome]++;
    console.log(`${outcome.padEnd(9)} ${mutant.file}:${mutant.line} ${mutant.change}`);
    if (outcome === 'survived') survivors.push(mutant);
  }
  record(counts, survivors);
}

/** Whether a test fails within so many seconds; the first failure ends the run. */
function runTests(directory, tests, seconds) {
  return new Promise((resolve, reject) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const flags = ['--no-typecheck', '--bail=1', '--reporter=dot', '--maxWorkers=2'];
    const child = spawn(process.execPath, [vitest, 'run', ...flags, ...tests], {
      cwd: directory,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, SALIENCE_DATA: '' },
    });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      // A mutant may loop for ever in a worker: the whole group ends.
      process.kill(-child.pid, 'SIGKILL');
    }, seconds * 1000);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(late ? 'timed out' : code === 0 ? 'survived' : 'killed');
    });
  });
}

/** Adds this run to the report. A survivor is known again by its line of source, so that its reason stays when lines move. */
function record(counts, survivors) {
  const report = JSON.parse(readFileSync(reportFile, 'utf8'));
  const keyOf = ({ file, source, change }) => `${file}\n${source}\n${change}`;
  const known = new Map(report.survivors.map((each) => [keyOf(each), each]));
  for (const { file, source, change } of survivors) {
    const key = keyOf({ file, source, change });
    if (!known.has(key)) known.set(key, { file, source, change, reason: '' });
  }
  const sample = counts.killed + counts['timed out'] + counts.survived;
  const runs = [
    ...report.runs,
    {
      files: positionals.length > 0 ? positionals : 'all',
      mutants: all.length,
      seed: values.seed,
      sample,
      killed: counts.killed,
      timedOut: counts['timed out'],
      survived: counts.survived,
    },
  ];
  const sorted = [...known.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  writeFileSync(reportFile, `${JSON.stringify({ runs, survivors: sorted }, undefined, 2)}\n`);
  const open = sorted.filter(({ reason }) => reason === '');
  console.log(`${sample} of ${all.length} mutants: ${JSON.stringify(counts)}`);
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

/** So many of a list, the same for the same seed: a shuffle by mulberry32 (Tommy Ettinger, public domain). */
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
    values: { list: values.list, sample: number('sample'), seed: number('seed'), minutes: number('minutes') },
    positionals,
  };
}
