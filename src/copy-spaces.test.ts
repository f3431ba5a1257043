import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copySpaces, type SpaceCopy } from './copy-spaces.ts';
import { openMemory } from './open.ts';
import { connect } from './stores/sqlite/connection.ts';
import { fileNameOf } from './stores/sqlite/files.ts';
import { createSqliteStore } from './stores/sqlite/index.ts';

let from: string;
let to: string;
beforeEach(async () => {
  from = await mkdtemp(join(tmpdir(), 'salience-copied-from-'));
  to = await mkdtemp(join(tmpdir(), 'salience-copied-to-'));
  for (const space of ['a', 'b', 'c']) await remember(from, space);
});
afterEach(async () => {
  for (const each of [from, to]) await rm(each, { recursive: true, force: true });
});

async function remember(path: string, space: string): Promise<void> {
  await using memory = await openMemory({ path, space, embedder: 'none' });
  await memory.remember(`The space ${space}`);
}

async function spacesOf(directory: string): Promise<readonly string[]> {
  await using store = createSqliteStore({ directory });
  return store.listSpaces();
}

it('spaces of which one exists already are all refused, and the others named', async () => {
  await remember(to, 'b');
  await expect(copySpaces({ from, to })).rejects.toMatchObject({
    code: 'already_exists',
    message:
      'nothing was copied: the store to copy to has "b" already, and a copy overwrites nothing; to copy only the others, name them: "a", "c"',
    details: { spaces: ['b'], left: ['a', 'c'] },
  });
  expect(await spacesOf(to)).toEqual(['b']);
  await copySpaces({ from, to, spaces: ['a', 'c'] });
  expect(await spacesOf(to)).toEqual(['a', 'b', 'c']);
  await expect(copySpaces({ from, to })).rejects.toMatchObject({
    message: expect.stringMatching(/delete them there first .* or copy into another store$/),
    details: { left: [] },
  });
});

it('a copy that fails at a later space says what is complete, and what is left', async () => {
  const complete: SpaceCopy[] = [];
  const interruption = new AbortController();
  const copy = copySpaces({
    from,
    to,
    signal: interruption.signal,
    progress: (space) => space === 'b' && interruption.abort(),
    copied: (each) => complete.push(each),
  });
  await expect(copy).rejects.toMatchObject({
    code: 'aborted',
    message: expect.stringMatching(
      /^the copy of space "b" was interrupted\. .* The spaces before it are complete\. Not copied: "b", "c"$/,
    ),
    details: { left: ['b', 'c'] },
  });
  expect(complete).toMatchObject([{ space: 'a', rows: { memory: 1 } }]);
  expect(await spacesOf(to)).toEqual(['a']);
  const rest = await copySpaces({ from, to, spaces: ['b', 'c'] });
  expect(rest.map(({ space }) => space)).toEqual(['b', 'c']);
});

it.each([
  ['rows are gone', 'DELETE FROM event', undefined],
  ['a page cannot be read', '', 'sqlite_sequence'],
])('a space in which %s is not copied, since a copy would hide it', async (_, sql, table) => {
  const path = join(from, fileNameOf('a'));
  const connection = await connect(path, { readOnly: false, timeout: 0 });
  connection.database.exec(sql);
  const root = connection.get('SELECT rootpage AS page FROM space.sqlite_schema WHERE name = ?', table ?? '');
  connection.close();
  if (root) {
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(4096), 0, 4096, ((root as { page: number }).page - 1) * 4096);
    await file.close();
  }
  await expect(copySpaces({ from, to, spaces: ['a'] })).rejects.toMatchObject({
    code: 'store_corrupt',
    message: expect.stringContaining(path),
    details: { path },
  });
  expect(await spacesOf(to)).toEqual([]);
});

it('a space that is named twice is copied once', async () => {
  expect(await copySpaces({ from, to, spaces: ['a', 'a'] })).toMatchObject([{ space: 'a' }]);
});
