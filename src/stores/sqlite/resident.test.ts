import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { atOnce } from '../../domain/slices.ts';
import { openMemory } from '../../open.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { decodePages, placesOfParts } from '../../search/pages.ts';
import { createResidence } from '../../search/residence.ts';
import type { Link, SearchRequest, SpaceStore } from '../../store/store.ts';
import { insert, searchIn, start, use, write } from '../../testing/store-contract/harness.ts';
import { type Connection, connect } from './connection.ts';
import { indexRows } from './feed.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { loadPages, savedReflection, savePages } from './pages.ts';
import { createObservedSqliteStore } from './store.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-resident-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const request: SearchRequest = {
  profile: resolveProfile(builtinProfile('bm25')),
  query: { terms: ['content'] },
  filter: {},
  now: start,
  limit: 1000,
};
const ids = Array.from({ length: 300 }, (_, index) => `m${index}`);
const linkOf = (a: string, b: string): Link => ({ ids: [a, b], kind: 'stated', weight: 1, at: start });

async function savedParts(connection: Connection) {
  return loadPages(connection)?.load(
    () => {},
    placesOfParts().place,
    (parts) => parts,
  );
}

async function countsBySearch(space: SpaceStore): Promise<ReadonlyMap<string, number>> {
  const { hits } = await searchIn(space, request);
  return new Map(hits.map(({ memory, signals }) => [memory.id, signals.accessCount as number]));
}

/** A store with its connections: of each space opened, the one that writes and the one that reads. */
function observed() {
  const connections: Connection[] = [];
  const store = createObservedSqliteStore({ directory, synchronous: 'normal' }, (each) =>
    connections.push(each),
  );
  return { store, connections };
}

test('a use refreshes the rows it touched, and makes none; a link touches no row', async () => {
  const { store, connections } = observed();
  const space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id, tags: ['t'] }, [1, 0, 0])),
  );
  const reader = connections[1] as Connection;
  const residence = createResidence('alice');
  const refresh = () => residence.refresh(indexRows(() => reader));
  const before = await refresh();
  expect(before).toMatchObject({ position: { sequence: 300, usage: 0 } });
  await use(space, ['m1', 'm2'], () => ({ tier: 'cold', accessCount: 9 }));
  await write(space, [{ kind: 'link', link: linkOf('m1', 'm2') }], { verb: 'link' });
  const after = await refresh();
  expect(after.index).toBe(before.index);
  expect(after).toMatchObject({
    position: { sequence: 301, usage: 1 },
    index: { size: 300, dead: 0, vectors: 300 },
  });
  await use(space, ['m1'], () => ({ tier: 'stub' }));
  expect((await refresh()).index).toMatchObject({
    size: 301,
    dead: 1,
    vectors: 300,
    memoryCount: 299,
  });
  await use(space, ['m1'], () => ({ tier: 'hot' }));
  expect((await refresh()).index).toMatchObject({ size: 302, dead: 2, memoryCount: 300 });
  await store.close();
});

test('saved pages say which uses they reflect, and what came later is taken in', async () => {
  let { store, connections } = observed();
  let space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id })),
  );
  await use(space, ['m1', 'm2'], () => ({ accessCount: 1 }));
  await searchIn(space, request);
  await store.close();

  ({ store, connections } = observed());
  space = await store.openSpace('alice');
  const reader = connections[1] as Connection;
  expect(savedReflection(reader)).toEqual({ sequence: 300, usage: 1 });
  const saved = decodePages((await savedParts(reader)) ?? new Map());
  const column = saved?.columns.signals.accessCount;
  expect(column?.[saved?.rowOfKey.get(2) as number]).toBe(1);
  await use(space, ['m2', 'm3'], ({ accessCount }) => ({ accessCount: accessCount + 1 }));
  const counts = await countsBySearch(space);
  expect(['m0', 'm1', 'm2', 'm3'].map((id) => counts.get(id))).toEqual([0, 1, 2, 1]);
  await store.close();

  // Too little for new pages: the next process takes the one use in again.
  await using next = createSqliteStore({ directory });
  const again = await countsBySearch(await next.openSpace('alice'));
  expect(['m0', 'm1', 'm2', 'm3'].map((id) => again.get(id))).toEqual([0, 1, 2, 1]);
});

test('a long part is saved in pieces, which are written and read one by one, others going on in between', async () => {
  const { store, connections } = observed();
  await store.openSpace('alice');
  const writer = connections[0] as Connection;
  const parts = new Map([
    ['header', new Uint8Array(3).fill(1)],
    ['asks', Uint8Array.from({ length: 1_100_000 }, (_, at) => at % 251)],
    ['none', new Uint8Array(0)],
  ]);
  expect([...savePages(writer, parts, { sequence: 1, usage: 0 })]).toHaveLength(1 + 17 + 1);
  let pauses = 0;
  const asked: [string, number][] = [];
  const read = () =>
    loadPages(writer)?.load(
      () => void pauses++,
      (name, length) => {
        asked.push([name, length]);
        return new Uint8Array(length);
      },
      (parts) => parts,
    );
  // Byte by byte: a matcher would take seconds.
  const found = await read();
  expect([...found!].map(([name, bytes]) => Buffer.from(parts.get(name)!).equals(bytes))).toEqual([
    true,
    true,
    true,
  ]);
  expect(asked).toEqual([...parts].map(([name, { length }]) => [name, length]));
  expect(pauses).toBe(1 + 3 + 1);
  writer.run("DELETE FROM page WHERE part LIKE '% asks' AND number = 1");
  expect(await read()).toBeUndefined();
  await store.close();
});

test('pages that cannot be read are saved anew when the space is closed', async () => {
  const { store } = observed();
  const space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id })),
  );
  await store.close();
  const path = join(directory, fileNameOf('alice'));
  const saved = async () => {
    const connection = await connect(path, { readOnly: true, timeout: 1000 });
    const index = decodePages((await savedParts(connection)) ?? new Map());
    connection.close();
    return index?.size;
  };
  expect(await saved()).toBe(300);
  for (const damage of [
    `UPDATE page SET bytes = zeroblob(length(bytes)) WHERE part LIKE '% keys'`,
    // The layout of an older version, or of a later one.
    async (connection: Connection) => {
      const parts = new Map(await savedParts(connection));
      parts.set('header', new TextEncoder().encode('{"layout":1}'));
      atOnce(savePages(connection, parts, savedReflection(connection)!));
    },
  ]) {
    const connection = await connect(path, { readOnly: false, timeout: 1000 });
    if (typeof damage === 'string') connection.database.exec(damage);
    else await damage(connection);
    connection.close();
    expect(await saved()).toBeUndefined();
    await using next = createSqliteStore({ directory });
    expect((await countsBySearch(await next.openSpace('alice'))).size).toBe(300);
    await next.close();
    expect(await saved()).toBe(300);
  }
});

test('many uses alone are reason enough for new pages', async () => {
  const { store } = observed();
  const space = await store.openSpace('alice');
  await write(space, [insert({ id: 'a' })]);
  for (let round = 0; round < 256; round++) {
    await use(space, ['a'], ({ accessCount }) => ({ accessCount: accessCount + 1 }));
  }
  await store.close();
  const { store: next, connections } = observed();
  await next.openSpace('alice');
  expect(savedReflection(connections[1] as Connection)).toEqual({ sequence: 1, usage: 256 });
  await next.close();
});

test('forgetting drops the pages, with what they say about uses', async () => {
  const { store } = observed();
  const space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id })),
  );
  await use(space, ['m1'], () => ({ accessCount: 1 }));
  await store.close();
  const { store: next, connections } = observed();
  const again = await next.openSpace('alice');
  await write(again, [{ kind: 'redact', id: 'm1' }], { verb: 'forget' });
  expect(savedReflection(connections[1] as Connection)).toBeUndefined();
  expect((await countsBySearch(again)).size).toBe(299);
  await next.close();
});

test('pages are not used where it is damaged what they reflect, and check says how to mend it', async () => {
  let { store, connections } = observed();
  let space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id })),
  );
  await searchIn(space, request);
  await store.close();
  ({ store } = observed());
  space = await store.openSpace('alice');
  await write(space, [insert({ id: 'later' })]);
  await store.close();

  const connection = await connect(join(directory, fileNameOf('alice')), { readOnly: false, timeout: 0 });
  connection.database.exec("DROP TRIGGER meta_updated; UPDATE meta SET value = '301' WHERE key = 'snapshot'");
  connection.close();
  ({ store, connections } = observed());
  space = await store.openSpace('alice');
  expect(savedReflection(connections[1] as Connection)).toBeUndefined();
  expect((await countsBySearch(space)).size).toBe(301);
  expect(await space.check()).toEqual([
    '1 rows of meta are damaged, the first is snapshot: reindex the space',
  ]);
  await store.close();
});

/** Puts the rows of a backup in the place of a file's, as a restore through SQLite does: another process has it open. */
async function restoreInto(path: string, backup: string): Promise<void> {
  const connection = await connect(path, { readOnly: false, timeout: 1000 });
  connection.database.prepare('ATTACH ? AS saved').run(backup);
  const tables = connection.all(
    "SELECT name FROM space.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  ) as { name: string }[];
  const triggers = connection.all("SELECT name, sql FROM space.sqlite_schema WHERE type = 'trigger'") as {
    name: string;
    sql: string;
  }[];
  connection.database.exec('PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE');
  for (const { name } of triggers) connection.database.exec(`DROP TRIGGER space.${name}`);
  for (const { name } of tables) {
    connection.database.exec(
      `DELETE FROM space.${name}; INSERT INTO space.${name} SELECT * FROM saved.${name}`,
    );
  }
  for (const { sql } of triggers) {
    connection.database.exec(sql.replace(/CREATE TRIGGER /, 'CREATE TRIGGER space.'));
  }
  connection.database.exec('COMMIT');
  connection.close();
}

test.each([
  ['shorter', 0],
  ['as long', 1],
  ['longer', 2],
])('a backup restored under an open space is noticed when its log is %s', async (_, written) => {
  await using memory = await openMemory({
    path: directory,
    space: 'alice',
    embedder: 'none',
    synchronous: 'normal',
  });
  await memory.remember('Tea is in the kitchen', { id: 'tea' });
  const backup = join(directory, 'alice.backup');
  await memory.backup(backup);
  await memory.remember('Tea is in the garden', { id: 'gone' });
  const found = async () => {
    const { hits, trace } = await memory.recall('tea', { track: false });
    return [hits.map((hit) => hit.memory.id).toSorted(), trace.indexRebuilt];
  };
  expect(await found()).toEqual([['gone', 'tea'], undefined]);
  await restoreInto(join(directory, fileNameOf('alice')), backup);
  await using other = await openMemory({
    path: directory,
    space: 'alice',
    embedder: 'none',
    synchronous: 'normal',
  });
  const fresh = Array.from({ length: written }, (_, at) => `new${at}`);
  for (const id of fresh) await other.remember(`Tea is in the ${id} shelf`, { id });
  expect(await found()).toEqual([[...fresh, 'tea'].toSorted(), true]);
  expect(await found()).toEqual([[...fresh, 'tea'].toSorted(), undefined]);
});

test('forgetting all that the last use returned leaves the index as it is', async () => {
  const { store } = observed();
  const memory = await openMemory({ store, space: 'alice', embedder: 'none' });
  await memory.remember('Prefers tea', { id: 'a' });
  expect((await memory.recall('tea', { strategy: 'retention' })).hits).toHaveLength(1);
  await memory.remember('Prefers coffee', { id: 'b' });
  await memory.recall('coffee', { strategy: 'bm25', track: false });
  await memory.forget('a');
  const { hits, trace } = await memory.recall('prefers', { strategy: 'bm25', track: false });
  expect(hits.map((hit) => hit.memory.id)).toEqual(['b']);
  expect(trace.indexRebuilt).toBeUndefined();
  await store.close();
});

test('the number of a forgotten word finds nothing by that word once another word has it', async () => {
  const options = { path: directory, space: 'alice', embedder: 'none' } as const;
  const memory = await openMemory(options);
  await memory.remember('alpha', { id: 'a' });
  await memory.remember('zeta', { id: 'z' });
  // As another process would have it: with an index of its own.
  const other = await openMemory({ ...options, store: createObservedSqliteStore({ directory }, () => {}) });
  const idsOf = async (engine: typeof memory, query: string) =>
    (await engine.recall(query, { track: false })).hits.map((hit) => hit.memory.id);
  for (const engine of [memory, other]) expect(await idsOf(engine, 'zeta')).toEqual(['z']);
  await memory.forget('z');
  await memory.remember('omega', { id: 'o' });
  for (const engine of [memory, other]) {
    expect(await idsOf(engine, 'omega')).toEqual(['o']);
    expect(await idsOf(engine, 'zeta')).toEqual([]);
  }
  await other.close();
  await memory.close();
});

test('changing a hit does not change the next answer', async () => {
  const memory = await openMemory({ path: directory, space: 'alice' });
  await memory.remember('The tea is green', { tags: ['drink'], metadata: { shelf: { number: 3 } } });
  const first = (await memory.recall('tea')).hits[0]!.memory as unknown as {
    tags: string[];
    sessions: string[];
    metadata: { shelf: { number: number } };
  };
  first.tags.push('changed');
  first.sessions.push('changed');
  first.metadata.shelf.number = 4;
  const second = (await memory.recall('tea')).hits[0]!.memory;
  expect([second.tags, second.sessions, second.metadata]).toEqual([['drink'], [], { shelf: { number: 3 } }]);
  await memory.close();
});
