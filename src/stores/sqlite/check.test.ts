import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openMemory } from '../../index.ts';
import { addChecksumFunction } from './checksum.ts';
import { loadDriver } from './driver.ts';
import { fileNameOf } from './files.ts';

const { DatabaseSync } = await loadDriver();
const RESTORE = 'restore the space from a backup';
const ROW = "(SELECT row FROM memory WHERE id = 'bergen')";

/** What a check finds in a space with something of everything, once its file was edited. */
async function foundAfter(sql: string): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'salience-check-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const options = { path: directory, space: 'alice', clock: () => Date.UTC(2026, 0, 1) };
  {
    await using memory = await openMemory(options);
    await memory.rememberMany([
      { id: 'oslo', content: 'Lives in Oslo', metadata: { since: 2020, by: 'train' } },
      { id: 'tea', content: 'Drinks green tea' },
      { id: 'ada', content: 'Wrote programs', type: 'entity', title: 'Ada', aliases: ['Countess'] },
      { id: 'acme', content: 'Builds engines', type: 'entity', title: 'Acme' },
    ]);
    await memory.remember('Lives in Bergen', { id: 'bergen', supersedes: ['oslo', 'tea'] });
    await memory.relate('Ada', 'works_at', 'Acme');
    expect(await memory.check()).toEqual([]);
  }
  const database = new DatabaseSync(join(directory, fileNameOf('alice')));
  addChecksumFunction(database);
  database.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  database.close();
  await using memory = await openMemory(options);
  return memory.check();
}

test('a check that is aborted ends, and the space stays usable', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salience-check-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await using memory = await openMemory({ path: directory, space: 'alice' });
  await memory.remember('Lives in Oslo');
  const controller = new AbortController();
  const checking = memory.check({ signal: controller.signal });
  controller.abort();
  await expect(checking).rejects.toMatchObject({ code: 'aborted' });
  await memory.remember('Lives in Bergen');
  expect(await memory.check()).toEqual([]);
});

test.each(['event', 'usage'])(
  'an index that is ahead of a log that lost rows (%s) is none, also when others get their numbers',
  async (table) => {
    const directory = await mkdtemp(join(tmpdir(), 'salience-check-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const options = {
      path: directory,
      space: 'alice',
      embedder: 'none',
      clock: () => Date.UTC(2026, 0, 1),
    } as const;
    {
      await using memory = await openMemory(options);
      // So many that closing saves their index.
      await memory.rememberMany(
        Array.from({ length: 600 }, (_, at) => ({ content: `Lives in house ${at}` })),
      );
      await memory.remember('Lives in Oslo', { id: 'oslo' });
      await memory.markUsed(['oslo']);
      await memory.update('oslo', { tags: ['home'] });
      await memory.recall('Oslo');
    }
    const database = new DatabaseSync(join(directory, fileNameOf('alice')));
    database.exec(`DELETE FROM ${table} WHERE sequence = (SELECT max(sequence) FROM ${table})`);
    database.close();
    {
      await using memory = await openMemory({ ...options, readOnly: true });
      expect(await memory.check()).toEqual([`the last rows of the log are missing: ${RESTORE}`]);
      expect((await memory.recall('Oslo')).hits.map(({ memory: { id } }) => id)).toEqual(['oslo']);
    }
    await using memory = await openMemory(options);
    await memory.remember('Drinks green tea', { id: 'tea' });
    expect((await memory.recall('green tea')).hits.map(({ memory: { id } }) => id)).toContain('tea');
  },
);

test.each([
  ["DELETE FROM event WHERE memory_id = 'tea'", `1 memories without their history: ${RESTORE}`],
  ['DELETE FROM supersession', `2 supersessions are not those that the memories say: ${RESTORE}`],
  [
    // One that is not said in place of one that is, beside one that is left.
    `UPDATE supersession SET older_id = 'acme' WHERE older_id = 'tea'`,
    `2 supersessions are not those that the memories say: ${RESTORE}`,
  ],
  [
    "INSERT INTO supersession VALUES ('tea', 1), ('oslo', 70000)",
    `2 supersessions are not those that the memories say: ${RESTORE}`,
  ],
  [
    `UPDATE attribute SET value = '7' WHERE key LIKE '%since%'`,
    `the metadata of 1 memories is indexed wrongly: ${RESTORE}`,
  ],
  [
    `INSERT INTO attribute (key, value, row) VALUES ('a', '1', ${ROW}), ('a', '1', 70000)`,
    `the metadata of 2 memories is indexed wrongly: ${RESTORE}`,
  ],
  [
    "DELETE FROM entity_name WHERE name = 'countess'",
    `names or relations of 1 memories are indexed wrongly: ${RESTORE}`,
  ],
  [
    `INSERT INTO entity_name VALUES ('b', ${ROW}), ('c', 70000)`,
    `names or relations of 2 memories are indexed wrongly: ${RESTORE}`,
  ],
  ['DELETE FROM relation', `names or relations of 1 memories are indexed wrongly: ${RESTORE}`],
  // Far behind the others: rows are looked through in ranges.
  [
    `INSERT INTO term_vector (row, bytes, checksum) SELECT 70000, bytes, checksum FROM term_vector WHERE row = 1;
     UPDATE term_vector SET checksum = salience_checksum(row, bytes) WHERE row = 70000`,
    '1 rows in term_vector without a memory: reindex the space',
  ],
  [
    "INSERT INTO link (a_row, b_row, kind, weight, at) VALUES (70000, 70001, 'stated', 1, 0)",
    `1 links without both of their memories: ${RESTORE}`,
  ],
  [
    `INSERT INTO similar_pair (sequence, older_id, newer_id, similarity, at, dropped)
     VALUES (70000, 'oslo', 'gone', 0.9, 0, 0), (70001, 'gone', 'oslo', 0.9, 0, 0), (70002, 'gone', 'gone', 0.9, 0, 1)`,
    `2 similar pairs without both of their memories: ${RESTORE}`,
  ],
])('after %s', async (sql, finding) => {
  expect(await foundAfter(sql)).toEqual([finding]);
});
