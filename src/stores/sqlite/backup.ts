import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { invalidArgument } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { giveName } from '../../domain/give-name.ts';
import { removeLeftBehind, temporaryPrefix } from '../../domain/left-behind.ts';
import { waitForDisk } from '../../domain/wait-for-disk.ts';
import type { ReadAside } from './aside.ts';
import { type Connection, IN_MEMORY } from './connection.ts';
import { wholePath } from './directory.ts';
import { isCorrupt, translateFileError } from './faults.ts';
import { isSameDirectory } from './files.ts';

/** The prefix of the names of unfinished backups. */
const UNFINISHED = '.backup-';
const VACUUM = 'VACUUM space INTO ?';

/**
 * Writes a compact copy of the last committed state to a new file, and waits until it is on the disk. Throws `invalid_argument`
 * for a file that the store would take for a space. Throws `aborted` and leaves no file if `signal` aborts: the copy is one call of
 * SQLite that cannot be interrupted, so it ends first.
 */
export async function backupTo(
  connection: Connection,
  path: string,
  aside?: ReadAside,
  signal?: AbortSignal,
): Promise<void> {
  // The caller may have aborted while this backup waited for its turn.
  throwIfAborted(signal);
  const target = wholePath(path);
  if (existsSync(target)) throw alreadyThere(target);
  if (isAmongSpaces(target, connection)) {
    throw invalidArgument(
      'path',
      `${target} is in the folder of the store, where each .db file must be a space; choose another folder`,
    );
  }
  // The backup gets its name only when it is complete. Another backup to the same name then fails.
  removeLeftBehind(dirname(target), UNFINISHED);
  const made = join(dirname(target), `${temporaryPrefix(UNFINISHED)}${randomBytes(8).toString('hex')}`);
  try {
    if (!(await aside?.(connection.path, VACUUM, made))) {
      throwIfAborted(signal);
      await rm(made, { force: true });
      connection.run(VACUUM, made);
    }
    throwIfAborted(signal);
    const file = await open(made, 'r+');
    await waitForDisk(file).finally(() => file.close());
    throwIfAborted(signal);
    await giveName(made, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyThere(target);
    // SQLite does not say which of the two files is meant. What is damaged is the one that it reads.
    throw translateFileError(error, isCorrupt(error) ? connection.path : target);
  } finally {
    // SQLite leaves its journal if the disk is full.
    for (const path of [made, `${made}-journal`]) await rm(path, { force: true }).catch(() => undefined);
  }
}

/** Whether the store would take a file for that of a space. Its own file has another name, so `doctor` would report it. */
function isAmongSpaces(target: string, { path }: Connection): boolean {
  return target.endsWith('.db') && path !== IN_MEMORY && isSameDirectory(dirname(target), dirname(path));
}

function alreadyThere(target: string): SalienceError {
  return new SalienceError(
    'already_exists',
    `${target} exists already, and a backup overwrites nothing; give a new name`,
    { details: { path: target } },
  );
}
