import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { problemsOf, toJavaScript } from './compile.ts';
import { type DocExample, docExamples, verbsOf } from './doc-examples.ts';
import { readPublicSurface, root } from './public-surface.ts';
import { installIn, STAND_IN_TYPES } from './stand-ins.ts';

/** The types of Mastra take as long to read as all others together. `examples/mastra.mjs` is tested instead. */
const NOT_COMPILED = ['salience/mastra: memoryTools'];

/** The examples that cannot run here, with the reason. All others are run. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'salience/postgres: postgres': 'it needs a server; test/postgres calls it',
  'salience/postgres: migratePostgres': 'it needs a server; test/postgres calls it',
  'salience/postgres: erasePostgres': 'it needs a server; test/postgres calls it',
  'salience/testing: storeContract': 'it registers tests with vitest',
  'salience/eval: verifyRows': 'it needs the rows of an evaluation',
};

const surface = readPublicSurface();
const examples = docExamples(surface);
const titles = examples.map(({ title }) => title);
const compiled = titles.filter((title) => !NOT_COMPILED.includes(title));
const runs = (title: string) => !(title in NOT_RUN);

/** The variables that examples may use without declaring them. */
const GIVEN = ['memory', 'mem'] as const;

function mentions(lines: readonly string[], name: string): boolean {
  return new RegExp(`(?<!\\w|[^.]\\.)${name}(?!\\w)`).test(lines.join('\n'));
}

/** Makes a module of an example: adds imports from its subpath and from `salience`, and passes the values of `GIVEN`. */
function moduleOf({ title, code }: DocExample): string {
  const lines = code.split('\n');
  const imports = lines.filter((line) => line.startsWith('import '));
  const body = lines.filter((line) => !line.startsWith('import '));
  const [own = ''] = title.split(':');
  const named = new Set(imports.flatMap((line) => line.match(/\w+/g) ?? []));
  for (const { name: entryPoint, exports } of surface.entryPoints) {
    if (entryPoint !== own && entryPoint !== 'salience') continue;
    const values = exports.filter(({ name, symbol }) => {
      const isUsed = (symbol.flags & ts.SymbolFlags.Value) !== 0 && !named.has(name) && mentions(body, name);
      if (isUsed) named.add(name);
      return isUsed;
    });
    if (values.length > 0) {
      imports.push(`import { ${values.map(({ name }) => name).join(', ')} } from '${entryPoint}';`);
    }
  }
  return [
    "import type { MemoryEngine } from 'salience';",
    "import type { Mem } from 'salience/mem';",
    ...imports,
    `export const needs = ${JSON.stringify(GIVEN.filter((name) => mentions(body, name)))};`,
    'export async function example(memory: MemoryEngine, mem: Mem) { void [memory, mem]; {',
    ...body,
    '}}',
    '',
  ].join('\n');
}

const modules = examples.map(moduleOf);

/** Replaces each printed value or call that has its result in a comment by a call of `shows`, which checks the result. */
function withChecks(module: string): string {
  return module
    .replace(/console\.log\((.*)\); \/\/ (.*)$/gm, (_, values, comment) => shows(comment, values))
    .replace(/^(\w+\(.*\)); \/\/ (.*)$/gm, (_, call, comment) => shows(comment, call));
}

function shows(comment: string, values: string): string {
  return `shows(${JSON.stringify(comment)}, ${values});`;
}

/** Returns the compile errors of each example, by title. */
function compile(): ReadonlyMap<string, readonly string[]> {
  const nameOf = (title: string) => `example-${titles.indexOf(title)}.ts`;
  const found = problemsOf(
    new Map([
      ...compiled.map((title) => [nameOf(title), modules[titles.indexOf(title)] as string] as const),
      ['stand-ins.d.ts', STAND_IN_TYPES],
    ]),
  );
  return new Map(compiled.map((title) => [title, found.get(nameOf(title)) ?? []]));
}

/** Runs the examples on the built package, in one process. Returns the errors of those that fail, by title. */
function run(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'salience-doc-examples-'));
  try {
    // Without a package.json here, one in a parent folder could claim the name `salience`.
    writeFileSync(join(folder, 'package.json'), '{}');
    installIn(folder, ['@langchain', '@mastra']);
    examples.forEach(({ title }, index) => {
      if (!runs(title)) return;
      const code = toJavaScript(withChecks(modules[index] as string));
      writeFileSync(
        join(folder, `${index}.mjs`),
        code.replaceAll("'http://127.0.0.1:7411'", 'process.env.SALIENCE_URL'),
      );
    });
    const runner = join(root, 'test', 'docs', 'run-examples.mjs');
    const { stdout, stderr, status } = spawnSync(process.execPath, [runner], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const failures = JSON.parse(stdout) as Readonly<Record<string, string>>;
    return new Map(
      Object.entries(failures).map(([file, error]) => [titles[Number.parseInt(file, 10)] ?? '', error]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('examples in doc comments', () => {
  test('exist for every exported function and every verb', () => {
    const has = new Set(titles);
    // The parts of a store share one example: docs/guides/stores.md.
    const alone = verbsOf(surface).filter((title) => !title.startsWith('salience/store: '));
    expect(alone.filter((title) => !has.has(title))).toEqual([]);
    expect(titles.length).toBeGreaterThan(100);
  });

  test('the lists of exceptions name only existing examples', () => {
    expect([...NOT_COMPILED, ...Object.keys(NOT_RUN)].filter((title) => !titles.includes(title))).toEqual([]);
  });

  test('results in comments are recognised', () => {
    const checked =
      modules
        .map(withChecks)
        .join('\n')
        .match(/^.*\bshows\(".*$/gm) ?? [];
    expect(checked.length).toBeGreaterThan(30);
  });

  test('have at most twelve lines', () => {
    const lengths = examples.map(({ title, code }) => [title, code.split('\n').length] as const);
    expect(lengths.filter(([, length]) => length > 12)).toEqual([]);
  });

  const problems = compile();
  test.each(compiled)('%s compiles', (title) => {
    expect(problems.get(title)).toEqual([]);
  });

  const failures = run();
  test.each(titles.filter(runs))('%s runs', (title) => {
    expect(failures.get(title)).toBeUndefined();
  });
});
