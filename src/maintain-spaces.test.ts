import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSpaces, type SpacesOptions } from './index.ts';
import type { Store } from './store/store.ts';
import { fileNameOf } from './stores/sqlite/files.ts';
import { sharedFiles } from './stores/sqlite/shared.ts';
import { gate } from './testing/gate.ts';
import { createReferenceStore } from './testing/reference-store/index.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-maintain-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('maintain', () => {
  const day = 24 * 60 * 60 * 1000;
  async function shared() {
    let now = Date.UTC(2026, 0, 1, 12);
    const options: SpacesOptions = { path: directory, embedder: 'none', clock: () => now };
    const [one, two] = [openSpaces(options), openSpaces(options)];
    for (const user of ['alice', 'bob', 'carol', 'dan']) {
      await (await one.get(user)).remember('To be gone', { expiresAt: new Date(now + 1) });
    }
    now += 2;
    const close = () => Promise.all([one.close(), two.close()]);
    const later = (milliseconds: number) => {
      now += milliseconds;
    };
    return { one, two, close, later };
  }
  const namesOf = (some: readonly { readonly space: string }[]) => some.map(({ space }) => space);

  test('names the spaces that cannot be read', async () => {
    const { one, close } = await shared();
    const file = join(directory, fileNameOf('bob'));
    const spoilt = openSpaces({ path: directory, embedder: 'none' });
    await one.close();
    await rm(`${file}-wal`, { force: true });
    await writeFile(file, 'no space any more');
    const { maintained, unreadable } = await spoilt.maintain({ every: 0 });
    expect(namesOf(maintained)).toEqual(['alice', 'carol', 'dan']);
    expect(unreadable).toEqual([expect.stringContaining(`${file} is not a store of this engine`)]);
    await spoilt.close();
    await close();
  });

  test('maintains each space once, however many ask at once', async () => {
    const { one, two, close } = await shared();
    const results = await Promise.all([one.maintain(), two.maintain(), one.maintain()]);
    const maintained = results.flatMap((result) => namesOf(result.maintained));
    expect(maintained.toSorted()).toEqual(['alice', 'bob', 'carol', 'dan']);
    expect(results.map(({ maintained, left }) => maintained.length + left.length)).toEqual([4, 4, 4]);
    expect(results.flatMap(({ failed }) => failed)).toEqual([]);
    const reports = results.flatMap((result) => result.maintained.map(({ report }) => report));
    expect(reports.map(({ expired }) => expired.length)).toEqual([1, 1, 1, 1]);
    await close();
  });

  test('refuses a dry run that is neither true nor false, and claims no space', async () => {
    const { one, two, close } = await shared();
    await expect(one.maintain({ dryRun: 1 } as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'dryRun: 1 must be true or false',
    });
    expect((await two.maintain()).maintained).toHaveLength(4);
    await close();
  });

  test('maintains again in the next span, and forgets the claims of the last', async () => {
    const { one, two, close, later } = await shared();
    await one.maintain();
    expect((await two.maintain()).left).toHaveLength(4);
    later(day);
    expect(namesOf((await two.maintain()).maintained)).toHaveLength(4);
    expect(await readdir(join(directory, 'shared', 'maintenance'))).toHaveLength(4);
    expect((await one.maintain()).maintained).toEqual([]);
    expect(namesOf((await one.maintain({ every: 0 })).maintained)).toHaveLength(4);
    await close();
  });

  test('forgets the claims of spans of another length too, once they are over', async () => {
    const { one, close, later } = await shared();
    await one.maintain({ every: day / 24 });
    await one.maintain({ every: 2 * day });
    const claims = () => readdir(join(directory, 'shared', 'maintenance'));
    expect(await claims()).toHaveLength(8);
    later(day);
    await one.maintain();
    // Those of the hour are gone; those of the two days last, beside the new ones of this day.
    expect(await claims()).toHaveLength(8);
    later(2 * day);
    await one.maintain();
    expect(await claims()).toHaveLength(4);
    await close();
  });

  test('tells what is done, before the first space and after each', async () => {
    const { one, close } = await shared();
    const told: (readonly [names: readonly string[], total: number])[] = [];
    await one.maintain({ progress: ({ maintained }, total) => void told.push([namesOf(maintained), total]) });
    const names = ['alice', 'bob', 'carol', 'dan'];
    expect(told).toEqual([0, 1, 2, 3, 4].map((done) => [names.slice(0, done), 4]));
    await expect(one.maintain({ progress: 1 as never })).rejects.toMatchObject({ code: 'invalid_argument' });
    await close();
  });

  test('a dry run claims nothing', async () => {
    const { one, close } = await shared();
    expect(namesOf((await one.maintain({ dryRun: true })).maintained)).toHaveLength(4);
    expect(namesOf((await one.maintain()).maintained)).toHaveLength(4);
    await close();
  });

  test('one space that fails stops no other', async () => {
    const store = createReferenceStore();
    for (const name of ['alice', 'bob', 'carol']) await (await store.openSpace(name)).close();
    const failing: Store = {
      ...store,
      openSpace: (name, given) =>
        name === 'bob' ? Promise.reject(new Error('broken')) : store.openSpace(name, given),
    };
    await using spaces = openSpaces({ path: directory, store: failing, embedder: 'none' });
    const { maintained, left, failed } = await spaces.maintain();
    expect([namesOf(maintained), left, namesOf(failed)]).toEqual([['alice', 'carol'], [], ['bob']]);
    expect(failed[0]?.error).toMatchObject({ message: 'broken' });
  });

  /** Spaces of which dan was deleted by another process right after they were listed. */
  async function withoutDan() {
    const store = createReferenceStore();
    for (const name of ['alice', 'dan']) await (await store.openSpace(name)).close();
    const shared = sharedFiles(directory);
    const [opening, listed] = [gate(), gate()];
    const listing: Store = {
      ...store,
      async listSpaces() {
        const names = await store.listSpaces();
        if (names.includes('dan')) await store.deleteSpace('dan');
        return names;
      },
      async openSpace(name, given) {
        if (name === 'dan' && given?.mustExist) {
          listed.open();
          await opening.opened;
        }
        return store.openSpace(name, given);
      },
      shared,
    };
    const spaces = openSpaces({ path: directory, store: listing, embedder: 'none' });
    return { spaces, store, opening, listed, shared };
  }

  test('only maintenance says that a space must exist; else the default of the store applies', async () => {
    const store = createReferenceStore();
    await (await store.openSpace('alice')).close();
    const told: (boolean | undefined)[] = [];
    const telling: Store = {
      ...store,
      openSpace(name, given) {
        told.push(given?.mustExist);
        return store.openSpace(name, given);
      },
    };
    for (const readOnly of [true, false]) {
      const spaces = openSpaces({ store: telling, embedder: 'none', readOnly });
      await (await spaces.get('alice')).stats();
      await spaces.close();
    }
    await using spaces = openSpaces({
      path: directory,
      store: { ...telling, shared: sharedFiles(directory) },
    });
    await spaces.maintain();
    expect(told).toEqual([undefined, undefined, true]);
  });

  test('a space that is deleted meanwhile does not come back', async () => {
    const { spaces, store, opening, shared } = await withoutDan();
    opening.open();
    const { maintained, left, failed } = await spaces.maintain();
    expect([namesOf(maintained), left, failed]).toEqual([['alice'], [], []]);
    expect(await store.listSpaces()).toEqual(['alice']);
    // A new one of this name can be maintained.
    expect(await shared.ids('maintenance')).toEqual([expect.stringMatching(/ alice$/)]);
    await spaces.close();
  });

  test('whoever wants a new space gets it while maintenance looks for the old one', async () => {
    const { spaces, opening, listed } = await withoutDan();
    const maintaining = spaces.maintain();
    await listed.opened;
    const getting = spaces.get('dan');
    opening.open();
    expect(await (await getting).remember('New here', { id: 'new' })).toMatchObject({ id: 'new' });
    expect((await maintaining).failed).toEqual([]);
    await spaces.close();
  });

  test.each(['closed', 'aborted'])('what is %s meanwhile leaves the rest to others', async (how) => {
    const { two, close } = await shared();
    const store = createReferenceStore();
    for (const name of ['alice', 'bob', 'carol', 'dan']) await (await store.openSpace(name)).close();
    const stop = new AbortController();
    let opened = 0;
    const stopping: Store = {
      ...store,
      shared: sharedFiles(directory),
      async openSpace(...given) {
        // While it is at the second one.
        if (++opened === 2) void (how === 'closed' ? one.close() : stop.abort());
        return store.openSpace(...given);
      },
    };
    const one = openSpaces({
      path: directory,
      store: stopping,
      embedder: 'none',
      clock: () => Date.UTC(2026, 0, 1, 12),
    });
    await expect(one.maintain({ signal: stop.signal })).rejects.toMatchObject({ code: how });
    await one.close();
    const { maintained, left } = await two.maintain();
    expect([namesOf(maintained), left]).toEqual([['bob', 'carol', 'dan'], ['alice']]);
    await close();
  });

  test('refuses what it does not know, and ends when it is told to', async () => {
    const { one, close } = await shared();
    await expect(one.maintain({ evry: 1 } as object)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(one.maintain({ every: -1 })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(one.maintain({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    const store = createReferenceStore();
    await (await store.openSpace('alice')).close();
    const stop = new AbortController();
    const stopping: Store = {
      ...store,
      async openSpace(...given) {
        stop.abort();
        return store.openSpace(...given);
      },
    };
    await using other = openSpaces({ path: directory, store: stopping, embedder: 'none' });
    // The last space fails by the signal: that is no failure of the space.
    await expect(other.maintain({ signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' });
    await close();
    await expect(one.maintain()).rejects.toMatchObject({ code: 'closed' });
  });
});
