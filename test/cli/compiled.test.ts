import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace } from './cli.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const work = createWorkplace();
afterAll(() => work[Symbol.dispose]());
await work.json(['remember', 'Prefers dark roast coffee', '--id', 'roast']);

let caches = '';
let folder = '';
beforeEach(() => {
  caches = mkdtempSync(join(work.directory, 'caches-'));
  folder = join(caches, 'salience');
});

const get = (env: NodeJS.ProcessEnv = {}) =>
  work.salience(['get', 'roast', '--json'], { env: { XDG_CACHE_HOME: caches, ...env }, process: true });

/** Runs the command, which must answer and say nothing else, whatever is the matter with the cache. */
async function answers(env?: NodeJS.ProcessEnv): Promise<void> {
  const { code, stdout, stderr } = await get(env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ id: 'roast', content: 'Prefers dark roast coffee' });
}

function kept(): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function onlyFile(): string {
  expect(kept()).toEqual([expect.stringMatching(/^get-.+\.v8$/)]);
  return join(folder, kept()[0] as string);
}

/** Another inode is another file: it was written anew. */
const identity = (path: string) => statSync(path).ino;

describe('the compiled code of a command', () => {
  it('is kept once for the user alone, and used from then on', async () => {
    await answers();
    const file = onlyFile();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const first = identity(file);
    await answers();
    expect(identity(onlyFile())).toBe(first);
  });

  it('is kept again within a day by a run that needed much more of it, as after one that only printed its help', async () => {
    const env = { XDG_CACHE_HOME: caches };
    for (const day of [0, 1]) {
      rmSync(folder, { recursive: true, force: true });
      expect((await work.salience(['get', '--help'], { env, process: true })).code).toBe(0);
      const file = onlyFile();
      const [little, first] = [statSync(file).size, identity(file)];
      const at = Date.now() / 1000 - day * 86_400;
      utimesSync(file, at, at);
      await answers();
      expect(identity(onlyFile()) !== first).toBe(day === 0);
      expect(statSync(file).size > 1.05 * little).toBe(day === 0);
      const second = identity(file);
      await answers();
      expect((await work.salience(['get', '--help'], { env, process: true })).code).toBe(0);
      expect(identity(onlyFile())).toBe(second);
    }
  });

  it('is in the home where no other place is named, or an unclear one', async () => {
    const home = join(caches, 'home');
    mkdirSync(home);
    await answers({ HOME: home, XDG_CACHE_HOME: 'relative' });
    expect(readdirSync(join(home, '.cache', 'salience'))).toHaveLength(1);
    expect(existsSync(join(work.directory, 'relative'))).toBe(false);
  });

  it('is not kept where Node.js is told to keep none', async () => {
    await answers({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(kept()).toEqual([]);
  });

  it('is not kept of what fails, nor under a name that is none of a command', async () => {
    const env = { XDG_CACHE_HOME: caches };
    expect((await work.salience(['get', 'no-such'], { env, process: true })).code).toBe(1);
    expect((await work.salience(['../x', '--help'], { env, process: true })).code).toBe(2);
    expect(readdirSync(caches)).toEqual([]);
  });

  it.each<[string, (valid: Buffer) => Uint8Array]>([
    ['empty', () => Buffer.alloc(0)],
    ['cut short', (valid) => valid.subarray(0, valid.length / 2)],
    ['damaged in one byte', (valid) => valid.map((byte, at) => (at === 100_000 ? byte ^ 1 : byte))],
    ['of another V8', () => withChecksum(Buffer.alloc(5000))],
  ])('is made anew where it is %s', async (_, change) => {
    await answers();
    const file = onlyFile();
    writeFileSync(file, change(readFileSync(file)));
    const before = identity(file);
    await answers();
    expect(identity(onlyFile())).not.toBe(before);
    const made = identity(file);
    await answers();
    expect(identity(file)).toBe(made);
  });

  it('is not run where others can write it', async () => {
    await answers();
    chmodSync(onlyFile(), 0o622);
    const before = identity(onlyFile());
    await answers();
    expect(identity(onlyFile())).not.toBe(before);
    expect(statSync(onlyFile()).mode & 0o777).toBe(0o600);
  });

  it.runIf(process.getuid?.() === 0)('is not run where it is of somebody else', async () => {
    await answers();
    chownSync(onlyFile(), 65_534, 65_534);
    const before = identity(onlyFile());
    await answers();
    expect(identity(onlyFile())).not.toBe(before);
  });

  it('is not kept in a folder that others can write', async () => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await answers();
    expect(kept()).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('makes no folder in the home of somebody else', async () => {
    const home = join(caches, 'home');
    mkdirSync(home);
    chownSync(home, 65_534, 65_534);
    await answers({ HOME: home, XDG_CACHE_HOME: undefined });
    expect(readdirSync(home)).toEqual([]);
  });

  it('does not matter where nothing can be written', async () => {
    const file = join(caches, 'file');
    writeFileSync(file, '');
    await answers({ XDG_CACHE_HOME: file });
    await answers({ XDG_CACHE_HOME: join(file, 'below') });
    await answers({ HOME: '', XDG_CACHE_HOME: undefined });
  });

  it('is whole whoever else keeps it at the same time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => answers()));
    const made = identity(onlyFile());
    await answers();
    expect(identity(onlyFile())).toBe(made);
  });

  it('goes when it is a month old, once another is kept; what else is there stays', async () => {
    mkdirSync(folder, { mode: 0o700 });
    for (const name of ['old.v8', 'old.v8.1-2', 'old.txt', 'new.v8']) writeFileSync(join(folder, name), '');
    for (const name of ['old.v8', 'old.v8.1-2', 'old.txt']) utimesSync(join(folder, name), 0, 0);
    await answers();
    expect(kept().filter((name) => !name.startsWith('get-'))).toEqual(['new.v8', 'old.txt']);
  });
});

describe('another version of the script', () => {
  const place = mkdtempSync(join(tmpdir(), 'salience-compiled-'));
  afterAll(() => rmSync(place, { recursive: true }));
  const script = join(place, 'dist', 'cli', 'commands.cjs');
  mkdirSync(join(place, 'dist', 'cli'), { recursive: true });
  for (const name of ['package.json', 'dist/cli/main.cjs', 'dist/cli/commands.cjs']) {
    copyFileSync(join(root, name), join(place, name));
  }
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'), 'dir');
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(place, 'dist', 'cli', 'main.cjs'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, XDG_CACHE_HOME: caches },
    });

  it('does not run what was compiled of the one before, though it is as long and in the same place', () => {
    const summary = 'recall what matters now';
    const changed = 'repeat what matters now';
    for (let time = 0; time < 2; time++) expect(run('--help').stdout).toContain(summary);
    writeFileSync(script, readFileSync(script, 'latin1').replaceAll(summary, changed), 'latin1');
    for (let time = 0; time < 2; time++) expect(run('--help').stdout).toContain(changed);
    expect(kept()).toHaveLength(2);
  });

  it('names the lines of its own file in a stack trace', () => {
    const lines = readFileSync(script, 'latin1').split('\n');
    const line = lines.findIndex((text) => text.startsWith('module.exports = ')) + 1;
    lines[line - 1] = `throw new Error('here'); ${lines[line - 1]}`;
    writeFileSync(script, lines.join('\n'), 'latin1');
    expect(run('--help').stderr).toContain(`${script}:${line}`);
  });
});

describe('the script', () => {
  it('is ASCII alone, as it is read, and has what its regular expressions look for', () => {
    const script = readFileSync(join(root, 'dist', 'cli', 'commands.cjs'), 'utf8');
    expect(script.search(/[^\0-\x7f]/)).toBe(-1);
    expect(script).toContain('/[?\\uff1f\\u061f]/u');
  });

  it('loads nothing that runs other programs, which takes two milliseconds of each command', () => {
    const script = readFileSync(join(root, 'dist', 'cli', 'commands.cjs'), 'utf8');
    expect(script).not.toMatch(/require\(["']node:child_process["']\)/);
  });
});

function withChecksum(data: Buffer): Buffer {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(crc32(data));
  return Buffer.concat([checksum, data]);
}
