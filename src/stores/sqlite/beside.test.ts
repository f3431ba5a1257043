import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Change } from '../../store/store.ts';
import { insert, replace, write } from '../../testing/store-contract/harness.ts';
import { connect } from './connection.ts';
import { createSqliteStore } from './index.ts';
import { createTermIds } from './terms.ts';
import { applyDecision } from './write.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-beside-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const ids = Array.from({ length: 6000 }, (_, at) => `m${at}`);

test.each([
  ['thousands of new memories are written', [], ids.map((id) => insert({ id }, [1, 0, 0]))],
  [
    'thousands of memories are changed',
    ids.map((id) => insert({ id })),
    ids.map((id) => replace({ id, content: 'another' }, [1, 0, 0])),
  ],
] satisfies readonly (readonly [string, readonly Change[], readonly Change[]])[])(
  'others go on while %s, and see all of it or nothing',
  async (_, before, changes) => {
    await using store = createSqliteStore({ directory, synchronous: 'normal' });
    const space = await store.openSpace('alice');
    await write(space, before);
    let isWritten = false;
    let turns = 0;
    const seen = new Set<number>();
    // The decision is made by then: what follows is the store's own work.
    const writing = space
      .write({ verb: 'remember', at: 1 }, async () => ({
        changes,
        result: undefined,
        embedding: { model: 'test-3', dimensions: 3 },
      }))
      .then(() => {
        isWritten = true;
      });
    while (!isWritten) {
      await turn();
      turns++;
      if (isWritten) break;
      const { memories } = await space.list({ filter: {}, limit: 10 });
      seen.add(memories.filter(({ content }) => before.length === 0 || content === 'another').length);
    }
    await writing;
    // Writing takes 100 ms and more, of which each turn gets a few.
    expect(turns).toBeGreaterThan(4);
    expect([...seen].filter((count) => count !== 0 && count !== 10)).toEqual([]);
    expect((await space.info()).memories).toBe(ids.length);
  },
);

test('new memories are written a few rows at a time', async () => {
  await using store = createSqliteStore({ directory, synchronous: 'normal' });
  await store.openSpace('alice');
  const [file] = (await readdir(directory)).filter((name) => name.endsWith('.db'));
  const connection = await connect(join(directory, file!), { readOnly: false, timeout: 0 });
  try {
    const changes = ids.slice(0, 300).map((id) => insert({ id }, [1, 0, 0]));
    const decision = { changes, result: undefined, embedding: { model: 'test-3', dimensions: 3 } };
    const entry = { verb: 'remember', at: 1 } as const;
    const written = ['memory', 'term_vector', 'vector', 'event'].map(
      (table) => `(SELECT count(*) FROM ${table})`,
    );
    const count = () => (connection.get(`SELECT ${written.join(' + ')} AS rows`) as { rows: number }).rows;
    const steps: number[] = [];
    let before = 0;
    for (const _ of applyDecision(connection, createTermIds(connection), entry, decision)) {
      steps.push(count() - before);
      before = count();
    }
    expect(before).toBe(4 * 300);
    expect(Math.max(...steps)).toBeLessThanOrEqual(128);
    expect(steps.slice(0, 4)).toEqual([32, 32, 32, 32]);
  } finally {
    connection.close();
  }
});

test('thousands of reads, one after the other, let others in between', async () => {
  await using store = createSqliteStore({ directory, synchronous: 'normal' });
  const space = await store.openSpace('alice');
  await write(
    space,
    ids.slice(0, 50).map((id) => insert({ id })),
  );
  let isDone = false;
  let turns = 0;
  const reading = (async () => {
    for (let each = 0; each < 2000; each++) await space.list({ filter: {}, limit: 50 });
    isDone = true;
  })();
  while (!isDone) {
    await turn();
    turns++;
  }
  await reading;
  // They take a second and more, of which each turn gets a few milliseconds.
  expect(turns).toBeGreaterThan(10);
});

test('others go on while the derived data of thousands of memories is replaced', async () => {
  await using store = createSqliteStore({ directory, synchronous: 'normal' });
  const space = await store.openSpace('alice');
  await write(
    space,
    ids.map((id) => insert({ id })),
  );
  let derived = 0;
  let isDone = false;
  const reindexing = space
    .reindex({
      analyzer: 'another',
      embedding: undefined,
      async derive(memories) {
        derived += memories.length;
        return memories.map(({ id }) => ({ terms: new Map([[id, 1]]), vector: undefined }));
      },
    })
    .then(() => {
      isDone = true;
    });
  let turns = 0;
  while (!isDone) {
    await turn();
    // From here on it only writes.
    if (derived === ids.length) turns++;
  }
  await reindexing;
  expect(turns).toBeGreaterThan(8);
});
