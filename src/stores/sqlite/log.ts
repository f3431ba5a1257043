import { close, fdatasync, fdatasyncSync, open } from 'node:fs';
import { promisify } from 'node:util';
import { SalienceError } from '../../domain/errors.ts';
import { checkpointAside } from './checkpoint.ts';
import type { Connection } from './connection.ts';

/**
 * The write-ahead log of a file. A COMMIT appends to it and does not wait for the disk: whoever wrote does, while the thread
 * goes on. See docs/decisions/0146-readers-beside-writers.md.
 */
export interface Log {
  /**
   * Resolves when what is committed by now survives a power cut. `isAlone`: nobody else is writing, who could share the
   * sync. Throws `store_failed`.
   */
  settle(isAlone: boolean): Promise<void>;
  /** Whether so much was written that it is time to empty it. */
  isLong(): boolean;
  /** Puts it into the file, as far as nobody reads what stood there before. Nobody shall write meanwhile: it would not end. */
  empty(): Promise<void>;
  /** Runs a write that may be of any size: SQLite does not empty the log after its COMMIT, which would be for a second. */
  leaving<Result>(task: () => Promise<Result>): Promise<Result>;
  /** To be called before its connection is closed. */
  close(): Promise<void>;
}

/** Pages of 4 KB, after which SQLite puts a log into its file. */
const MOST_PAGES = 1000;
/** A memory is four rows, with its event, its words and its vector; they and their indexes fill about a page. */
const ROWS_OF_PAGE = 5;
/** What a small write changes beside its rows: pages of indexes, and the ends of tables. */
const PAGES_OF_COMMIT = 12;

/**
 * A sync that takes no longer, in milliseconds, is done at once when a small write stands alone: handing it to another thread and back
 * takes half as long again.
 */
const QUICK_MS = 1;
const SMALL_ROWS = 64;

interface SyncedFile {
  sync(): Promise<void>;
  syncAtOnce(): void;
  close(): Promise<void>;
}

/** Opens a file to wait for the disk. */
async function openSynced(path: string): Promise<SyncedFile> {
  const file = await promisify(open)(path, 'r+');
  return {
    sync: () => promisify(fdatasync)(file),
    syncAtOnce: () => fdatasyncSync(file),
    close: () => promisify(close)(file),
  };
}

/** Takes over what SQLite does with the log of a writer: waiting for the disk, unless `synchronous` is `normal`, and emptying it. */
export function takeLog(
  writer: Connection,
  synchronous: 'full' | 'normal',
  checkpoint: (path: string) => Promise<boolean> = checkpointAside,
): Log {
  const path = `${writer.path}-wal`;
  // What is put into the file is synced as before. Where it is never put, as while others read, the log stays within bounds.
  const emptyAfter = (pages: number) => writer.database.exec(`PRAGMA space.wal_autocheckpoint = ${pages}`);
  // Under the permission model Node.js lets nobody wait for the disk, from 24.22.3 on not even who has a handle: SQLite then does.
  const waitsInCommit = synchronous === 'full' && 'permission' in process;
  writer.database.exec(`PRAGMA space.synchronous = ${waitsInCommit ? 'FULL' : 'NORMAL'}`);
  emptyAfter(4 * MOST_PAGES);
  const rowsWritten = () => (writer.get('SELECT total_changes() AS rows') as { rows: number }).rows;
  let file: Promise<SyncedFile> | undefined;
  let opened: SyncedFile | undefined;
  let emptiedAt = rowsWritten();
  let settledAt = emptiedAt;
  let commits = 0;
  // Not known before the first one.
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
  /** How long the thread waits is measured each time: a disk may become slow. */
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

/** Work that is asked for often, and that those who ask meanwhile share. */
export interface Shared {
  (): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Those that ask while it is under way share the next time: it may have begun before what they ask it for. */
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
