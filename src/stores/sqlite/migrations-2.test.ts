import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseMetadataFilter } from '../../domain/metadata-condition.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { stubContent } from '../../store/tiers.ts';
import { sampleIndexed, sampleMemory, unitVector } from '../../testing/sample-memory.ts';
import { model, searchIn, start, use, write } from '../../testing/store-contract/harness.ts';
import { loadDriver } from './driver.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { initial } from './migrations/0001-initial.ts';
import { living } from './migrations/0002-living.ts';
import { toVectorBytes } from './rows.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';
import { encodeTermVector } from './term-vector.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-migrations-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const { DatabaseSync } = await loadDriver();

const ids = ['a', 'b', 'c', 'd'] as const;

/** What a memory was in version 2, as a row; everything else in it is NULL. */
const row2 = (id: (typeof ids)[number]) => ({
  id,
  scope: 'global',
  type: 'fact',
  content: 'green tea',
  tags: '[]',
  metadata: id === 'a' ? '{"status":"open","n":[1],"deep":{"x":1}}' : '{}',
  topic_key: id === 'a' ? 'drink' : null,
  session_id: id < 'c' ? 's' : null,
  created_at: start + ids.indexOf(id),
  updated_at: start + 9 - ids.indexOf(id),
  importance: 0.5,
  importance_judge: 'default',
  confidence: 0.8,
  usefulness: 0.5,
  weight: 1,
  stability: 0.25,
  access_count: 1,
  sessions: '[]',
  revision_count: 2,
  tier: 'hot',
  core: 0,
  // One at most, and it need not be there.
  supersedes: id === 'b' ? 'a' : id === 'd' ? 'long gone' : null,
  source: 'stated',
  compared: 1,
});

/** A file as version 2 left it: superseded, compared, used and linked memories, with their logs. */
function makeVersion2(space: string): void {
  const database = new DatabaseSync(join(directory, fileNameOf(space)));
  database.exec(initial.sql);
  database.exec(living.sql);
  database.exec(
    `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 2; PRAGMA journal_mode = WAL`,
  );
  const insert = (table: string, row: Readonly<Record<string, string | number | null | Uint8Array>>) => {
    const names = Object.keys(row);
    database
      .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  };
  const meta = { space, embedding_model: model.model, embedding_dimensions: '3', analyzer: 'simple-1' };
  for (const [key, value] of Object.entries(meta)) insert('meta', { key, value });
  insert('term', { id: 1, text: 'green' });
  insert('term', { id: 2, text: 'tea' });
  const event = { operation: 1, at: start, verb: 'remember', redacted: 0, undoes: null };
  for (const [at, id] of ids.entries()) {
    insert('memory', row2(id));
    insert('vector', { row: at + 1, bytes: toVectorBytes(unitVector([1, at, 0])) });
    insert('term_vector', {
      row: at + 1,
      bytes: encodeTermVector([
        [1, 1],
        [2, 1],
      ]),
    });
    insert('event', { ...event, memory_row: at + 1, memory_id: id, before: null });
  }
  const {
    invalidReason: _,
    supersedes: __,
    ordinal: ___,
    derivedFrom: ____,
    ...before
  } = sampleMemory({ id: 'b', content: 'old tea' });
  insert('event', {
    ...event,
    operation: 5,
    at: start + 5,
    verb: 'update',
    memory_row: 2,
    memory_id: 'b',
    before: JSON.stringify({ ...before, supersedes: 'a' }),
  });
  insert('link', { a_row: 1, b_row: 3, kind: 'stated', weight: 0.8, at: start });
  insert('similar_pair', { sequence: 3, a_row: 1, b_row: 2, similarity: 0.9, at: start + 1, settled: 1 });
  insert('similar_pair', { sequence: 5, a_row: 3, b_row: 4, similarity: 0.8, at: start + 2, settled: 0 });
  insert('usage', {
    at: start + 7,
    strategy: 'retention',
    effect: 'reinforce',
    query_hash: 'h',
    session_id: 's',
    used: '[{"id":"a","direct":true}]',
  });
  database.close();
}

const profile = resolveProfile(builtinProfile('bm25'));
const query = { terms: ['tea'] };

test('a file of version 2 opens with everything that was in it, and lives on', async () => {
  makeVersion2('alice');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  expect(await space.check()).toEqual([]);
  expect(await space.info()).toMatchObject({
    memories: 4,
    vectors: 4,
    events: 5,
    sequence: 5,
    links: 1,
    pendingPairs: 1,
    schemaVersion: SCHEMA_VERSION,
  });
  const [a, b, c, d] = await space.get(ids);
  expect(a).toStrictEqual(
    sampleMemory({
      id: 'a',
      ordinal: 1,
      content: 'green tea',
      metadata: { status: 'open', n: [1], deep: { x: 1 } },
      topicKey: 'drink',
      sessionId: 's',
      updatedAt: start + 9,
      accessCount: 1,
      revisionCount: 2,
      stability: 0.25,
    }),
  );
  expect([b, c, d].map((each) => each?.supersedes)).toEqual([['a'], [], ['long gone']]);
  expect((await space.history('b')).map(({ before }) => before?.supersedes)).toEqual([undefined, ['a']]);
  expect((await space.history('b'))[1]?.before).toStrictEqual(
    sampleMemory({ id: 'b', ordinal: 2, content: 'old tea', supersedes: ['a'] }),
  );
  expect((await space.usage()).map(({ after, before, used }) => [after, before, used.length])).toEqual([
    [0, undefined, 1],
  ]);

  // What supersedes what, waits to be judged, and is said in metadata is seen from the first search on.
  const search = (filter = {}) => searchIn(space, { profile, query, filter, now: start + 100, limit: 9 });
  const { hits } = await search();
  expect(hits.map(({ memory }) => memory.id).toSorted()).toEqual(['b', 'c', 'd']);
  // Of two the one that was updated last is the newer.
  // Nobody looked for updates then: similar is not yet a conflict.
  expect(hits.find(({ memory }) => memory.id === 'd')?.signals.conflict).toBe(0);
  const open = await search({ deep: true, metadata: parseMetadataFilter({ status: 'open' }) });
  expect(open.hits.map(({ memory }) => memory.id)).toEqual(['a']);
  expect((await space.pendingPairs(9)).map(({ older, newer, at }) => [older, newer, at])).toEqual([
    ['d', 'c', start + 2],
  ]);
  expect(await space.knownPairs(['a'])).toMatchObject([{ older: 'b', newer: 'a', resolution: 'settled' }]);
  expect(await space.uncompared(9)).toEqual([]);
  for (const [by, value, found] of [
    ['content', ' green  tea', ids],
    ['topicKey', 'drink', ['a']],
    ['sessionId', 's', ['a', 'b']],
    ['supersedes', 'long gone', ['d']],
  ] as const) {
    expect((await space.find(by, [value])).map(({ id }) => id)).toEqual(found);
  }
  expect(await space.session()).toBeUndefined();
  expect(await space.tombstones([{ scope: 'global', content: 'green tea' }])).toEqual([undefined]);
});

test('a file of version 2 can be looked back into, as far as it was written down', async () => {
  makeVersion2('alice');
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  const derive = async (memories: readonly Parameters<typeof sampleIndexed>[0][]) =>
    memories.map((memory) => sampleIndexed(memory, [0, 0, 1]));
  const early = await space.asKnown(start + 4, derive);
  expect((await early.get(['b']))[0]).toMatchObject({ content: 'old tea', supersedes: ['a'] });
  // What uses did before this version is not known: it is as it is now.
  expect((await early.get(['a']))[0]?.accessCount).toBe(1);
  await use(space, ['a'], () => ({ accessCount: 2 }), { at: start + 20 });
  await write(space, [{ kind: 'remove', id: 'b' }], { at: start + 21 });
  const between = await space.asKnown(start + 19, derive);
  expect(await between.get(['a', 'b'])).toMatchObject([{ accessCount: 1 }, { content: 'green tea' }]);
  const search = (of: typeof space) =>
    searchIn(of, { profile, query, filter: {}, now: start + 100, limit: 9 });
  const found = async (of: typeof space) => (await search(of)).hits.map(({ memory }) => memory.id).toSorted();
  expect(await found(between)).toEqual(['b', 'c', 'd']);
  expect(await found(space)).toEqual(['a', 'c', 'd']);
  expect(await space.check()).toEqual([]);
});

test('equal statements of an old file are found by their normalised text, stubs by their full text', async () => {
  makeVersion2('alice');
  const full = `Saw a heron ${'and watched it for a while '.repeat(20)}`;
  const database = new DatabaseSync(join(directory, fileNameOf('alice')));
  database.prepare("UPDATE memory SET tier = 'stub', content = ? WHERE id = 'c'").run(stubContent(full));
  database.prepare("UPDATE memory SET content = ' Zoe\u0308  sings' WHERE id = 'd'").run();
  database
    .prepare(
      `INSERT INTO event (sequence, operation, at, verb, memory_row, memory_id, before, redacted)
       VALUES (6, 6, ?, 'maintain', 3, 'c', ?, 0)`,
    )
    .run(start + 8, JSON.stringify({ ...sampleMemory({ id: 'c', content: full }), tier: 'cold' }));
  database.close();
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  expect((await space.find('content', [full])).map(({ id }) => id)).toEqual(['c']);
  expect((await space.find('content', ['Zoë sings'])).map(({ id }) => id)).toEqual(['d']);
  expect((await space.find('content', ['green tea'])).map(({ id }) => id)).toEqual(['a', 'b']);
  expect(await space.check()).toEqual([]);
});
