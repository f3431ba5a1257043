import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { type RolldownLog, rolldown } from 'rolldown';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

/** What a page would load: the subpath as it is published, bundled for browsers. */
const entry = fileURLToPath(new URL('../../dist/scoring/index.js', import.meta.url));
const nodeGlobals = [
  'Buffer',
  'process',
  'global',
  'require',
  'module',
  '__dirname',
  '__filename',
  'setImmediate',
];

let code = '';
let imports: readonly string[] = [];
const logs: RolldownLog[] = [];

beforeAll(async () => {
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    onLog: (_level, log) => logs.push(log),
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'scoring', codeSplitting: false });
  await bundle.close();
  code = output[0].code;
  imports = [...output[0].imports, ...output[0].dynamicImports];
});

describe('salience/scoring in a browser', () => {
  it('loads nothing from outside', () => {
    expect(imports).toEqual([]);
    expect(logs.map(({ message }) => message)).toEqual([]);
    for (const name of builtinModules) expect(code).not.toContain(`"node:${name}"`);
  });

  it('uses no global of Node', () => {
    const used = new Set<string>();
    const visit = (node: ts.Node): void => {
      const isKey =
        (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) ||
        (ts.isPropertyAssignment(node.parent) && node.parent.name === node);
      if (ts.isIdentifier(node) && !isKey) used.add(node.text);
      ts.forEachChild(node, visit);
    };
    ts.forEachChild(ts.createSourceFile('bundle.js', code, ts.ScriptTarget.ES2022, true), visit);
    expect(used.size).toBeGreaterThan(100);
    expect(nodeGlobals.filter((name) => used.has(name))).toEqual([]);
  });

  it('parses a profile, scores a memory and explains it where there is only JavaScript', () => {
    const context = createContext({});
    runInContext(code, context);
    const story = `
      const profile = scoring.parseProfile(JSON.stringify({
        name: 'fresh',
        description: 'Words first, then what is new.',
        parts: { recency: { op: 'decay', age: { op: 'age', of: 'updatedAt' }, halfLife: 30 } },
        score: {
          op: 'sum',
          terms: [
            { weight: 0.7, of: { op: 'signal', name: 'lexical' } },
            { weight: 0.3, of: { op: 'ref', name: 'recency' } },
          ],
        },
      }));
      const signals = { lexical: 0.5, updatedAt: '2026-03-21T00:00:00Z' };
      const options = { now: '2026-04-20T00:00:00Z' };
      const tree = scoring.explain(profile, signals, options);
      const sum = tree.inputs.reduce((total, { value }, at) => total + tree.detail.weights[at] * value, 0);
      JSON.stringify({
        globals: ['process', 'Buffer', 'TextEncoder', 'URL'].filter((name) => name in globalThis),
        score: scoring.score(profile, signals, options),
        value: tree.value,
        sum,
        drawn: scoring.formatExplanation(tree, 'text'),
        hybrid: scoring.score('hybrid', signals, options),
      })`;
    const told = JSON.parse(String(runInContext(story, context)));
    expect(told).toMatchObject({ globals: [], score: 0.5, value: 0.5, sum: 0.5 });
    expect(told.drawn).toContain('0.5000  lexical  · weight 0.7, adds 0.3500');
    expect(told.hybrid).toBeGreaterThan(0);
  });
});

describe('the client, with which the inspector asks', () => {
  it('loads nothing of Node', async () => {
    const bundle = await rolldown({
      input: fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)),
      platform: 'browser',
      external: /^node:/,
    });
    const { output } = await bundle.generate({ format: 'esm' });
    await bundle.close();
    expect(output[0].code).toContain('connectMemory');
    expect(output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.imports : []))).toEqual([]);
  });
});
