import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpaceStore } from '../../store/store.ts';
import { getOne, insert, start, write } from '../../testing/store-contract/harness.ts';
import { storeContract } from '../../testing/store-contract.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';

await storeContract('sqlite in memory', async () => {
  const store = createSqliteStore({ directory: ':memory:' });
  return { store, cleanup: () => store.close() };
});

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A write of a second text that has begun, and goes on when it is told to. */
async function beginWrite(space: SpaceStore) {
  await write(space, [insert({ id: 'a', content: 'old' })]);
  const waiting = deferred();
  const begun = deferred();
  const writing = space.write({ verb: 'remember', at: start }, async (reader) => {
    await reader.get(['a']);
    begun.resolve();
    await waiting.promise;
    return { changes: [insert({ id: 'b' })], result: undefined };
  });
  await begun.promise;
  return { writing, goOn: waiting.resolve };
}

describe('a store in memory', () => {
  it('has reads wait for the write in progress', async () => {
    await using store = createSqliteStore({ directory: ':memory:' });
    const space = await store.openSpace('alice');
    const { writing, goOn } = await beginWrite(space);
    const order: string[] = [];
    const reading = space.info().then(({ memories }) => order.push(`read ${memories}`));
    const written = writing.then(() => order.push('written'));
    goOn();
    await Promise.all([reading, written]);
    expect(order).toEqual(['written', 'read 2']);
  });

  it('keeps a space while no handle of it is open, and shares nothing with another store', async () => {
    await using store = createSqliteStore({ directory: ':memory:' });
    await using other = createSqliteStore({ directory: ':memory:' });
    const space = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' })]);
    await space.close();
    expect((await getOne(await store.openSpace('alice'), 'a'))?.id).toBe('a');
    expect(await other.listSpaces()).toEqual([]);
    expect(await space.info().catch(({ code }) => code)).toBe('closed');
  });

  it('is on no disk, and a backup of it is a file that opens as any other', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'salience-memory-'));
    try {
      await using store = createSqliteStore({ directory: ':memory:' });
      const space = await store.openSpace('alice');
      await write(space, [insert({ id: 'a' }, [1, 0, 0])]);
      expect(await space.info()).toMatchObject({ bytes: 0, path: undefined });
      await space.backup(join(directory, 'copy'));
      await copyFile(join(directory, 'copy'), join(directory, fileNameOf('alice')));
      await using onDisk = createSqliteStore({ directory });
      const restored = await onDisk.openSpace('alice');
      expect((await getOne(restored, 'a'))?.id).toBe('a');
      expect(await restored.check()).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

describe('a store of files', () => {
  it('reads what is committed while a write is in progress', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'salience-files-'));
    try {
      await using store = createSqliteStore({ directory, synchronous: 'normal' });
      const space = await store.openSpace('alice');
      const { writing, goOn } = await beginWrite(space);
      expect(await space.info()).toMatchObject({ memories: 1, sequence: 1 });
      goOn();
      await writing;
      expect(await space.info()).toMatchObject({ memories: 2, sequence: 2 });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
