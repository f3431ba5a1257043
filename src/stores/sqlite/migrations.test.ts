import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MemoryRecord } from '../../domain/memory.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { sampleMemory, unitVector } from '../../testing/sample-memory.ts';
import { expectCode, model, searchIn, start, use, write } from '../../testing/store-contract/harness.ts';
import { loadDriver } from './driver.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { initial } from './migrations/0001-initial.ts';
import { toVectorBytes } from './rows.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';
import { encodeTermVector } from './term-vector.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-migrations-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const { DatabaseSync } = await loadDriver();

/** The columns of version 1 for a memory; everything else in them is NULL. */
const columns1 = {
  scope: 'global',
  type: 'fact',
  tags: '["x"]',
  metadata: '{"a":1}',
  session_id: 's',
  importance: 0.5,
  importance_judge: 'default',
  confidence: 0.8,
  usefulness: 0.5,
  weight: 1,
  stability: 0.25,
  access_count: 2,
  sessions: '["s"]',
  revision_count: 2,
  core: 0,
  source: 'stated',
};

/** A memory as the log of a version before 4 had it. */
function without4({ importanceSource, ...memory }: MemoryRecord): object {
  return {
    ...memory,
    importanceJudge: importanceSource,
    ordinal: undefined,
    bornIn: undefined,
    derivedFrom: undefined,
  };
}

/** A file as the first version left it: two memories of one session, the first of them changed once. */
function makeVersion1(space: string): void {
  const database = new DatabaseSync(join(directory, fileNameOf(space)));
  database.exec(initial.sql);
  database.exec(
    `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 1; PRAGMA journal_mode = WAL`,
  );
  const insert = (table: string, row: Readonly<Record<string, string | number | null | Uint8Array>>) => {
    const names = Object.keys(row);
    database
      .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
  };
  for (const [key, value] of Object.entries({
    space,
    embedding_model: model.model,
    embedding_dimensions: '3',
    analyzer: 'simple-1',
  })) {
    insert('meta', { key, value });
  }
  insert('term', { id: 1, text: 'green' });
  insert('term', { id: 2, text: 'tea' });
  for (const [at, id] of ['a', 'b'].entries()) {
    const created = start + at;
    insert('memory', {
      ...columns1,
      id,
      content: 'green tea',
      tier: id === 'a' ? 'hot' : 'cold',
      created_at: created,
      updated_at: created + 5,
    });
    insert('vector', { row: at + 1, bytes: toVectorBytes(unitVector([1, at, 0])) });
    insert('term_vector', {
      row: at + 1,
      bytes: encodeTermVector([
        [1, 1],
        [2, 1],
      ]),
    });
    insert('event', {
      operation: 1,
      at: start,
      verb: 'remember',
      memory_row: at + 1,
      memory_id: id,
      before: null,
      redacted: 0,
      undoes: null,
    });
  }
  const before = without4(
    sampleMemory({ id: 'a', content: 'old tea', sessionId: 's', importanceSource: 'caller' }),
  );
  insert('event', {
    operation: 3,
    at: start + 5,
    verb: 'update',
    memory_row: 1,
    memory_id: 'a',
    before: JSON.stringify({ ...before, coldSince: undefined, consolidatedAt: undefined }),
    redacted: 0,
    undoes: null,
  });
  database.close();
}

test('a file of version 1 opens with everything that was in it, and lives on', async () => {
  makeVersion1('alice');
  await using store = createSqliteStore({ directory });
  await expectCode(store.openSpace('alice', { readOnly: true }), 'store_read_only');
  const space = await store.openSpace('alice');
  expect(await space.check()).toEqual([]);
  expect(await space.info()).toMatchObject({
    memories: 2,
    vectors: 2,
    terms: 2,
    events: 3,
    sequence: 3,
    embedding: model,
    analyzer: 'simple-1',
    schemaVersion: SCHEMA_VERSION,
  });
  const kept = {
    content: 'green tea',
    tags: ['x'],
    metadata: { a: 1 },
    sessionId: 's',
    stability: 0.25,
    accessCount: 2,
    sessions: ['s'],
    revisionCount: 2,
  };
  expect(await space.get(['a', 'b'])).toStrictEqual([
    sampleMemory({ ...kept, id: 'a', ordinal: 1, createdAt: start, updatedAt: start + 5 }),
    sampleMemory({ ...kept, id: 'b', ordinal: 2, createdAt: start + 1, updatedAt: start + 6, tier: 'cold' }),
  ]);
  const history = await space.history('a');
  expect(history.map(({ verb, link }) => [verb, link])).toEqual([
    ['remember', undefined],
    ['update', undefined],
  ]);
  expect(history[1]?.before).toStrictEqual(
    sampleMemory({ id: 'a', ordinal: 1, content: 'old tea', sessionId: 's', importanceSource: 'caller' }),
  );
  expect((await space.operation(3)).map(({ sequence }) => sequence)).toEqual([3]);
  expect(await space.usage()).toEqual([]);
  const sequence = { ids: ['a', 'b'], kind: 'sequence', weight: 0.5, at: start + 1 } as const;
  expect(await space.links(['b'])).toStrictEqual([sequence]);

  const profile = resolveProfile(builtinProfile('hybrid'));
  const query = { terms: ['green', 'tea'], vector: unitVector([1, 0, 0]) };
  const search = () => searchIn(space, { profile, query, filter: {}, now: start, limit: 5 });
  const [hit] = (await search()).hits;
  expect(hit).toMatchObject({ memory: { id: 'a' }, signals: { similarity: 1 } });
  const stated = { ids: ['a', 'b'], kind: 'stated', weight: 1, at: start } as const;
  await write(space, [{ kind: 'link', link: stated }], { verb: 'link' });
  await use(space, ['b'], () => ({ tier: 'hot' }));
  expect(await space.links(['a'])).toStrictEqual([sequence, stated]);
  expect((await search()).hits.map(({ memory }) => memory.id)).toEqual(['a', 'b']);
  expect(await space.check()).toEqual([]);
});

test('two processes may find an old file at once', async () => {
  makeVersion1('alice');
  const stores = Array.from({ length: 4 }, () => createSqliteStore({ directory }));
  const spaces = await Promise.all(stores.map((store) => store.openSpace('alice')));
  await Promise.all(
    spaces.map((space) => use(space, ['a'], ({ accessCount }) => ({ accessCount: accessCount + 1 }))),
  );
  expect((await spaces[0]?.get(['a']))?.[0]?.accessCount).toBe(6);
  await Promise.all(stores.map((store) => store.close()));
});
