import { access, constants } from 'node:fs/promises';
import { SalienceError } from '../../domain/errors.ts';
import { type Connection, retryWhileBusy } from './connection.ts';
import { isBusy, isFull, translateFileError } from './faults.ts';
import { removeFiles } from './files.ts';
import { type FileSettings, openAlone, openWriter } from './opening.ts';

/** Milliseconds to wait for others that have the space open. Waiting for seconds would rarely help. */
const PATIENCE = 1000;

/**
 * Deletes the files of a space that this store does not have open. Throws `store_busy` while another store or process has it
 * open, since that one would continue to write into deleted files; `not_a_store` for the file of another space or program.
 */
export async function deleteSpaceFiles(path: string, space: string, settings: FileSettings): Promise<void> {
  const patience = Math.min(settings.busyTimeout, PATIENCE);
  const connection = await openWriter(path, space, settings).catch((error: unknown) => {
    // A damaged file can still be deleted.
    if (SalienceError.isInstance(error) && error.code === 'store_corrupt') return undefined;
    // A space is also deleted to make room.
    if (SalienceError.isInstance(error) && error.code === 'store_full')
      return withoutRoom(path, space, patience);
    throw error;
  });
  try {
    await access(path, constants.W_OK);
    if (connection) await takeAlone(connection, path, patience);
    // Windows cannot delete open files. Closing first means that another process could open the file in between.
    if (process.platform === 'win32') connection?.close();
    await removeFiles(path);
  } catch (error) {
    throw translateFileError(error, path);
  } finally {
    connection?.close();
  }
}

/** Opens a file on a full disk, where the files through which processes coordinate cannot be created: exclusively, none is needed. */
async function withoutRoom(path: string, space: string, patience: number): Promise<Connection> {
  try {
    return await retryWhileBusy(patience, () => openAlone(path, space));
  } catch (error) {
    throw isBusy(error) ? busy(path, error) : translateFileError(error, path);
  }
}

/** Waits until this is the only connection of any process to the file, and locks out others. */
async function takeAlone({ database }: Connection, path: string, patience: number): Promise<void> {
  try {
    // Leaving write-ahead log mode takes an exclusive lock.
    await retryWhileBusy(patience, () =>
      database.exec(
        'PRAGMA space.locking_mode = EXCLUSIVE; PRAGMA space.journal_mode = DELETE; BEGIN EXCLUSIVE',
      ),
    );
  } catch (cause) {
    // The log could not be put into the file, which is tried when nobody else has it open. Both go now.
    if (isFull(cause)) return;
    if (!isBusy(cause)) throw cause;
    throw busy(path, cause);
  }
}

function busy(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'store_busy',
    `another process, or another store of this one, has the space open, and nothing was deleted; close it there and try again: ${path}`,
    { details: { path }, cause },
  );
}
