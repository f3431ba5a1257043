// Remembers this repository through the ordinary importers, asks it questions whose answers are known, and checks them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const salience = fileURLToPath(new URL('../dist/cli/main.cjs', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'salience-demo-'));
const bold = (text) => (process.stdout.isTTY ? styleText('bold', text) : text);
const questions = JSON.parse(readFileSync(new URL('demo-questions.json', import.meta.url), 'utf8'));
let believed = false;
/** A right answer counts when it is among this many. */
const PLACES = 3;

try {
  console.log(bold('Salience remembers this repository.\n'));
  show('import', 'docs/decisions', 'docs/guides');
  const git = existsSync(join(root, '.git')) && run('import', '.', '--format', 'git').status === 0;
  console.log(
    git ? '$ salience import . --format git' : 'no git history here: questions about it are left out',
  );
  show('stats');

  const asked = questions.filter(({ answer }) => git || answer !== 'git:');
  const [first, second] = asked;
  console.log(bold('\nEvery answer shows what its scores are made of, and how it was found.\n'));
  show('recall', first.query, '--limit', '3', '--trace');
  console.log(bold('\nA score is a formula as data: here is one, value by value.\n'));
  show('recall', second.query, '--limit', '1', '--explain');
  console.log(bold('\nAnother strategy is another formula; its scores do not compare with those above.\n'));
  show('recall', first.query, '--strategy', 'lexical', '--limit', '2');

  tellWhatIsBelieved();

  console.log(bold('\nQuestions whose answers are known:\n'));
  const outcomes = asked.map((question) => ({ ...question, ...ask(question) }));
  for (const { query, rank, found } of outcomes) {
    const mark = rank === 0 ? '✗' : rank <= PLACES ? '✓' : '·';
    console.log(
      `  ${mark} ${query.padEnd(58)} ${rank === 0 ? `not found; first is ${found}` : `place ${rank}: ${found}`}`,
    );
  }
  const missed = outcomes.find(({ rank }) => rank !== 1);
  if (missed?.id) {
    console.log(bold('\nWhy was that answer not first? The memory itself is asked.\n'));
    show('why-not', missed.query, missed.id, '--limit', '1');
  }
  const right = outcomes.filter(({ rank }) => rank > 0 && rank <= PLACES).length;
  console.log(`\n${right} of ${outcomes.length} right answers among the first ${PLACES}.`);
  console.log(
    'Ask it yourself: ./run salience import docs/decisions docs/guides && ./run salience recall "your question"',
  );
  process.exitCode = right === outcomes.length && believed ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Shows in a separate space how a team changes its mind. Returns whether every answer is right. */
function tellWhatIsBelieved() {
  const space = ['--space', 'a-team'];
  console.log(bold('\nStatements change. One about a topic takes the place of the one before:\n'));
  show(
    'remember',
    'Deploys happen on Thursday',
    '--topic',
    'deploy/day',
    '--id',
    'deploy',
    '--now',
    '2026-01-05',
    ...space,
  );
  show('remember', 'Deploys happen on Tuesday', '--topic', 'deploy/day', '--now', '2026-02-02', ...space);
  console.log(bold('\nWhat may contradict another memory is stored, and noticed; a person decides:\n'));
  show('remember', 'Ann prefers dark roast coffee', '--id', 'dark', '--now', '2026-02-03', ...space);
  show('remember', 'Ann prefers light roast coffee', '--id', 'light', '--now', '2026-03-03', ...space);
  show('resolve', '1', 'supersede', '--now', '2026-03-03', ...space);
  console.log(bold('\nWhat was known on 20 January, and what is known now:\n'));
  show('recall', 'when are the deploys?', '--limit', '1', '--as-of', '2026-01-20', ...space);
  show('recall', 'when are the deploys?', '--limit', '1', '--now', '2026-03-04', ...space);
  const first = (...args) =>
    JSON.parse(run('recall', ...args, '--json', ...space).stdout).hits[0]?.memory.content;
  believed =
    first('when are the deploys?', '--as-of', '2026-01-20') === 'Deploys happen on Thursday' &&
    first('when are the deploys?', '--now', '2026-03-04') === 'Deploys happen on Tuesday' &&
    first('what coffee does Ann prefer?', '--now', '2026-03-04') === 'Ann prefers light roast coffee' &&
    first('what coffee does Ann prefer?', '--as-of', '2026-02-20') === 'Ann prefers dark roast coffee';
  if (!believed) console.log('An answer above is not what is believed.');
}

function run(command, ...args) {
  return spawnSync(process.execPath, [salience, command, ...args, ...optionsOf(args)], {
    cwd: root,
    encoding: 'utf8',
  });
}

function show(command, ...args) {
  const quoted = args.map((arg) => (/[\s?]/.test(arg) ? JSON.stringify(arg) : arg));
  console.log(`$ salience ${[command, ...quoted].join(' ')}`);
  const { status } = spawnSync(process.execPath, [salience, command, ...args, ...optionsOf(args)], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`salience ${command} failed with ${status}`);
}

function optionsOf(args) {
  return ['--path', directory, ...(args.includes('--space') ? [] : ['--space', 'this-repository'])];
}

/** Asks a question. Returns the rank of the known answer, or 0 if it is not among the first ten, and its memory. */
function ask({ query, answer, title }) {
  const result = run('recall', query, '--limit', '10', '--json');
  if (result.status !== 0) throw new Error(result.stderr);
  const memories = JSON.parse(result.stdout).hits.map((hit) => hit.memory);
  const at = memories.findIndex(
    (memory) => memory.sourceRef?.startsWith(answer) && (!title || memory.title === title),
  );
  const memory = memories[at] ?? memories[0];
  return { rank: at + 1, id: at < 0 ? undefined : memory?.id, found: memory?.title ?? 'nothing' };
}
