import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { walkFiles } from './walk.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-walk-'));
  const files = [
    ...['root/b.md', 'root/a.md', 'root/B.MD', 'root/c.txt', 'root/deep/er/x.markdown', 'root/deep/a.md'],
    ...['root/node_modules/p/readme.md', 'root/deep/dist/out.md', 'root/.git/x.md', 'root/.hidden/x.md'],
    ...['root/.dot.md', 'root/md', 'outside/secret.md'],
  ];
  for (const file of files) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), 'text');
  }
  await symlink(join(directory, 'outside'), join(directory, 'root/link'));
  await symlink(join(directory, 'outside/secret.md'), join(directory, 'root/link.md'));
  await symlink(join(directory, 'root'), join(directory, 'root/deep/loop'));
  await symlink(join(directory, 'root'), join(directory, 'start'));
});
afterAll(() => rm(directory, { recursive: true }));

test('files by ending, sorted, without what tools made and what links lead to', async () => {
  const expected = ['.dot.md', 'B.MD', 'a.md', 'b.md', 'deep/a.md', 'deep/er/x.markdown'];
  const extensions = ['.md', '.markdown'];
  expect(await walkFiles(join(directory, 'root'), { extensions })).toEqual(expected);
  expect(await walkFiles(join(directory, 'start'), { extensions })).toEqual(expected);
  expect(await walkFiles(join(directory, 'root'), { extensions: ['.txt'] })).toEqual(['c.txt']);
});

test('links that are not followed are told where they lead to a folder or have a wanted name', async () => {
  const told = async (extensions: readonly string[]) => {
    const links: string[] = [];
    await walkFiles(join(directory, 'root'), { extensions, onLink: (path) => links.push(path) });
    return links.sort();
  };
  expect(await told(['.md'])).toEqual(['deep/loop', 'link', 'link.md']);
  expect(await told(['.txt'])).toEqual(['deep/loop', 'link']);
});

test('a folder that is none is a typed error, an abort ends the walk', async () => {
  for (const path of [join(directory, 'nowhere'), join(directory, 'root/a.md')]) {
    await expect(walkFiles(path, { extensions: ['.md'] })).rejects.toMatchObject({
      code: 'unreadable_file',
      details: { file: path },
    });
  }
  const signal = AbortSignal.abort();
  await expect(walkFiles(directory, { extensions: ['.md'], signal })).rejects.toMatchObject({
    code: 'aborted',
  });
});
