#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { FROM_MODULES, findCommandName } from './command-name.ts';
import { loadCompiled } from './compiled.ts';

type Program = typeof import('./run.ts');

async function main(args: readonly string[]): Promise<void> {
  const name = findCommandName(args);
  const { run } = FROM_MODULES.has(name ?? '')
    ? await import('./run.ts')
    : loadCompiled<Program>(fileURLToPath(new URL('./commands.cjs', import.meta.url)), name ?? 'help');
  await run(args);
}

void main(process.argv.slice(2));
