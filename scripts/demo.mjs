// Remembers this repository through the ordinary importers, asks it questions whose answers are known, and checks them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const salience = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'salience-demo-'));
const bold = (text) => (process.stdout.isTTY ? styleText('bold', text) : text);
const questions = JSON.parse(readFileSync(new URL('demo-questions.json', import.meta.url), 'utf8'));
/** A right answer counts when it is among this many. */
const PLACES = 3;

try {
  console.log(bold('Salience remembers this repository.\n'));
  show('import', 'docs');
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
  console.log('Ask it yourself: ./run salience import docs && ./run salience recall "your question"');
  process.exitCode = right === outcomes.length ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function run(command, ...args) {
  const options = ['--path', directory, '--space', 'this-repository'];
  return spawnSync(process.execPath, [salience, command, ...args, ...options], {
    cwd: root,
    encoding: 'utf8',
  });
}

function show(command, ...args) {
  const quoted = args.map((arg) => (/[\s?]/.test(arg) ? JSON.stringify(arg) : arg));
  console.log(`$ salience ${[command, ...quoted].join(' ')}`);
  const options = ['--path', directory, '--space', 'this-repository'];
  const { status } = spawnSync(process.execPath, [salience, command, ...args, ...options], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`salience ${command} failed with ${status}`);
}

/** The place of the known answer, 0 when it is not among the first ten, and the memory that holds it. */
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
