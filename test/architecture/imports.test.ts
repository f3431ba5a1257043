import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** What each folder may import besides itself. Folders above may use folders below, never the other way round. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  scoring: ['domain'],
  text: ['domain'],
  files: ['domain'],
  providers: ['domain'],
  // The port; its adapters are folders of their own. It keeps, and does not search.
  store: ['domain', 'scoring', 'text'],
  search: ['domain', 'scoring', 'text', 'store'],
  stores: ['domain', 'scoring', 'text', 'search', 'store'],
  fit: ['domain', 'scoring', 'store'],
  language: ['domain', 'providers'],
  context: ['domain', 'scoring', 'text'],
  engine: ['domain', 'scoring', 'text', 'fit', 'language', 'context', 'providers', 'store'],
  '(root)': [
    'domain',
    'scoring',
    'text',
    'search',
    'language',
    'providers',
    'store',
    'stores',
    'context',
    'engine',
    'fit',
  ],
  import: ['(root)', 'files', 'domain'],
  eval: ['(root)', 'files', 'domain', 'scoring', 'fit'],
  simulate: ['(root)', 'domain', 'scoring'],
  api: ['(root)', 'domain'],
  http: ['(root)', 'domain', 'import', 'api'],
  // The checks of options, which weigh nothing.
  client: ['(root)', 'domain', 'scoring', 'engine'],
  mem: ['(root)', 'domain'],
  mcp: ['(root)', 'domain', 'api', 'mem'],
  integrations: ['(root)', 'domain', 'api'],
  cli: [
    '(root)',
    'scoring',
    'engine',
    'import',
    'eval',
    'simulate',
    'files',
    'domain',
    'text',
    'store',
    'stores',
    'providers',
    'mcp',
    'http',
  ],
  testing: ['domain', 'providers', 'scoring', 'text', 'search', 'store', '(root)'],
};

/** The only folders that load a driver or a server's library. */
const drivers: Readonly<Record<string, readonly string[]>> = {
  '@photostructure/sqlite': ['stores', 'cli'],
  pg: ['stores'],
  '@modelcontextprotocol/server': ['mcp'],
  '@modelcontextprotocol/server/stdio': ['mcp'],
  hono: ['http'],
  '@hono/node-server': ['http'],
};

/** The only file that imports an optional package. Each is a subpath of its own, so that nobody needs what he does not use. */
const optional: Readonly<Record<string, string>> = {
  ai: 'integrations/ai-sdk.ts',
  '@langchain/core': 'integrations/langchain.ts',
  '@mastra/core': 'integrations/mastra.ts',
  '@openai/agents-core': 'integrations/openai-agents.ts',
  '@opentelemetry/api': 'integrations/otel.ts',
  '@energetic-ai': 'providers/use-lite.ts',
};

/** The command line alone names what a program would import itself. */
const namedBy: Readonly<Record<string, string>> = { 'providers/use-lite.ts': 'cli/open.ts' };

const files = sourceFiles(source);

function sourceFiles(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return /(?<!\.test|\.test-d)\.ts$/.test(entry.name) ? [path] : [];
  });
}

function folderOf(file: string): string {
  const [first, second] = relative(source, file).split(sep);
  return second === undefined ? '(root)' : (first as string);
}

function inFolders(...folders: readonly string[]): readonly string[] {
  for (const folder of folders) expect(Object.keys(allowed)).toContain(folder);
  return files.filter((file) => folders.includes(folderOf(file)));
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  return [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/g),
  ].map((match) => (match[1] ?? match[2]) as string);
}

/** The files that are loaded with a file: what is imported for its types alone is not. */
function loadedBy(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^(?:import|export) type [^;]*;/gm, '');
  return [...text.matchAll(/^(?:import|export)\b([^'";=]*?)from\s+'(\.[^']+)'/gm)].flatMap(
    ([, names = '', target = '']) => {
      const listed = /\{([^}]*)\}/.exec(names)?.[1]?.split(',') ?? [];
      const typesAlone = listed.length > 0 && listed.every((name) => /^\s*(?:type\s|$)/.test(name));
      return typesAlone ? [] : [join(file, '..', target)];
    },
  );
}

describe('imports go one way', () => {
  test('every folder is known', () => {
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) expect(Object.keys(allowed)).toContain(folderOf(file));
  });

  test.each(files.map((file) => [relative(source, file), file]))('%s', (_, file) => {
    const folder = folderOf(file);
    for (const target of importsOf(file)) {
      if (target.startsWith('.')) {
        const other = folderOf(join(file, '..', target));
        if (other !== folder)
          expect(allowed[folder], `${folder} imports ${other}: ${target}`).toContain(other);
      } else if (Object.hasOwn(drivers, target)) {
        expect(drivers[target], `${folder} imports the driver ${target}`).toContain(folder);
      }
    }
  });

  test('no folder reaches itself through others', () => {
    const reached = (folder: string, known = new Set<string>()): ReadonlySet<string> => {
      for (const next of allowed[folder] ?? []) {
        if (!known.has(next)) reached(next, known.add(next));
      }
      return known;
    };
    for (const folder of Object.keys(allowed)) expect(reached(folder), folder).not.toContain(folder);
  });

  test('no file is loaded by what it loads', () => {
    const order = new Map<string, 'open' | 'done'>();
    const visit = (file: string, path: readonly string[]) => {
      const names = [...path, relative(source, file)];
      expect(order.get(file), names.join(' → ')).not.toBe('open');
      if (order.has(file)) return;
      order.set(file, 'open');
      for (const next of loadedBy(file)) visit(next, names);
      order.set(file, 'done');
    };
    for (const file of files) visit(file, []);
    expect(order.size).toBeGreaterThan(200);
  });
});

test('an optional package is imported by its own file alone, and that file by nothing that a program loads', () => {
  const homes = Object.values(optional);
  for (const file of files) {
    const name = relative(source, file).replaceAll(sep, '/');
    for (const target of importsOf(file)) {
      const wanted = Object.keys(optional).find((each) => `${target}/`.startsWith(`${each}/`));
      if (wanted !== undefined) expect(name).toBe(optional[wanted]);
      const other = relative(source, join(file, '..', target)).replaceAll(sep, '/');
      if (homes.includes(other)) expect(name, `${name} imports ${other}`).toBe(namedBy[other]);
    }
  }
});

test('nothing imports the command line', () => {
  for (const file of files.filter((each) => folderOf(each) !== 'cli')) {
    for (const target of importsOf(file)) expect(target).not.toMatch(/\/cli\//);
  }
});

test('what starts with every command loads no schema library', () => {
  for (const file of inFolders('(root)', 'domain', 'providers', 'language', 'engine', 'store')) {
    expect(readFileSync(file, 'utf8'), relative(source, file)).not.toMatch(
      /^import (?!type )[^;]*from 'zod'/m,
    );
  }
});

test('directories are made one at a time: Node.js tries for ever to make several below /proc', () => {
  for (const file of files.filter((each) => !each.endsWith('make-directory.ts'))) {
    expect(readFileSync(file, 'utf8'), relative(source, file)).not.toMatch(/\bmkdir(Sync)?\(/);
  }
});

test('the core reads no clock and no randomness of its own', () => {
  const core = inFolders(
    'domain',
    'scoring',
    'text',
    'search',
    'store',
    'stores',
    'language',
    'context',
    'engine',
  );
  for (const file of core) {
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(text, relative(source, file)).not.toMatch(/Date\.now|new Date\(\)|Math\.random|randomUUID/);
  }
});

test('scores are made of exp and log alone: their bits are the same on every runtime', () => {
  for (const file of inFolders('scoring', 'search', 'text')) {
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(text, relative(source, file)).not.toMatch(
      /Math\.(pow|exp2|log2|log10|sin|cos|tanh|cbrt|hypot|expm1|log1p)|[\w)] \*\* [\w(]/,
    );
  }
});
