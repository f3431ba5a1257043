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

/** The types of its framework take as long to read as all others together; `examples/mastra.mjs` is tested too. */
const NOT_COMPILED = ['salience/mastra: memoryTools'];

/** What cannot run here, and why. Everything else is run. */
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

/** What examples may use without making it. */
const GIVEN = ['memory', 'mem'] as const;

function mentions(lines: readonly string[], name: string): boolean {
  return new RegExp(`(?<!\\w|[^.]\\.)${name}(?!\\w)`).test(lines.join('\n'));
}

/** An example as a module: what it names of its subpath and of the main one is imported, two values are given. */
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

/** The same, with `shows` in place of what prints a result, or is a call, and has the result as a comment after it. */
function withChecks(module: string): string {
  return module
    .replace(/console\.log\((.*)\); \/\/ (.*)$/gm, (_, values, comment) => shows(comment, values))
    .replace(/^(\w+\(.*\)); \/\/ (.*)$/gm, (_, call, comment) => shows(comment, call));
}

function shows(comment: string, values: string): string {
  return `shows(${JSON.stringify(comment)}, ${values});`;
}

/** What is wrong with each example, by its title. */
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

/** What each example fails with, by the built package, in one process. */
function run(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'salience-doc-examples-'));
  try {
    // A package of its own: a folder above may be one, and mean itself by the name.
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
  test('every exported function and every verb has one', () => {
    const has = new Set(titles);
    // The parts of a store have one example together: test/store/map-store.mjs.
    const alone = verbsOf(surface).filter((title) => !title.startsWith('salience/store: '));
    expect(alone.filter((title) => !has.has(title))).toEqual([]);
    expect(titles.length).toBeGreaterThan(100);
  });

  test('what is not run is an example', () => {
    expect([...NOT_COMPILED, ...Object.keys(NOT_RUN)].filter((title) => !titles.includes(title))).toEqual([]);
  });

  test('results in comments are found', () => {
    const checked =
      modules
        .map(withChecks)
        .join('\n')
        .match(/^.*\bshows\(".*$/gm) ?? [];
    expect(checked.length).toBeGreaterThan(30);
  });

  test('none is longer than twelve lines', () => {
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
