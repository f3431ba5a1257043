import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { filesIn } from '../../../test/store/stored.ts';
import { openMemory } from '../../index.ts';
import type { SpaceStore } from '../../store/store.ts';
import { sampleIndexed } from '../../testing/sample-memory.ts';
import { expectCode, insert, replace, start, use, write } from '../../testing/store-contract/harness.ts';
import { connect } from './connection.ts';
import { loadDriver } from './driver.ts';
import { createSqliteStore } from './index.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-forget-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Which of the words are anywhere in the directory, in UTF-8 or either UTF-16, in any of three cases. */
function wordsOnDisk(words: readonly string[]): readonly string[] {
  const files = filesIn(directory);
  return words.filter((word) =>
    [word, word.toLowerCase(), word.toUpperCase()].some((text) => {
      const little = Buffer.from(text, 'utf16le');
      const needles = [Buffer.from(text, 'utf8'), little, Buffer.from(little).swap16()];
      return files.some((file) => needles.some((needle) => file.includes(needle)));
    }),
  );
}

const forget = (space: SpaceStore, id: string) => write(space, [{ kind: 'redact', id }], { verb: 'forget' });

test('what is forgotten is nowhere in the directory, before and after opening again', async () => {
  const words = [
    'Quixotry',
    'Zugzwang',
    'Yggdrasil',
    'Wobbegong',
    'Vexillum',
    'Ümläut',
    'Tmesisword',
    'Syzygyword',
  ];
  const [title, content, tag, key, value, later, laterStill, again] = words as [string, ...string[]] &
    string[];
  const kept = ['Haruspex', 'Jackdaw'];
  let store = createSqliteStore({ directory });
  let space = await store.openSpace('alice');
  await write(space, [
    insert({ id: 'kept', content: `${kept[0]} stays` }),
    insert(
      {
        id: 'a',
        title: title as string,
        content: `${content} `.repeat(3000),
        tags: [tag as string],
        metadata: { [key as string]: { deep: [value as string] } },
      },
      [1, 0, 0],
    ),
  ]);
  await write(space, [replace({ id: 'a', content: later as string }, [0, 1, 0])], { verb: 'update' });
  await write(space, [replace({ id: 'a', content: laterStill as string })], { verb: 'update' });
  await write(space, [{ kind: 'remove', id: 'a' }], { verb: 'undo' });
  await write(space, [insert({ id: 'a', content: again as string })]);
  await write(space, [insert({ id: 'kept-2', content: `${kept[1]} stays` })]);
  expect(wordsOnDisk([...words, ...kept])).toEqual([...words, ...kept]);

  await forget(space, 'a');
  expect(wordsOnDisk([...words, ...kept])).toEqual(kept);
  await write(space, [insert({ id: 'b', content: 'after' })]);
  await store.close();
  expect(wordsOnDisk(words)).toEqual([]);

  store = createSqliteStore({ directory });
  space = await store.openSpace('alice');
  await space.reindex({
    analyzer: 'simple-1',
    embedding: undefined,
    derive: async (memories) => memories.map((memory) => sampleIndexed(memory)),
  });
  expect(await space.check()).toEqual([]);
  expect((await space.history('a')).every((event) => event.redacted)).toBe(true);
  await store.close();
  expect(wordsOnDisk([...words, ...kept])).toEqual(kept);
});

test('the id of what is forgotten leaves links and the usage log, and their bytes', async () => {
  const store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'kept' }), insert({ id: 'Quixotry', content: 'x', sessionId: 's' })]);
  const link = { ids: ['Quixotry', 'kept'], kind: 'stated', weight: 1, at: start } as const;
  await write(space, [{ kind: 'link', link }], { verb: 'link' });
  await use(space, ['Quixotry', 'kept']);
  const mentions = async () => {
    const connection = await connect((await space.info()).path as string, { readOnly: true, timeout: 0 });
    const found = connection.get(
      "SELECT (SELECT count(*) FROM usage WHERE used LIKE '%Quixotry%') AS used, (SELECT count(*) FROM event WHERE link LIKE '%Quixotry%') AS linked, (SELECT count(*) FROM link) AS links",
    );
    connection.close();
    return found;
  };
  expect(await mentions()).toEqual({ used: 1, linked: 1, links: 1 });
  await forget(space, 'Quixotry');
  expect(await mentions()).toEqual({ used: 0, linked: 0, links: 0 });
  expect((await space.usage())[0]?.used).toEqual([{ id: 'kept', direct: true }]);
  expect(await space.check()).toEqual([]);
  await store.close();
});

test('copies that splitting pages leaves behind are erased too', async () => {
  const store = createSqliteStore({ directory, synchronous: 'normal' });
  const space = await store.openSpace('alice');
  // Words in no order, so that the pages of the index over terms are split all over.
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);
  const ids = Array.from({ length: 1500 }, (_, index) => hash(`id ${index}`));
  const words = (id: string, version: number, length: number) =>
    Array.from({ length }, (_, index) => hash(`${id} ${version} ${index}`));
  const contents = new Map<string, readonly string[]>();
  const made = (id: string, version: number, length: number) => {
    const list = words(id, version, length);
    contents.set(id, [...(contents.get(id) ?? []), ...list]);
    return { id, content: list.join(' ') };
  };
  for (let from = 0; from < ids.length; from += 150) {
    const batch = ids.slice(from, from + 150);
    const inserts = batch.map((id, index) => insert(made(id, 1, 3 + ((index * 7) % 29))));
    await write(space, inserts);
    const replaces = batch.slice(50).map((id, index) => replace(made(id, 2, 3 + ((index * 11) % 31))));
    await write(space, replaces);
  }
  const forgotten = ids.filter((_, index) => index % 3 === 0);
  for (let from = 0; from < forgotten.length; from += 100) {
    const changes = forgotten.slice(from, from + 100).map((id) => ({ kind: 'redact', id }) as const);
    await write(space, changes, { verb: 'forget' });
  }
  const text = Buffer.concat(filesIn(directory)).toString('latin1');
  const onDisk = new Set(Array.from(text.matchAll(/(?=([0-9a-f]{16}))/g), ([, word]) => word));
  const found = (list: readonly string[]) =>
    list.flatMap((id) => contents.get(id) ?? []).filter((word) => onDisk.has(word));
  expect(found(forgotten)).toEqual([]);
  expect(found(ids.slice(1, 2)).length).toBeGreaterThan(2);
  await store.close();
});

test('while another process reads, forgetting says that the log still holds the bytes, and ends it later', async () => {
  const store = createSqliteStore({ directory, busyTimeout: 100 });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'a', content: 'Quixotry' }), insert({ id: 'b' })]);
  const { path } = await space.info();
  const { DatabaseSync } = await loadDriver();
  const reader = new DatabaseSync(path as string, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM memory');

  const error = await expectCode(forget(space, 'a'), 'store_busy');
  expect(error.message).toContain('run forget again');
  expect(await space.get(['a'])).toEqual([undefined]);
  expect(wordsOnDisk(['Quixotry'])).toEqual(['Quixotry']);
  expect(await space.check()).toEqual([expect.stringContaining('are not erased yet')]);

  reader.exec('COMMIT');
  reader.close();
  await forget(space, 'a');
  expect(wordsOnDisk(['Quixotry'])).toEqual([]);
  expect(await space.check()).toEqual([]);
  await store.close();
});

test('while bytes wait to be erased, others are forgotten too, and forgetting again erases all', async () => {
  const store = createSqliteStore({ directory, busyTimeout: 50 });
  await using memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  await memory.rememberMany([
    { id: 'a', content: 'Quixotry' },
    { id: 'b', content: 'Zugzwang' },
  ]);
  const { DatabaseSync } = await loadDriver();
  const reader = new DatabaseSync((await memory.stats()).path as string, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM memory');
  for (const id of ['a', 'b', 'b']) {
    await expect(memory.forget(id)).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining('this is forgotten and no recall finds it'),
      details: { written: true, erased: false },
    });
    expect(await memory.get(id)).toBeUndefined();
  }
  await expect(memory.forget(['a', 'never'])).rejects.toMatchObject({ code: 'store_busy' });
  await expect(memory.forget('never')).rejects.toMatchObject({ code: 'not_found' });
  reader.exec('COMMIT');
  reader.close();
  expect(wordsOnDisk(['Quixotry', 'Zugzwang'])).toEqual(['Quixotry', 'Zugzwang']);
  await expect(memory.forget('a')).rejects.toMatchObject({ code: 'not_found' });
  expect(wordsOnDisk(['Quixotry', 'Zugzwang'])).toEqual([]);
  expect(await memory.check()).toEqual([]);
});

test('an erasure that was interrupted is ended when the space is opened next', async () => {
  const store = createSqliteStore({ directory, busyTimeout: 50 });
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'a', content: 'Quixotry' })], { at: start });
  const { DatabaseSync } = await loadDriver();
  const reader = new DatabaseSync((await space.info()).path as string, { readOnly: true });
  reader.exec('BEGIN; SELECT count(*) FROM memory');
  await expectCode(forget(space, 'a'), 'store_busy');
  await store.close();
  reader.exec('COMMIT');
  reader.close();
  expect(wordsOnDisk(['Quixotry'])).toEqual(['Quixotry']);

  const next = createSqliteStore({ directory });
  expect(await (await next.openSpace('alice')).check()).toEqual([]);
  expect(wordsOnDisk(['Quixotry'])).toEqual([]);
  await next.close();
});
