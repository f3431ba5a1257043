import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { installPackedPackage } from './packed.ts';

/** The program of each runtime and how it runs a file; `.ci/run` installs both and sets the variables. */
const RUNTIMES = [
  { name: 'Bun', variable: 'SALIENCE_BUN', args: [] },
  { name: 'Deno', variable: 'SALIENCE_DENO', args: ['run', '--allow-all', '--no-remote', '--quiet'] },
] as const;

const { folder, remove } = installPackedPackage();
const memories = mkdtempSync(join(tmpdir(), 'salience-runtimes-'));
afterAll(() => {
  remove();
  rmSync(memories, { recursive: true, force: true });
});

const program = `
import { openMemory } from 'salience';
const open = () => openMemory({ path: process.argv[2], space: 'alice' });
const shown = [];
let memory = await open();
await memory.rememberMany([{ content: 'Has a dog' }, { content: 'Prefers dark roast coffee' }]);
const secret = await memory.remember('The door code is 4711');
await memory.forget(secret.id);
await memory.remember('Lives in Bergen', { topicKey: 'home' });
await memory.undo();
await memory.close();
memory = await open();
const { hits, trace } = await memory.recall('an espresso drink', { strategy: 'vector', limit: 1 });
shown.push(hits[0].memory.content, trace.completeness);
shown.push((await memory.list()).memories.length, await memory.check());
shown.push((await memory.context('coffee', { maxTokens: 200 })).tokens > 0);
await memory.close();
console.log(JSON.stringify(shown));`;

describe.each(RUNTIMES)('$name', ({ name, variable, args }) => {
  const command = process.env[variable];
  const title = command ? '' : ` (skipped: ${variable} names no program)`;

  it.skipIf(!command)(`keeps memories in files, finds them again and forgets${title}`, () => {
    const file = join(folder, 'program.mjs');
    writeFileSync(file, program);
    const given = [...args, file, join(memories, name)];
    const output = execFileSync(command as string, given, { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual(['Prefers dark roast coffee', 'exact', 2, [], true]);
  });
});
