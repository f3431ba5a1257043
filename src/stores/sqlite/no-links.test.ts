import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { sharedFiles } from './shared.ts';

/** As a file system without links, such as exFAT. */
vi.mock('node:fs/promises', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs/promises')>()),
  link: () =>
    Promise.reject(Object.assign(new Error('operation not permitted'), { code: 'EPERM', syscall: 'link' })),
}));

const root = await mkdtemp(join(tmpdir(), 'salience-no-links-'));
afterAll(() => rm(root, { recursive: true, force: true }));

it('processes agree on who does what on a file system without links', async () => {
  const texts = sharedFiles(root);
  await texts.add('claim', 'a', 'one');
  await expect(texts.add('claim', 'a', 'two')).rejects.toMatchObject({ code: 'already_exists' });
  expect(await texts.get('claim', 'a')).toBe('one');
  expect(await texts.ids('claim')).toEqual(['a']);
  expect(await readdir(join(root, 'shared', 'claim'))).toHaveLength(1);
});
