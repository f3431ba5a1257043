import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../src', import.meta.url));

/** What each room may import besides itself. Rooms above may use rooms below, never the other way round. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  model: [],
  scoring: ['model'],
  text: ['model'],
  files: ['model'],
  providers: ['model'],
  // The port; its adapters are rooms of their own. It keeps, and does not search.
  store: ['model', 'scoring', 'text'],
  index: ['model', 'scoring', 'text', 'store'],
  'store/sqlite': ['model', 'scoring', 'text', 'index', 'store'],
  language: ['model', 'providers'],
  recall: ['model', 'scoring', 'text', 'providers', 'store'],
  context: ['model', 'scoring', 'text'],
  memory: ['model', 'scoring', 'text', 'language', 'context', 'providers', 'store', 'recall'],
  '(root)': [
    'model',
    'index',
    'scoring',
    'text',
    'language',
    'providers',
    'store',
    'store/sqlite',
    'recall',
    'language',
    'context',
    'memory',
  ],
  import: ['(root)', 'files', 'model'],
  eval: ['(root)', 'files', 'model'],
  simulate: ['(root)', 'model', 'scoring'],
  verbs: ['(root)', 'model'],
  http: ['(root)', 'model', 'import', 'verbs'],
  // The options of the verbs, which weigh nothing.
  client: ['(root)', 'model', 'scoring', 'memory'],
  mem: ['(root)', 'model'],
  mcp: ['(root)', 'model', 'verbs', 'mem'],
  integrations: ['(root)', 'model', 'verbs'],
  cli: [
    '(root)',
    'scoring',
    'recall',
    'import',
    'eval',
    'simulate',
    'files',
    'model',
    'text',
    'store',
    'store/sqlite',
    'providers',
    'mcp',
    'http',
  ],
  testing: ['model', 'providers', 'scoring', 'text', 'index', 'store', '(root)'],
};

/** The only rooms that load a driver or a server's library. */
const drivers: Readonly<Record<string, readonly string[]>> = {
  '@photostructure/sqlite': ['store/sqlite', 'cli'],
  '@modelcontextprotocol/server': ['mcp'],
  '@modelcontextprotocol/server/stdio': ['mcp'],
  hono: ['http'],
  '@hono/node-server': ['http'],
};

/** The only file that imports a framework. Each is a subpath of its own, so that nobody needs what he does not use. */
const frameworks: Readonly<Record<string, string>> = {
  ai: 'ai-sdk',
  '@langchain/core': 'langchain',
  '@mastra/core': 'mastra',
  '@openai/agents-core': 'openai-agents',
  '@opentelemetry/api': 'otel',
};

const files = sourceFiles(source);

function sourceFiles(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return sourceFiles(path);
    return /(?<!\.test|\.test-d)\.ts$/.test(entry.name) ? [path] : [];
  });
}

function roomOf(file: string): string {
  const parts = relative(source, file).split(sep);
  if (parts.length === 1) return '(root)';
  const nested = parts.slice(0, 2).join('/');
  return Object.hasOwn(allowed, nested) ? nested : (parts[0] as string);
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  return [
    ...text.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|import\('([^']+)'\)/g),
  ].map((match) => (match[1] ?? match[2]) as string);
}

describe('imports go one way', () => {
  test('every room is known', () => {
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) expect(Object.keys(allowed)).toContain(roomOf(file));
  });

  test.each(files.map((file) => [relative(source, file), file]))('%s', (_, file) => {
    const room = roomOf(file);
    for (const target of importsOf(file)) {
      if (target.startsWith('.')) {
        const other = roomOf(join(file, '..', target));
        if (other !== room) expect(allowed[room], `${room} imports ${other}: ${target}`).toContain(other);
      } else if (Object.hasOwn(drivers, target)) {
        expect(drivers[target], `${room} imports the driver ${target}`).toContain(room);
      }
    }
  });
});

test('a framework is imported by its own file alone, and that file by nothing', () => {
  const home = (name: string) => join(source, 'integrations', `${name}.ts`);
  for (const file of files) {
    for (const target of importsOf(file)) {
      const framework = Object.keys(frameworks).find((name) => `${target}/`.startsWith(`${name}/`));
      if (framework !== undefined) expect(file).toBe(home(frameworks[framework] as string));
      expect(Object.values(frameworks).map(home), file).not.toContain(join(file, '..', target));
    }
  }
});

test('nothing imports the command line', () => {
  for (const file of files.filter((each) => roomOf(each) !== 'cli')) {
    for (const target of importsOf(file)) expect(target).not.toMatch(/\/cli\//);
  }
});

test('what starts with every command loads no schema library', () => {
  const late = ['(root)', 'model', 'providers', 'language', 'recall', 'memory', 'store'];
  for (const file of files.filter((each) => late.includes(roomOf(each)))) {
    expect(readFileSync(file, 'utf8'), relative(source, file)).not.toMatch(
      /^import (?!type )[^;]*from 'zod'/m,
    );
  }
});

test('the core reads no clock and no randomness of its own', () => {
  const core = [
    'model',
    'scoring',
    'text',
    'index',
    'store',
    'store/sqlite',
    'language',
    'recall',
    'context',
    'memory',
  ];
  for (const file of files.filter((each) => core.includes(roomOf(each)))) {
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(text, relative(source, file)).not.toMatch(/Date\.now|new Date\(\)|Math\.random|randomUUID/);
  }
});

test('scores are made of exp and log alone: their bits are the same on every runtime', () => {
  for (const file of files.filter((each) => ['scoring', 'index', 'text'].includes(roomOf(each)))) {
    const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    expect(text, relative(source, file)).not.toMatch(
      /Math\.(pow|exp2|log2|log10|sin|cos|tanh|cbrt|hypot|expm1|log1p)|[\w)] \*\* [\w(]/,
    );
  }
});
