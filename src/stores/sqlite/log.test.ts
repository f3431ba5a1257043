import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SpaceStore } from '../../store/store.ts';
import { gate } from '../../testing/gate.ts';
import { getOne, insert, write } from '../../testing/store-contract/harness.ts';
import { fileNameOf } from './files.ts';
import { createSqliteStore } from './index.ts';
import { shared, takeLog } from './log.ts';
import { openWriter } from './opening.ts';

/** What the disk does when a log is synced: nothing by default. */
const disk = vi.hoisted(() => ({ syncs: 0, atOnce: 0, sync: async () => {}, syncAtOnce() {} }));

vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs')>()),
  fdatasync(_file: number, done: (error: unknown) => void) {
    disk.syncs++;
    disk.sync().then(() => done(null), done);
  },
  fdatasyncSync() {
    disk.atOnce++;
    disk.syncAtOnce();
  },
}));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salience-log-'));
  disk.syncs = 0;
  disk.atOnce = 0;
  disk.sync = async () => {};
  disk.syncAtOnce = () => {};
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Long enough for whatever goes on without anybody: files are opened and closed by other threads. */
async function quiet() {
  for (let each = 0; each < 20; each++) await stat(directory);
}

/** Turns of the event loop until something holds. */
async function until(holds: () => boolean | Promise<boolean>) {
  while (!(await holds())) await turn();
}

const isThere = (space: SpaceStore, id: string) => async () => (await getOne(space, id)) !== undefined;

describe('a write', () => {
  test('is done when the disk has it; until then others read it, and write', async () => {
    await using store = createSqliteStore({ directory });
    const space = await store.openSpace('alice');
    const { open, opened } = gate();
    disk.sync = () => opened;
    const done: string[] = [];
    const writing = (id: string) => write(space, [insert({ id })]).then(() => done.push(id));
    const first = writing('a');
    await until(isThere(space, 'a'));
    const others = [writing('b'), writing('c')];
    await until(isThere(space, 'c'));
    await quiet();
    expect(done).toEqual([]);
    open();
    await Promise.all([first, ...others]);
    // That of the first had begun before the others were committed: they share the next one.
    expect(disk.syncs).toBe(2);
  });

  test('fails if the disk does not confirm it, but is visible', async () => {
    await using store = createSqliteStore({ directory });
    const space = await store.openSpace('alice');
    disk.sync = () => Promise.reject(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }));
    await expect(write(space, [insert({ id: 'a' })])).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('a power cut may take it back'),
      details: { inDoubt: true },
      cause: { code: 'EIO' },
    });
    expect(await isThere(space, 'a')()).toBe(true);
    disk.sync = async () => {};
    await write(space, [insert({ id: 'b' })]);
  });

  test('that is small and alone waits for a quick disk at once, for as long as that is quick', async () => {
    const clock = vi.spyOn(performance, 'now');
    const takes = (milliseconds: number) => {
      let now = 0;
      // Asked before and after a sync.
      clock.mockImplementation(() => {
        now += milliseconds;
        return now;
      });
    };
    try {
      const path = join(directory, 'alice.db');
      const writer = await openWriter(path, 'alice', { synchronous: 'full', busyTimeout: 0 });
      const log = takeLog(writer, 'full');
      const settled = async (isAlone = true) => {
        disk.syncs = 0;
        disk.atOnce = 0;
        await log.settle(isAlone);
        return [disk.syncs, disk.atOnce];
      };
      takes(0.5);
      // Nobody knows yet how quick it is.
      expect(await settled()).toEqual([1, 0]);
      expect(await settled()).toEqual([0, 1]);
      expect(await settled(false)).toEqual([1, 0]);
      expect(await settled()).toEqual([0, 1]);
      for (let each = 0; each < 65; each++) writer.run('INSERT INTO term (text) VALUES (?)', `${each}`);
      expect(await settled()).toEqual([1, 0]);
      expect(await settled()).toEqual([0, 1]);
      takes(1);
      expect(await settled()).toEqual([0, 1]);
      // It was slow, so that the thread waits no more.
      expect(await settled()).toEqual([1, 0]);
      expect(await settled()).toEqual([1, 0]);
      takes(0.9);
      expect(await settled()).toEqual([1, 0]);
      expect(await settled()).toEqual([0, 1]);
      disk.syncAtOnce = () => {
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
      };
      await expect(settled()).rejects.toMatchObject({ code: 'store_failed', cause: { code: 'EIO' } });
      await log.close();
      writer.close();
    } finally {
      clock.mockRestore();
    }
  });

  test('waits for no disk where the space says so', async () => {
    await using store = createSqliteStore({ directory, synchronous: 'normal' });
    disk.sync = () => Promise.reject(new Error('nobody asked for this'));
    const space = await store.openSpace('alice');
    await write(space, [insert({ id: 'a' })]);
    expect(disk.syncs).toBe(0);
  });

  test.each([
    ['use', (space: SpaceStore) => space.use(usage, async () => ({ memories: [], links: [] }))],
    [
      'reindex',
      (space: SpaceStore) =>
        space.reindex({ analyzer: 'other', embedding: undefined, derive: async () => [] }),
    ],
    ['backup', (space: SpaceStore) => space.backup(join(directory, 'a.backup'), 1)],
  ])('%s waits for the disk too', async (_, verb) => {
    await using store = createSqliteStore({ directory });
    const space = await store.openSpace('alice');
    const { open, opened } = gate();
    disk.sync = () => opened;
    let isDone = false;
    const running = verb(space).then(() => {
      isDone = true;
    });
    await until(() => disk.syncs > 0);
    await quiet();
    expect(isDone).toBe(false);
    open();
    await running;
  });

  test('that is under way is done before its space is closed', async () => {
    const store = createSqliteStore({ directory });
    const space = await store.openSpace('alice');
    const { open, opened } = gate();
    disk.sync = () => opened;
    const done: string[] = [];
    const writing = write(space, [insert({ id: 'a' })]).then(() => done.push('written'));
    await until(() => disk.syncs > 0);
    const closing = store.close().then(() => done.push('closed'));
    await quiet();
    expect(done).toEqual([]);
    open();
    await Promise.all([writing, closing]);
    expect(done).toEqual(['written', 'closed']);
  });
});

const usage = {
  at: 1,
  strategy: 'retention',
  effect: 'reinforce',
  queryHash: 'hash',
  sessionId: undefined,
  used: [],
} as const;

test('a long log is put into the file, though its space stays open', async () => {
  await using store = createSqliteStore({ directory });
  const space = await store.openSpace('alice');
  const bytes = async () => (await stat(join(directory, fileNameOf('alice')))).size;
  const before = await bytes();
  for (let batch = 0; batch < 3; batch++) {
    await write(
      space,
      Array.from({ length: 600 }, (_, at) => insert({ id: `${batch} ${at}` }, [1, 0, 0])),
    );
  }
  // After the one that was too much.
  await write(space, [insert({ id: 'another' })]);
  expect(await bytes()).toBeGreaterThan(before + 1000 * 256);
  expect(await space.check()).toEqual([]);
});

test('a log that could not be opened once is opened again by the next write', async () => {
  const path = join(directory, 'alice.db');
  const writer = await openWriter(path, 'alice', { synchronous: 'full', busyTimeout: 0 });
  const log = takeLog(writer, 'full');
  await rename(`${path}-wal`, `${path}-aside`);
  await expect(log.settle(true)).rejects.toMatchObject({ code: 'store_failed', details: { path } });
  await rename(`${path}-aside`, `${path}-wal`);
  await log.settle(true);
  expect(disk.syncs).toBe(1);
  await log.close();
  writer.close();
});

test.each([
  ['full', 2],
  ['normal', 1],
] as const)(
  'under the permission model of Node.js SQLite itself waits for the disk, where it is asked to: %s',
  async (asked, synchronous) => {
    const before = Object.getOwnPropertyDescriptor(process, 'permission');
    Object.defineProperty(process, 'permission', { value: {}, configurable: true });
    try {
      const writer = await openWriter(join(directory, 'alice.db'), 'alice', {
        synchronous: asked,
        busyTimeout: 0,
      });
      const log = takeLog(writer, asked);
      expect(writer.get('PRAGMA space.synchronous')).toEqual({ synchronous });
      await log.settle(true);
      expect(disk).toMatchObject({ syncs: 0, atOnce: 0 });
      await log.close();
      writer.close();
    } finally {
      if (before) Object.defineProperty(process, 'permission', before);
      else Reflect.deleteProperty(process, 'permission');
    }
  },
);

test('a log is long after so many rows or commits, and short once it was put into the file', async () => {
  const path = join(directory, 'alice.db');
  const writer = await openWriter(path, 'alice', { synchronous: 'full', busyTimeout: 0 });
  const log = takeLog(writer, 'full');
  // NORMAL: a COMMIT waits for no disk, and what is put into the file does.
  expect(writer.get('PRAGMA space.synchronous')).toEqual({ synchronous: 1 });
  expect(writer.get('PRAGMA space.wal_autocheckpoint')).toEqual({ wal_autocheckpoint: 4000 });
  const commits = async (count: number) => {
    for (let each = 0; each < count; each++) await log.settle(true);
  };
  for (let round = 0; round < 2; round++) {
    await commits(80);
    expect(log.isLong()).toBe(false);
    await commits(10);
    expect(log.isLong()).toBe(true);
    await log.empty();
    expect(log.isLong()).toBe(false);
    writer.run(
      `WITH RECURSIVE number(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 6000)
       INSERT INTO term (text) SELECT ? || value FROM number`,
      `${round} `,
    );
    expect(log.isLong()).toBe(true);
    await log.empty();
    expect(log.isLong()).toBe(false);
  }
  await log.close();
  writer.close();
});

describe('work that is shared', () => {
  const gates: ReturnType<typeof gate>[] = [];
  const work = vi.fn(async () => {
    const each = gate();
    gates.push(each);
    await each.opened;
  });
  beforeEach(() => {
    gates.length = 0;
    work.mockClear();
  });

  test('begins anew for whoever asks while it is under way, once for all of them', async () => {
    const ask = shared(work);
    const first = ask();
    const others = [ask(), ask(), ask()];
    expect(work).toHaveBeenCalledTimes(1);
    gates[0]?.open();
    await first;
    await until(() => gates.length === 2);
    const late = ask();
    gates[1]?.open();
    await Promise.all(others);
    await until(() => gates.length === 3);
    gates[2]?.open();
    await late;
    await ask.idle();
    expect(work).toHaveBeenCalledTimes(3);
  });

  test('fails for those who asked for it, and not for the next ones', async () => {
    work.mockRejectedValueOnce(new Error('broken'));
    const ask = shared(work);
    const [first, second] = [ask(), ask()];
    await expect(first).rejects.toThrow('broken');
    await until(() => gates.length === 1);
    gates[0]?.open();
    await second;
    await ask.idle();
  });

  test('is idle when nothing is under way, and when nothing waits for its turn', async () => {
    const ask = shared(work);
    await ask.idle();
    const asked = [ask(), ask()];
    let isIdle = false;
    const idle = ask.idle().then(() => {
      isIdle = true;
    });
    gates[0]?.open();
    await until(() => gates.length === 2);
    asked.push(ask());
    gates[1]?.open();
    await until(() => gates.length === 3);
    await quiet();
    expect(isIdle).toBe(false);
    gates[2]?.open();
    await Promise.all([...asked, idle]);
  });
});
