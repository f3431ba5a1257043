import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from './make-directory.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-directory-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Makes directories as `replacement` does, while `work` runs. */
function withMkdir(replacement: (path: string, options: unknown) => void, work: () => void): void {
  fs.mkdirSync = replacement as typeof mkdirSync;
  syncBuiltinESMExports();
  try {
    work();
  } finally {
    fs.mkdirSync = original;
    syncBuiltinESMExports();
  }
}
const original = mkdirSync;

describe('a directory is made', () => {
  it('with those above it, and once', () => {
    const path = join(directory, 'a', 'b', 'c');
    makeDirectory(path, 0o700);
    makeDirectory(path);
    for (const each of [path, join(path, '..')]) {
      expect(statSync(each).isDirectory()).toBe(true);
      if (process.platform !== 'win32') expect(statSync(each).mode & 0o777).toBe(0o700);
    }
  });

  it.each(['EROFS', 'ENOSPC'])('and an error says %s of the one that cannot be', (code) => {
    withMkdir(
      (path, options) => {
        // What Node.js makes of it when it makes the folders above as well.
        const isMissing = !existsSync(join(path, '..')) || (options as { recursive?: boolean })?.recursive;
        const told = isMissing ? 'ENOENT' : code;
        throw Object.assign(new Error(`${told}: ${path}`), { code: told, syscall: 'mkdir' });
      },
      () => {
        const message = `${code}: ${join(directory, 'a')}`;
        expect(() => makeDirectory(join(directory, 'a', 'b'))).toThrow(message);
      },
    );
  });

  it('also where another process makes it at the same time', () => {
    withMkdir(
      (path, mode) => {
        if (existsSync(join(path, '..'))) original(path);
        original(path, mode as number | undefined);
      },
      () => makeDirectory(join(directory, 'a', 'b')),
    );
    expect(readdirSync(join(directory, 'a'))).toEqual(['b']);
  });

  it('or it ends: below a file, and where the system makes none', () => {
    writeFileSync(join(directory, 'file'), '');
    expect(() => makeDirectory(join(directory, 'file'))).toThrow('EEXIST');
    expect(() => makeDirectory(join(directory, 'file', 'a'))).toThrow('ENOTDIR');
    let calls = 0;
    withMkdir(
      (path) => {
        // As of what lies below /proc.
        if (++calls > 100) throw new Error('it never ends');
        throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      },
      () => expect(() => makeDirectory(join(directory, 'a', 'b'))).toThrow(`ENOENT: ${join(directory, 'a')}`),
    );
  });
});
