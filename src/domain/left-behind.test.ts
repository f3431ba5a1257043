import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { removeLeftBehind, temporaryPrefix } from './left-behind.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'salience-left-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The number of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

test('what a process that has ended left is removed, files and folders, and nothing else', () => {
  const own = `${temporaryPrefix('.part-')}0a`;
  const ofDead = own.replace(String(process.pid), String(deadPid()));
  const elsewhere = ofDead.replace(/-[0-9a-f]{16}-/, '-0123456789abcdef-');
  const stays = [
    own,
    elsewhere,
    `${ofDead}.txt`,
    `x${ofDead}`,
    ofDead.replace('.part', '.other'),
    '.part-notes',
  ];
  for (const name of [...stays, ofDead, `${ofDead}-journal`]) writeFileSync(join(folder, name), 'text');
  mkdirSync(join(folder, `${ofDead}b`, 'inner'), { recursive: true });
  writeFileSync(join(folder, `${ofDead}b`, 'inner', 'file'), 'text');
  removeLeftBehind(folder, '.part-');
  expect(readdirSync(folder).sort()).toEqual([...stays].sort());
});

test('a link is removed, and not what it leads to; a folder that is not there is none', () => {
  const ofDead = `${temporaryPrefix('part-')}0a`.replace(String(process.pid), String(deadPid()));
  mkdirSync(join(folder, 'kept'));
  symlinkSync(join(folder, 'kept'), join(folder, ofDead), 'junction');
  removeLeftBehind(folder, 'part-');
  expect(readdirSync(folder)).toEqual(['kept']);
  removeLeftBehind(join(folder, 'nosuch'), 'part-');
  expect(existsSync(join(folder, 'nosuch'))).toBe(false);
});
