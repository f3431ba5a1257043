import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { SalienceError } from '../../domain/errors.ts';
import { createSqliteStore } from './index.ts';

/** As on Node.js 20 without the package that brings SQLite. */
vi.mock('./driver.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof import('./driver.ts')>()),
  loadDriver: () => Promise.reject(new SalienceError('unsupported', 'SQLite needs a package')),
}));

const root = await mkdtemp(join(tmpdir(), 'salience-no-driver-'));
afterAll(() => rm(root, { recursive: true, force: true }));

it('a store without SQLite is not ready, although its directory can be written to and has no file yet', async () => {
  await using store = createSqliteStore({ directory: root });
  await expect(store.ready?.()).rejects.toMatchObject({ code: 'unsupported' });
  expect(await readdir(root)).toEqual([]);
});
