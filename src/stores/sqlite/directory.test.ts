import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { isFull, translateError, translateFileError } from './faults.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

test.each([
  [{ errcode: 14, systemErrno: constants.errno.EMFILE }, 'store_failed', 'ulimit -n'],
  [{ errcode: 14 }, 'store_failed', 'ulimit -n'],
  [{ errcode: 4874 }, 'store_full', 'no space'],
  [{ errcode: 778, systemErrno: constants.errno.EDQUOT }, 'store_full', 'no space'],
  [{ errcode: 778, systemErrno: constants.errno.EFBIG }, 'store_full', 'ulimit -f'],
  [{ errcode: 778 }, 'store_failed', 'ulimit -f'],
  [{ errcode: 266, systemErrno: constants.errno.EIO }, 'store_failed', 'the disk is sound'],
  [{ code: 'EDQUOT', syscall: 'write' }, 'store_full', 'no space'],
  [{ code: 'EFBIG', syscall: 'write' }, 'store_full', 'ulimit -f'],
  [{ code: 'ELOOP', syscall: 'scandir' }, 'store_failed', 'in a circle'],
  [{ code: 'ENAMETOOLONG', syscall: 'mkdir' }, 'store_failed', 'a shorter path'],
  [{ code: 'EMFILE', syscall: 'open' }, 'store_failed', 'ulimit -n'],
  [{ code: 'EACCES', syscall: 'scandir' }, 'store_failed', 'cannot be looked into'],
  [{ code: 'EACCES', syscall: 'stat' }, 'store_failed', 'cannot be looked into'],
  [{ code: 'EACCES', syscall: 'mkdir' }, 'store_read_only', 'cannot be written to'],
])('what the system says is told with what to do: %o', (error, code, advice) => {
  const translate = 'code' in error ? translateFileError : translateError;
  expect(translate(error, '/place')).toMatchObject({ code, message: expect.stringContaining(advice) });
});

test.each([
  [{ errcode: 13 }, true],
  [{ errcode: 778, systemErrno: constants.errno.EDQUOT }, true],
  [{ errcode: 778, systemErrno: constants.errno.EFBIG }, true],
  [{ errcode: 778, systemErrno: constants.errno.EIO }, false],
  [{ errcode: 778 }, false],
])('whether there was no room for a write, whoever limits it: %o', (error, expected) => {
  expect(isFull(error)).toBe(expected);
});

test.each([200, 482, 483, 490, 495, 500, 504, 505, 511, 512, 600])(
  'a path of %i bytes opens, or the error says that it is too long',
  async (length) => {
    const root = await mkdtemp(join(tmpdir(), 'salience-long-'));
    onTestFinished(() => rm(root, { recursive: true }));
    const beyond = length - join(root, fileNameOf('a')).length - 1;
    const names = `${`${'d'.repeat(99)}/`.repeat(Math.floor(beyond / 100))}${'e'.repeat(beyond % 100)}`;
    await using store = createSqliteStore({ directory: join(root, names) });
    const opening = store.openSpace('a').then((space) => write(space, [insert({ id: 'a' })]));
    const failure = await opening.then(
      () => '',
      (error) => `${error.code}: ${error.message}`,
    );
    if (length <= 482) expect(failure).toBe('');
    else
      expect(failure).toMatch(
        length < 512 ? /^$|^store_failed: .*a shorter path$/ : /^store_failed: .*a shorter path$/,
      );
  },
);
