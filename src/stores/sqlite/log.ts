import { close, fdatasync, fdatasyncSync, open } from 'node:fs';
import { promisify } from 'node:util';
import { SalienceError } from '../../domain/errors.ts';
import { checkpointAside } from './checkpoint.ts';
import type { Connection } from './connection.ts';

/**
 * The write-ahead log of a file. A COMMIT appends to it without waiting for the disk. The writer then awaits a sync, during
 * which the thread can do other work. See docs/decisions/0146-readers-beside-writers.md.
 */
export interface Log {
  /**
   * Resolves when everything committed so far survives a power cut. `isAlone`: no other write could share the sync. Throws
   * `store_failed`.
   */
  settle(isAlone: boolean): Promise<void>;
  /** Whether the log is long enough to be emptied. */
  isLong(): boolean;
  /** Moves the log into the file, as far as no reader needs the old pages. No write may run meanwhile, or it would not end. */
  empty(): Promise<void>;
  /** Runs a write of any size without SQLite emptying the log after its COMMIT, which could block for a second. */
  leaving<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Must be called before its connection is closed. */
  close(): Promise<void>;
}

/** Pages of 4 KB after which the log is moved into its file. */
const MOST_PAGES = 1000;
/** A memory takes four rows: record, event, words and vector. With their indexes they fill about a page. */
const ROWS_OF_PAGE = 5;
/** Pages that a small write changes beside its rows: those of indexes, and the ends of tables. */
const PAGES_OF_COMMIT = 12;

/**
 * Milliseconds. If a sync takes no longer, a single small write syncs on this thread: passing it to another thread and back
 * takes half as long again.
 */
const QUICK_MS = 1;
const SMALL_ROWS = 64;

interface SyncedFile {
  sync(): Promise<void>;
  syncAtOnce(): void;
  close(): Promise<void>;
}

/** Opens a file for syncing it to disk. */
async function openSynced(path: string): Promise<SyncedFile> {
  const file = await promisify(open)(path, 'r+');
  return {
    sync: () => promisify(fdatasync)(file),
    syncAtOnce: () => fdatasyncSync(file),
    close: () => promisify(close)(file),
  };
}

/** Takes over two tasks of SQLite for the log of a writer: syncing it, unless `synchronous` is `normal`, and emptying it. */
export function takeLog(
  writer: Connection,
  synchronous: 'full' | 'normal',
  checkpoint: (path: string) => Promise<boolean> = checkpointAside,
): Log {
  const path = `${writer.path}-wal`;
  // What is put into the file is synced as before. Where it is never put, as while others read, the log stays within bounds.
  const emptyAfter = (pages: number) => writer.database.exec(`PRAGMA space.wal_autocheckpoint = ${pages}`);
  // The permission model of Node.js does not allow syncing a file, from 24.22.3 on not even with a handle. SQLite then syncs.
  const waitsInCommit = synchronous === 'full' && 'permission' in process;
  writer.database.exec(`PRAGMA space.synchronous = ${waitsInCommit ? 'FULL' : 'NORMAL'}`);
  emptyAfter(4 * MOST_PAGES);
  const rowsWritten = () => (writer.get('SELECT total_changes() AS rows') as { rows: number }).rows;
  let file: Promise<SyncedFile> | undefined;
  let opened: SyncedFile | undefined;
  let emptiedAt = rowsWritten();
  let settledAt = emptiedAt;
  let commits = 0;
  // Not known before the first sync.
  let isQuick = false;
  const sync = shared(async () => {
    file ??= openSynced(path).catch((error) => {
      file = undefined;
      throw error;
    });
    opened = await file;
    const began = performance.now();
    await opened.sync();
    isQuick = performance.now() - began < QUICK_MS;
  });
  /** Syncs on this thread, and measures each time how long it takes: a disk may become slow. */
  const syncAtOnce = (work: () => void) => {
    const began = performance.now();
    work();
    isQuick = performance.now() - began < QUICK_MS;
  };
  return {
    async settle(isAlone) {
      commits++;
      if (synchronous === 'normal' || waitsInCommit) return;
      const rows = rowsWritten();
      const isSmall = rows - settledAt <= SMALL_ROWS;
      settledAt = rows;
      try {
        if (isQuick && isAlone && isSmall && opened) syncAtOnce(opened.syncAtOnce);
        else await sync();
      } catch (cause) {
        throw unsettled(writer.path, cause);
      }
    },
    isLong: () => (rowsWritten() - emptiedAt) / ROWS_OF_PAGE + commits * PAGES_OF_COMMIT > MOST_PAGES,
    async empty() {
      emptiedAt = rowsWritten();
      commits = 0;
      if (await checkpoint(writer.path)) return;
      writer.get('PRAGMA space.wal_checkpoint(PASSIVE)');
    },
    async leaving(task) {
      emptyAfter(0);
      try {
        return await task();
      } finally {
        emptyAfter(4 * MOST_PAGES);
      }
    },
    async close() {
      await sync.idle();
      const last = await file?.catch(() => undefined);
      file = undefined;
      opened = undefined;
      await last?.close();
    },
  };
}

/** Work that concurrent callers share. */
export interface Shared {
  (): Promise<void>;
  /** Resolves when no work is in progress. */
  idle(): Promise<void>;
}

/** Calls during a run share the next run, because the current one may have begun before the data that they need synced. */
export function shared(work: () => Promise<void>): Shared {
  let underWay: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    const begun = work().finally(() => {
      if (underWay === begun) underWay = undefined;
    });
    underWay = begun;
    return begun;
  };
  const ask = () => {
    if (!underWay) return begin();
    next ??= underWay.then(begin, begin);
    return next;
  };
  const idle = async () => {
    while (underWay) await (next ?? underWay).catch(() => undefined);
  };
  return Object.assign(ask, { idle });
}

function unsettled(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'store_failed',
    `${path}: this was written, but the disk did not confirm it, so a power cut may take it back; check the disk, and read the data before you write it again`,
    { details: { path, inDoubt: true }, cause },
  );
}
