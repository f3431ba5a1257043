import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { nodeFileTrace } from '@vercel/nft';
import { type BuildOptions, build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import webpack, { type Configuration, type Stats } from 'webpack';
import { installPackedPackage } from './packed.ts';

const { folder, remove } = installPackedPackage();
/** No package can be reached from here. */
const elsewhere = mkdtempSync(join(tmpdir(), 'salience-bundled-'));
afterAll(() => {
  remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

const entry = join(folder, 'program.mjs');
const program = `
  import { openMemory } from 'salience';
  async function main() {
    const memory = await openMemory({ path: ':memory:', space: 'alice' });
    await memory.rememberMany([{ content: 'Has a dog' }, { content: 'Prefers dark roast coffee' }]);
    const { hits } = await memory.recall('an espresso drink', { strategy: 'vector', limit: 1 });
    const { tokens } = await memory.context('coffee', { maxTokens: 200 });
    console.log(hits[0].memory.content, tokens > 0);
    await memory.close();
  }
  main();`;
const answer = 'Prefers dark roast coffee true\n';
/** It serves the inspector, and asks for threads. */
const serving = `
  import { createEvaluationEngine } from 'salience/eval';
  import { openSpaces } from 'salience';
  import { startServer } from 'salience/http';
  async function main() {
    const spaces = openSpaces({ path: ':memory:' });
    const server = await startServer({ spaces, tokens: { authenticate: async () => undefined }, port: 0 });
    const page = await fetch(server.url + '/inspector/');
    console.log(page.status, (await page.text()).includes('bundle'));
    await server.close();
    const error = await createEvaluationEngine({ workers: 2 }).catch((error) => error);
    console.log(error.code);
  }
  main();`;
beforeAll(() => writeFileSync(entry, program));

/** From another directory than that of the program: files are looked for beside it. */
function run(file: string): string {
  return execFileSync(process.execPath, [file], {
    cwd: tmpdir(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Node.js 20 has no SQLite, and no bundler can take a binary in: it stays a package, which is found from `file`. */
function giveSqlite(file: string): void {
  const name = '@photostructure/sqlite';
  const target = join(dirname(file), 'node_modules', name);
  if (existsSync(join(dirname(file), '..', 'node_modules', name))) return;
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(folder, 'node_modules', name), target, 'dir');
}

async function bundle(outfile: string, format: 'esm' | 'cjs', from = entry): Promise<void> {
  const options: BuildOptions = {
    entryPoints: [from],
    bundle: true,
    platform: 'node',
    format,
    outfile,
    logLevel: 'silent',
    external: ['@photostructure/sqlite'],
  };
  await esbuild(options);
  giveSqlite(outfile);
}

const bundleWithWebpack = promisify<Configuration, Stats | undefined>(webpack);

describe('a program bundled by esbuild', () => {
  it.each([['esm', 'mjs'] as const, ['cjs', 'cjs'] as const])(
    'runs beside the installed package, as %s',
    async (format, extension) => {
      const file = join(folder, 'bundle', `program.${extension}`);
      await bundle(file, format);
      expect(run(file)).toBe(answer);
    },
  );

  it.each([['esm', 'mjs'] as const, ['cjs', 'cjs'] as const])(
    'says elsewhere which file to copy, and runs once that is done, as %s',
    async (format, extension) => {
      const file = join(elsewhere, format, `program.${extension}`);
      await bundle(file, format);
      expect(() => run(file)).toThrow(/table\.bin is missing; a bundler does not copy it/);
      copyFileSync(
        join(folder, 'node_modules/salience/dist/providers/builtin/table.bin'),
        join(dirname(file), 'table.bin'),
      );
      expect(run(file)).toBe(answer);
    },
  );

  it.each([['esm', 'mjs'] as const, ['cjs', 'cjs'] as const])(
    'loads without the files of the inspector and of the threads, and says what is missing, as %s',
    async (format, extension) => {
      const from = join(folder, 'serving.mjs');
      writeFileSync(from, serving);
      const file = join(elsewhere, `serving-${format}`, `serving.${extension}`);
      await bundle(file, format, from);
      expect(run(file)).toBe('503 true\nunsupported\n');
    },
  );
});

it('a program bundled by Vite runs beside the installed package', async () => {
  const outDir = join(folder, 'vite');
  await vite({
    configFile: false,
    root: folder,
    logLevel: 'silent',
    ssr: { noExternal: true, external: ['@photostructure/sqlite'] },
    build: { ssr: entry, outDir, rollupOptions: { output: { entryFileNames: 'program.mjs' } } },
  });
  expect(run(join(outDir, 'program.mjs'))).toBe(answer);
});

it.each([['esm', 'mjs'] as const, ['cjs', 'cjs'] as const])(
  'a program bundled by webpack runs anywhere, its table of words beside it, as %s',
  async (format, extension) => {
    const file = join(elsewhere, `webpack-${format}`, `program.${extension}`);
    const type = format === 'esm' ? 'module' : 'commonjs';
    const stats = await bundleWithWebpack({
      mode: 'none',
      target: 'node20',
      context: folder,
      entry,
      externals: { '@photostructure/sqlite': `${type} @photostructure/sqlite` },
      experiments: { outputModule: format === 'esm' },
      output: {
        path: dirname(file),
        filename: `program.${extension}`,
        module: format === 'esm',
        chunkFormat: type,
      },
    });
    expect(stats?.toString({ all: false, errors: true, warnings: true })).toBe('');
    giveSqlite(file);
    expect(run(file)).toBe(answer);
  },
);

it('a program that is traced, as for the standalone output of Next, runs from the traced files alone', async () => {
  // No tracer finds the binaries of the package for Node.js 20: as in Next, they are named (`outputFileTracingIncludes`).
  const prebuilds = join(folder, 'node_modules/@photostructure/sqlite/prebuilds');
  const binaries = readdirSync(prebuilds, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.node'))
    .map((path) => join(prebuilds, path));
  const { fileList } = await nodeFileTrace([entry, ...binaries], { base: '/' });
  const traced = join(elsewhere, 'traced');
  for (const file of fileList) {
    const [from, to] = [join('/', file), join(traced, file)];
    mkdirSync(dirname(to), { recursive: true });
    if (lstatSync(from).isSymbolicLink()) symlinkSync(join(traced, readlinkSync(from)), to);
    else copyFileSync(from, to);
  }
  expect(readdirSync(traced).length).toBeGreaterThan(0);
  expect(run(join(traced, entry))).toBe(answer);
});
