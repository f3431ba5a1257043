import promises, { mkdtemp, readdir, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from './directory.ts';
import { translateError, translateFileError } from './faults.ts';

const { mkdir } = promises;

test('a directory on a file system that is read-only or full is not called missing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-directory-'));
  try {
    for (const code of ['EROFS', 'ENOSPC']) {
      // What Node.js makes of it when it makes the folders above as well.
      promises.mkdir = async (path, options) => {
        const told = options && typeof options === 'object' && options.recursive ? 'ENOENT' : code;
        throw Object.assign(new Error(`${told}: ${String(path)}`), { code: told, syscall: 'mkdir' });
      };
      syncBuiltinESMExports();
      await expect(makeDirectory(join(directory, 'a', 'b'))).rejects.toMatchObject({
        code,
        message: `${code}: ${join(directory, 'a')}`,
      });
    }
  } finally {
    promises.mkdir = mkdir;
    syncBuiltinESMExports();
    await rm(directory, { recursive: true });
  }
});

test('a directory that another process makes at the same time is as good as its own', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-directory-'));
  try {
    let calls = 0;
    promises.mkdir = (async (path, options) => {
      if (++calls === 1) await mkdir(path);
      return mkdir(path, options);
    }) as typeof mkdir;
    syncBuiltinESMExports();
    await makeDirectory(join(directory, 'a', 'b'));
    expect(await readdir(join(directory, 'a'))).toEqual(['b']);
  } finally {
    promises.mkdir = mkdir;
    syncBuiltinESMExports();
    await rm(directory, { recursive: true });
  }
});

test.each([
  [{ errcode: 14, systemErrno: constants.errno.EMFILE }, 'store_failed', 'ulimit -n'],
  [{ errcode: 14 }, 'store_failed', 'ulimit -n'],
  [{ errcode: 4874 }, 'store_full', 'no space'],
  [{ code: 'ELOOP', syscall: 'scandir' }, 'store_failed', 'in a circle'],
  [{ code: 'ENAMETOOLONG', syscall: 'mkdir' }, 'store_failed', 'a shorter path'],
  [{ code: 'EMFILE', syscall: 'open' }, 'store_failed', 'ulimit -n'],
  [{ code: 'EACCES', syscall: 'scandir' }, 'store_failed', 'cannot be looked into'],
  [{ code: 'EACCES', syscall: 'mkdir' }, 'store_read_only', 'cannot be written to'],
])('what the system says is told with what to do: %o', (error, code, advice) => {
  const translate = 'code' in error ? translateFileError : translateError;
  expect(translate(error, '/place')).toMatchObject({ code, message: expect.stringContaining(advice) });
});
