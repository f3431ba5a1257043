import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteSpace } from '../../delete-space.ts';
import { insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'salience-delete-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function stored(name: string) {
  const store = createSqliteStore({ directory, busyTimeout: 100 });
  const space = await store.openSpace(name);
  await write(space, [insert({ id: 'a', content: 'secret' })]);
  return { store, space };
}

describe('deleteSpace', () => {
  it('leaves no file of the space, open or not, and touches no other', async () => {
    const { store, space } = await stored('alice');
    const bob = await store.openSpace('bob');
    await write(bob, [insert({ id: 'b' })]);
    await store.deleteSpace('alice');
    expect(readdirSync(directory).filter((name) => name.startsWith('alice'))).toEqual([]);
    expect(await store.listSpaces()).toEqual(['bob']);
    await expect(space.get(['a'])).rejects.toMatchObject({ code: 'closed' });
    expect((await bob.get(['b']))[0]?.id).toBe('b');
    await bob.close();
    await deleteSpace({ path: directory, space: 'bob' });
    expect(readdirSync(directory)).toEqual([]);
    await expect(store.deleteSpace('bob')).rejects.toMatchObject({ code: 'not_found' });
    expect((await (await store.openSpace('alice')).info()).memories).toBe(0);
    await store.close();
  });

  it('deletes nothing while somebody else has the space open', async () => {
    const { store, space } = await stored('alice');
    const other = createSqliteStore({ directory, busyTimeout: 100 });
    await expect(other.deleteSpace('alice')).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringMatching(/another process, or another store of this one, .* nothing was deleted/),
    });
    expect((await space.get(['a']))[0]?.content).toBe('secret');
    await write(space, [insert({ id: 'b' })]);
    await store.close();
    await other.deleteSpace('alice');
    expect(readdirSync(directory)).toEqual([]);
    await other.close();
  });

  it('deletes a damaged file too, and no file of another program', async () => {
    const { store } = await stored('alice');
    await store.close();
    const path = join(directory, fileNameOf('alice'));
    writeFileSync(path, Buffer.from('SQLite format 3\u0000 and nothing of the sort'));
    await expect(deleteSpace({ path: directory, space: 'alice' })).rejects.toMatchObject({
      code: expect.stringMatching(/^(not_a_store|store_corrupt)$/),
    });
    expect(readdirSync(directory)).toEqual([fileNameOf('alice')]);
  });
});
