import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkpointAside } from './checkpoint.ts';
import type { Connection } from './connection.ts';
import { takeLog } from './log.ts';
import { openWriter } from './opening.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-checkpoint-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const bytes = async ({ path }: Connection) => (await stat(path)).size;

/** A file whose log has megabytes that are not in the file. */
async function written(name: string) {
  const writer = await openWriter(join(directory, name), 'alice', { synchronous: 'normal', busyTimeout: 0 });
  writer.database.exec('PRAGMA space.wal_autocheckpoint = 0');
  writer.run(
    `WITH RECURSIVE number(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 20000)
     INSERT INTO term (text) SELECT 'term ' || value FROM number`,
  );
  expect(await bytes(writer)).toBeLessThan(200_000);
  return writer;
}

test('another thread moves the logs of several files into their files', async () => {
  const writers = await Promise.all([written('a.db'), written('b.db'), written('c.db')]);
  expect(await Promise.all(writers.map(({ path }) => checkpointAside(path)))).toEqual([true, true, true]);
  for (const writer of writers) {
    expect(await bytes(writer)).toBeGreaterThan(500_000);
    expect(writer.get('SELECT count(*) AS count FROM term')).toEqual({ count: 20_000 });
    expect(writer.get('PRAGMA space.integrity_check')).toEqual({ integrity_check: 'ok' });
    writer.run('DELETE FROM term');
    writer.close();
  }
});

test('a missing file is not created, and a file that is not of SQLite fails', async () => {
  const missing = join(directory, 'missing.db');
  expect(await checkpointAside(missing)).toBe(false);
  expect(existsSync(missing)).toBe(false);
  const other = join(directory, 'other.db');
  await writeFile(other, 'this is no database, whatever its name says '.repeat(100));
  expect(await checkpointAside(other)).toBe(false);
  // What failed for one file is there for the next.
  const writer = await written('a.db');
  expect(await checkpointAside(writer.path)).toBe(true);
  writer.close();
});

test('a name with spaces, signs of a URL and other letters is a name', async () => {
  const writer = await written('a b?mode=memory#%20ä.db');
  expect(await checkpointAside(writer.path)).toBe(true);
  expect(await bytes(writer)).toBeGreaterThan(500_000);
  writer.close();
});

test('if no other thread can do it, the writing connection does', async () => {
  const writer = await written('a.db');
  const aside = vi.fn(async (_path: string) => true);
  const log = takeLog(writer, 'normal', aside);
  await log.empty();
  expect(aside).toHaveBeenCalledWith(writer.path);
  expect(await bytes(writer)).toBeLessThan(200_000);
  aside.mockResolvedValueOnce(false);
  await log.empty();
  expect(await bytes(writer)).toBeGreaterThan(500_000);
  await log.close();
  writer.close();
});
