import { execFileSync } from 'node:child_process';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { checkOutputs, writeFileAtomically } from './output-file.ts';
import { readDefinition } from './profile-file.ts';

/** Simulates a file system without links, such as exFAT. */
vi.mock('node:fs/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs/promises')>()),
  link: () =>
    Promise.reject(Object.assign(new Error('operation not permitted'), { code: 'EPERM', syscall: 'link' })),
}));

const root = await mkdtemp(join(tmpdir(), 'salience-output-'));
afterAll(() => rm(root, { recursive: true, force: true }));

it('writes a file without replacing one on a file system without links', async () => {
  const path = join(root, 'export.jsonl');
  await writeFileAtomically(path, { replace: false }, (write) => write('one'));
  const again = writeFileAtomically(path, { replace: false }, (write) => write('two'));
  await expect(again).rejects.toMatchObject({ code: 'already_exists' });
  expect(await readFile(path, 'utf8')).toBe('one');
  expect(await readdir(root)).toEqual(['export.jsonl']);
});

it('refuses an empty path before anything is written or read', async () => {
  const fill = vi.fn(async () => {});
  const problem = { code: 'invalid_argument', message: expect.stringContaining('"" is not a path') };
  await expect(writeFileAtomically('', { replace: true }, fill)).rejects.toMatchObject(problem);
  await expect(readDefinition('')).rejects.toMatchObject(problem);
  expect(fill).not.toHaveBeenCalled();
});

const onPosix = it.skipIf(process.platform === 'win32');

onPosix('replaces the file behind a link, and keeps the link and who may read the file', async () => {
  await mkdir(join(root, 'public'));
  const page = join(root, 'public', 'page.html');
  await writeFile(page, 'old');
  await chmod(page, 0o606);
  const path = join(root, 'page.html');
  await symlink(join('public', 'page.html'), path);
  await writeFileAtomically(path, { replace: true }, (write) => write('new'));
  expect((await lstat(path)).isSymbolicLink()).toBe(true);
  expect(await readFile(page, 'utf8')).toBe('new');
  expect((await stat(page)).mode & 0o777).toBe(0o606);
  expect(await readdir(join(root, 'public'))).toEqual(['page.html']);
});

it('tells of a file that exists before the work', async () => {
  const path = join(root, 'there.jsonl');
  await writeFile(path, 'mine');
  const fill = vi.fn(async () => {});
  const writing = writeFileAtomically(path, { replace: false }, fill);
  await expect(writing).rejects.toMatchObject({ code: 'already_exists' });
  expect(fill).not.toHaveBeenCalled();
  await rm(path);
});

it('takes - for stdout, which it cannot be', async () => {
  await expect(checkOutputs({ '--rows': '-' }, [])).rejects.toMatchObject({
    ...{ code: 'invalid_argument', details: { field: '--rows' } },
    message: '--rows: stdout (-) is not possible here; name a file, or write ./- for one named -',
  });
  await expect(checkOutputs({ '--rows': './-' }, [])).resolves.toBeUndefined();
});

it('names the file that was asked for, not the temporary one', async () => {
  const path = join(root, 'nosuch', 'out.jsonl');
  await expect(writeFileAtomically(path, { replace: false }, (write) => write('new'))).rejects.toMatchObject({
    code: 'unwritable_file',
    message: `${path} cannot be written (ENOENT: no such file or directory); check that its folder exists, that you may write there and that the disk has room`,
  });
});

onPosix('replaces no file that the process has open, such as that behind /dev/stdout', async () => {
  const path = join(root, 'redirected');
  const file = await open(path, 'w');
  try {
    for (const replace of [true, false]) {
      const writing = writeFileAtomically(`/dev/fd/${file.fd}`, { replace }, (write) => write('new'));
      await expect(writing).rejects.toMatchObject({ code: 'unwritable_file' });
    }
    await file.write('kept');
  } finally {
    await file.close();
  }
  expect(await readFile(path, 'utf8')).toBe('kept');
  await rm(path);
});

onPosix('puts no file in the place of a pipe or a folder, and says so before the work', async () => {
  const pipe = join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const folder = join(root, 'folder');
  await mkdir(folder);
  for (const path of [pipe, folder]) {
    const fill = vi.fn(async () => {});
    const problem = { code: 'unwritable_file', message: expect.stringContaining('is not a file') };
    for (const replace of [true, false]) {
      await expect(writeFileAtomically(path, { replace }, fill)).rejects.toMatchObject(problem);
    }
    await expect(checkOutputs({ '--rows': path }, [])).rejects.toMatchObject(problem);
    expect(fill).not.toHaveBeenCalled();
  }
  expect((await lstat(pipe)).isFIFO()).toBe(true);
});
