import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSqliteStore } from './index.ts';
import { sharedFiles, sharedInMemory } from './shared.ts';

const root = await mkdtemp(join(tmpdir(), 'salience-shared-'));
afterAll(() => rm(root, { recursive: true, force: true }));

describe.each([
  ['in files', () => sharedFiles(join(root, 'texts'))],
  ['in memory', sharedInMemory],
])('shared texts %s', (_, make) => {
  it('keep one text under an id, and forget it', async () => {
    const texts = make();
    expect([await texts.get('token', 'a'), await texts.ids('token')]).toEqual([undefined, []]);
    await texts.add('token', 'a', 'one');
    await texts.add('claim', 'a', 'other');
    await expect(texts.add('token', 'a', 'two')).rejects.toMatchObject({ code: 'already_exists' });
    expect([await texts.get('token', 'a'), await texts.get('claim', 'a')]).toEqual(['one', 'other']);
    await texts.put('token', 'a', 'three');
    await texts.put('token', 'b', 'four');
    expect([await texts.get('token', 'a'), await texts.get('token', 'b')]).toEqual(['three', 'four']);
    await texts.remove('token', 'b');
    expect([await texts.remove('token', 'a'), await texts.remove('token', 'a')]).toEqual([true, false]);
    expect([await texts.ids('token'), await texts.ids('claim')]).toEqual([[], ['a']]);
  });

  it('take any id', async () => {
    const texts = make();
    const ids = ['', '../../etc/passwd', 'x'.repeat(5000), 'a/b', '\u{1f600}', 'CON'];
    for (const id of ids) await texts.add('any', id, id);
    expect(await Promise.all(ids.map((id) => texts.get('any', id)))).toEqual(ids);
    expect((await texts.ids('any')).toSorted()).toEqual(ids.toSorted());
  });

  it('give an id to one of many who add it at once', async () => {
    const texts = make();
    const added = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) => texts.add('race', 'a', `${at}`)),
    );
    const won = added.findIndex(({ status }) => status === 'fulfilled');
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await texts.get('race', 'a')).toBe(`${won}`);
  });
});

it('a store has them, and they are no spaces', async () => {
  const directory = join(root, 'store');
  await using store = createSqliteStore({ directory });
  await store.shared?.add('claim', 'a', 'text');
  expect(await store.listSpaces()).toEqual([]);
  expect(await readdir(join(directory, 'shared', 'claim'))).toHaveLength(1);
});

it('a file that a power cut left empty keeps nobody from the others, and is named to whoever asks for it', async () => {
  const directory = join(root, 'damaged');
  const texts = sharedFiles(directory);
  await texts.add('token', 'a', 'one');
  await texts.add('token', 'b', 'two');
  const folder = join(directory, 'shared', 'token');
  for (const file of await readdir(folder)) {
    const path = join(folder, file);
    if ((await readFile(path, 'utf8')).includes('"a"')) await writeFile(path, '');
  }
  expect(await texts.ids('token')).toEqual(['b']);
  await expect(texts.get('token', 'a')).rejects.toMatchObject({ code: 'store_corrupt' });
  await texts.put('token', 'a', 'three');
  expect(await texts.get('token', 'a')).toBe('three');
});

it('where they cannot be kept, that is an error of the store', async () => {
  const directory = join(root, 'no-folder');
  await mkdir(directory);
  await writeFile(join(directory, 'shared'), 'a file');
  const texts = sharedFiles(directory);
  const failed = { code: 'store_failed', name: 'SalienceError' };
  await expect(texts.add('token', 'a', 'one')).rejects.toMatchObject(failed);
  await expect(texts.get('token', 'a')).rejects.toMatchObject(failed);
  await expect(texts.ids('token')).rejects.toMatchObject(failed);
  await expect(texts.remove('token', 'a')).rejects.toMatchObject(failed);
});
