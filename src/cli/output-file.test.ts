import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { writeFileAtomically } from './output-file.ts';
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
