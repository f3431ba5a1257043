import { type FileHandle, mkdtemp, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { giveName } from '../../domain/give-name.ts';
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

it('a copy that takes the place of a link is on disk too', async () => {
  const [made, path] = [join(root, 'made'), join(root, 'given')];
  await writeFile(made, 'whole');
  await using file = await open(made, 'r');
  const prototype = Object.getPrototypeOf(file) as FileHandle;
  const { sync } = prototype;
  const waitedFor: number[] = [];
  using _ = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    await sync.call(this);
    waitedFor.push((await this.stat()).ino);
  });
  await giveName(made, path);
  expect(waitedFor).toContain((await stat(path)).ino);
});
