import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openMemory, restoreSpace } from './index.ts';
import { expectCode } from './testing/store-contract/harness.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-restore-test-'));
  file = join(directory, 'backup.db');
  await using memory = await openMemory({ path: join(directory, 'first'), space: 'acme/bob' });
  await memory.remember('Drinks tea', { id: 'tea' });
  await memory.remember('Drinks coffee', { id: 'coffee' });
  await memory.link('tea', 'coffee');
  await memory.configure({ timeZone: 'Europe/Berlin' });
  await memory.backup(file);
});
afterEach(() => rm(directory, { recursive: true }));

test('brings a space back with everything, and leaves the backup as it is', async () => {
  const before = await readFile(file);
  const to = join(directory, 'second');
  expect(await restoreSpace({ file, to })).toEqual({ space: 'acme/bob', memories: 2 });
  await using memory = await openMemory({ path: to, space: 'acme/bob' });
  expect(await memory.links('tea')).toMatchObject([{ id: 'coffee' }]);
  expect((await memory.configure()).timeZone).toBe('Europe/Berlin');
  expect(await memory.operations()).toHaveLength(4);
  expect(await memory.check()).toEqual([]);
  expect(await readFile(file)).toEqual(before);
});

test('replaces no space, and takes nothing but a whole backup', async () => {
  await expectCode(restoreSpace({ file, to: join(directory, 'first') }), 'already_exists');
  const to = join(directory, 'third');
  await expectCode(restoreSpace({ file: join(directory, 'missing.db'), to }), 'unreadable_file');
  const other = join(directory, 'other.db');
  await writeFile(other, 'no backup');
  await expectCode(restoreSpace({ file: other, to }), 'not_a_store');
  const damaged = await readFile(file);
  damaged.write('Drinks TEA', damaged.indexOf('Drinks tea'));
  await writeFile(other, damaged);
  await expectCode(restoreSpace({ file: other, to }), 'store_corrupt');
  await expectCode(restoreSpace({ file, to, form: 1 } as never), 'invalid_argument');
  expect(await restoreSpace({ file, to })).toMatchObject({ memories: 2 });
});
