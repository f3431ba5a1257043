import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './public-surface.ts';

/** Replacements for packages that are not installed here: modules that do what the pages need, without a network. */
const STAND_INS: Readonly<Record<string, { readonly code: string; readonly types: string }>> = {
  '@ai-sdk/openai': {
    code: `import { MockLanguageModelV3 } from 'ai/test';
      const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
      const content = [{ type: 'text', text: 'Noted.' }];
      const doGenerate = { content, finishReason: { unified: 'stop' }, usage, warnings: [] };
      export const openai = () => new MockLanguageModelV3({ doGenerate });`,
    types: "export declare function openai(name: string): import('ai/test').MockLanguageModelV3;",
  },
  '@openai/agents': {
    code: `import { setDefaultModelProvider, setTracingDisabled, Usage } from '@openai/agents-core';
      export * from '@openai/agents-core';
      setTracingDisabled(true);
      const content = [{ type: 'output_text', text: 'I do not know.' }];
      const output = [{ type: 'message', role: 'assistant', status: 'completed', content }];
      const model = { getResponse: async () => ({ usage: new Usage(), output }) };
      setDefaultModelProvider({ getModel: () => model });`,
    types: "export * from '@openai/agents-core';",
  },
};

/** The types of `STAND_INS`, as one declaration file. */
export const STAND_IN_TYPES = Object.entries(STAND_INS)
  .map(([name, { types }]) => `declare module '${name}' { ${types} }`)
  .join('\n');

/** Creates `node_modules` in a folder, with this package, the given packages of this checkout, and all stand-ins. */
export function installIn(folder: string, packages: readonly string[]): void {
  const modules = join(folder, 'node_modules');
  const link = (target: string, name: string) => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(target, join(modules, name), 'dir');
  };
  link(root, 'salience');
  for (const name of new Set([...packages, 'ai', '@openai/agents-core'])) {
    link(join(root, 'node_modules', name), name);
  }
  for (const [name, { code }] of Object.entries(STAND_INS)) {
    mkdirSync(join(modules, name), { recursive: true });
    writeFileSync(join(modules, name, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(join(modules, name, 'index.js'), code);
  }
}
