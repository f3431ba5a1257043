import { constants, statSync } from 'node:fs';
import { copyFile, link, rm } from 'node:fs/promises';
import { SalienceError } from '../../domain/errors.ts';
import { connect } from './connection.ts';
import { hasLog } from './files.ts';
import { readMeta } from './meta.ts';
import { identify } from './schema.ts';

/**
 * Refuses, before anything is touched, what SQLite would take for a new database or mix up: an empty file, a log without
 * its file, and a log beside a newer file or one of another space. Throws `store_corrupt`.
 */
export async function checkFiles(path: string): Promise<void> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === 0) {
    throw corrupt(
      path,
      `${path} is empty, so it was truncated. Restore it from a backup, or delete it to start with an empty store`,
    );
  }
  if (!hasLog(path)) return;
  if (size === undefined) {
    throw corrupt(
      path,
      `${path} is missing, but its log ${path}-wal exists and may hold memories that are stored nowhere else. Put the file back, or move the log away to start with an empty store`,
    );
  }
  // The file alone is what was put into it from its log: it is never ahead of the two together.
  const alone = await stateOf(path, true);
  const together = await stateOf(path, false);
  if (!alone || !together) return;
  // Its name may not have been put into it yet.
  const follows =
    (alone.space === undefined || alone.space === together.space) &&
    alone.lastEvent <= together.lastEvent &&
    alone.lastUse <= together.lastUse;
  if (follows) return;
  throw corrupt(
    path,
    `${path}-wal is the log of an older or another file than the one beside it, ${path}; nothing was changed. Move the log away to open this file as it is, or put back the file that the log belongs to`,
  );
}

interface FileState {
  readonly space: string | undefined;
  readonly lastEvent: number;
  readonly lastUse: number;
}

/** Undefined for what cannot be read: opening it says why. A connection that only reads never puts a log into its file. */
async function stateOf(path: string, immutable: boolean): Promise<FileState | undefined> {
  try {
    const connection = await connect(path, { readOnly: true, timeout: 1000, immutable });
    try {
      if (identify(connection) === 0) return undefined;
      const last = connection.get(
        'SELECT (SELECT coalesce(max(sequence), 0) FROM event) AS lastEvent, (SELECT coalesce(max(sequence), 0) FROM usage) AS lastUse',
      ) as Omit<FileState, 'space'>;
      return { space: readMeta(connection, 'space'), ...last };
    } finally {
      connection.close();
    }
  } catch {
    return undefined;
  }
}

let filesMade = 0;

/**
 * Makes the file of a new space, with a header and nothing else. It appears under its name all at once, so that an empty
 * file is never one that another process is just making, nor what a crash left of that.
 */
export async function makeFile(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })) return;
  const made = `${path}-new-${process.pid}-${++filesMade}`;
  try {
    // What a process of this number may have left when it was killed.
    await rm(made, { force: true });
    const connection = await connect(made, { readOnly: false, timeout: 0 });
    try {
      connection.database.exec('PRAGMA space.journal_mode = WAL');
    } finally {
      connection.close();
    }
    await link(made, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return;
      // Not every file system has links.
      return copyFile(made, path, constants.COPYFILE_EXCL);
    });
  } catch (error) {
    // Another process made it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(made, { force: true });
  }
}

/**
 * Remembers which files are open, and returns a check to be made before a commit: it throws `store_replaced` once the
 * file or its log has been deleted, moved or replaced, when whatever is written can be found by nobody.
 */
export function watchPresence(path: string): () => void {
  const files = [path, `${path}-wal`].flatMap((file) => {
    const inode = inodeOf(file);
    return inode === undefined ? [] : [{ file, inode }];
  });
  return () => {
    const lost = files.find(({ file, inode }) => inodeOf(file) !== inode);
    if (!lost) return;
    throw new SalienceError(
      'store_replaced',
      `${lost.file} was deleted, moved or replaced while it was open; nothing was changed. Put the file back if it is needed, close the space, and open it again`,
      { details: { path } },
    );
  };
}

function inodeOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}`;
}

function corrupt(path: string, message: string): SalienceError {
  return new SalienceError('store_corrupt', message, { details: { path } });
}
