import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const examples = join(root, 'examples');
const names = readdirSync(examples)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => basename(file, '.mjs'));

const readExample = (name: string) => readFileSync(join(examples, `${name}.mjs`), 'utf8');
const readExpected = (name: string) => readFileSync(join(examples, 'expected', `${name}.txt`), 'utf8');

/** What the examples of integrations may import: optional peers, and what the peers' own tests are made with. */
const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const frameworks = new Set([...Object.keys(peerDependencies), '@opentelemetry/sdk-trace-base']);

// Examples must run wherever they are started, and leave nothing behind there.
let elsewhere: string;
beforeAll(() => {
  if (!existsSync(join(root, 'dist', 'index.js'))) {
    throw new Error('the examples import the built package: run ./run setup first, or ./run test');
  }
  elsewhere = mkdtempSync(join(tmpdir(), 'salience-examples-'));
});
afterAll(() => {
  if (elsewhere) rmSync(elsewhere, { recursive: true, force: true });
});

describe('examples', () => {
  test('each has its expected output, and nothing else has one', () => {
    expect(names.length).toBeGreaterThanOrEqual(5);
    expect(readdirSync(join(examples, 'expected')).sort()).toEqual(names.map((name) => `${name}.txt`).sort());
  });

  // To renew an output that has rightly changed: node examples/NAME.mjs > examples/expected/NAME.txt
  test.each(names)('%s prints what it is said to print', (name) => {
    const script = join(examples, `${name}.mjs`);
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
      cwd: elsewhere,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toBe(readExpected(name));
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.each(names)('%s imports nothing but the package, the frameworks it is made for, and Node', (name) => {
    const targets = [...readExample(name).matchAll(/from '([^']+)'/g)].map((match) => match[1]);
    expect(targets.length).toBeGreaterThan(0);
    for (const target of targets) {
      const [first = '', second = ''] = (target ?? '').split('/');
      const framework = first.startsWith('@') ? `${first}/${second}` : first;
      if (!frameworks.has(framework)) expect(target).toMatch(/^(?:salience(?:\/[a-z-]+)?|node:[a-z:/]+)$/);
    }
  });
});

function blocksOf(page: string): readonly { readonly kind: string; readonly text: string }[] {
  return marked
    .lexer(readFileSync(join(root, page), 'utf8'))
    .flatMap((token) => (token.type === 'code' ? [{ kind: token.lang ?? '', text: `${token.text}\n` }] : []));
}

describe.each([
  ['README.md', 'quick-start'],
  ['docs/overview.md', 'explained'],
])('%s', (page, name) => {
  const blocks = blocksOf(page);

  test('shows an example as it is, and what it really prints', () => {
    const at = blocks.findIndex(({ kind }) => kind === 'ts');
    expect(blocks[at]?.text).toBe(readExample(name));
    expect(blocks[at + 1]).toEqual({ kind: 'text', text: readExpected(name) });
  });

  test('shows no other code that nothing checks', () => {
    expect(blocks.filter(({ kind }) => kind !== 'sh').map(({ kind }) => kind)).toEqual(['ts', 'text']);
  });
});

describe('the readme', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');

  test('names every example, in fewer than 120 lines', () => {
    for (const name of names) expect(readme).toContain(`examples/${name}.mjs`);
    expect(readme.split('\n').length).toBeLessThan(120);
  });

  test('shows a picture of what the example prints', () => {
    const script = join(root, 'scripts', 'picture.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
