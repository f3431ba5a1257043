import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { SalienceError } from '../../domain/errors.ts';
import { giveName } from '../../domain/give-name.ts';
import { connect } from './connection.ts';
import { translateFileError } from './faults.ts';
import { hasLog } from './files.ts';
import { findLogDamage, type LogDamage } from './log-damage.ts';
import { readMeta } from './meta.ts';
import { identify } from './schema.ts';

/** Milliseconds to wait before files that seem damaged are checked again. */
const PAUSES = [20, 60];

/**
 * Refuses, before anything is changed, files that SQLite would treat as a new database or mix up: an empty file, a log
 * without its file, a log that is damaged in the middle, and a log beside a newer file or one of another space. Throws
 * `store_corrupt`, and `store_failed` if something other than a file has the name of one.
 */
export async function checkFiles(path: string): Promise<void> {
  let problem = await asked(path);
  // Check again after a pause: another process may be deleting or creating the space. Real damage stays.
  for (const pause of PAUSES) {
    if (problem === undefined) return;
    await wait(pause);
    const again = await asked(path);
    problem = again === problem ? again : undefined;
  }
  if (problem !== undefined) throw new SalienceError('store_corrupt', problem, { details: { path } });
}

function asked(path: string): Promise<string | undefined> {
  return problemOf(path).catch((error: unknown) => {
    throw translateFileError(error, path);
  });
}

/** The path of a non-empty log whose file is missing. SQLite would apply it to any new file of that name. */
export function leftBehind(path: string): string | undefined {
  if (hasLog(path)) return `${path}-wal`;
  return existsSync(`${path}-journal`) ? `${path}-journal` : undefined;
}

/** Throws `store_failed` for a directory or the like, for which the error of SQLite gives no reason. */
function mustBeFiles(path: string): void {
  for (const file of ['', '-wal', '-shm', '-journal'].map((suffix) => `${path}${suffix}`)) {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) {
      throw new SalienceError(
        'store_failed',
        `${file} is a directory or a device where a file belongs; move it away, and put the file back if there was one`,
        { details: { path: file } },
      );
    }
  }
}

async function problemOf(path: string): Promise<string | undefined> {
  mustBeFiles(path);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === 0) {
    return `${path} is empty, so it was truncated. Restore it from a backup, or delete it to start with an empty store`;
  }
  if (size === undefined) {
    const log = leftBehind(path);
    return (
      log &&
      `${path} is missing, but its log ${log} exists and may hold memories that are stored nowhere else. Put the file back, or move the log away to start with an empty store`
    );
  }
  if (!hasLog(path)) return undefined;
  const damage = await damageOfLog(path);
  if (damage) {
    const { good, lost } = damage;
    const remedy =
      good === 0
        ? 'move the log away to open the file as it is without it'
        : `cut a copy of the log to its first ${good} bytes (truncate -s ${good}) to open the space as it was before them`;
    return `${path}-wal is damaged, so that ${lost} later writes in it cannot be read; nothing was changed. Restore the space from a backup, or ${remedy}`;
  }
  // The file alone has only what was moved into it from its log, so it cannot be ahead of file and log together.
  const alone = await stateOf(path, true);
  const together = await stateOf(path, false);
  if (!alone || !together) return undefined;
  // The name of the space may still be only in the log.
  const follows =
    (alone.space === undefined || alone.space === together.space) &&
    alone.lastEvent <= together.lastEvent &&
    alone.lastUse <= together.lastUse;
  if (follows) return undefined;
  return `${path}-wal is the log of an older or another file than the one beside it, ${path}; nothing was changed. Move the log away to open this file as it is, or put back the file that the log belongs to`;
}

/** Returns the damage of a log; `undefined` if there is none, or if another process removes the log meanwhile. */
async function damageOfLog(path: string): Promise<LogDamage | undefined> {
  try {
    return await findLogDamage(`${path}-wal`, await pageBytesOf(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Reads the page size from the header of the file. */
async function pageBytesOf(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(18);
    await file.read(header, 0, header.length, 0);
    const bytes = header.readUInt16BE(16);
    return bytes === 1 ? 65_536 : bytes || 4096;
  } finally {
    await file.close();
  }
}

interface FileState {
  readonly space: string | undefined;
  readonly lastEvent: number;
  readonly lastUse: number;
}

/** `undefined` if the file cannot be read; opening it reports why. A read-only connection never moves a log into its file. */
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

/** Moves a complete file to another name. Throws if the name is taken; a plain rename would replace a file of another process. */
export function moveTo(made: string, path: string): void {
  try {
    linkSync(made, path);
  } catch (error) {
    if (existsSync(path)) throw error;
    // Not every file system supports hard links.
    renameSync(made, path);
  }
  rmSync(made, { force: true });
}

let filesMade = 0;

/**
 * Creates the file of a new space, with only a header. The file appears under its name atomically, so that an empty file is
 * never one that another process is still creating or that a crash left behind.
 */
export async function makeFile(path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })) return;
  const made = `${path}-new-${process.pid}-${++filesMade}`;
  try {
    // A killed process with the same process id may have left this file.
    await rm(made, { force: true });
    const connection = await connect(made, { readOnly: false, timeout: 0, makes: true });
    try {
      connection.database.exec('PRAGMA space.journal_mode = WAL');
    } finally {
      connection.close();
    }
    await giveName(made, path);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(made, { force: true });
  }
}

/** The files of a space that is open. */
export interface Presence {
  /**
   * Must be called before a commit. Throws `store_replaced` if the file, its log or its shared memory was deleted, moved or
   * replaced: the write would be lost, or would overwrite that of another process. Throws `store_failed` if that cannot be
   * determined, such as when the directory may not be entered any more.
   */
  check(): void;
  /**
   * Whether other processes may have written to the log without this one noticing: only its shared memory was replaced, or
   * that cannot be determined. Never throws.
   */
  sharesLogUnseen(): boolean;
}

/** Records the identity of the open files. */
export function watchPresence(path: string): Presence {
  const files = ['', '-wal', '-shm'].flatMap((suffix) => {
    const file = `${path}${suffix}`;
    const inode = inodeOf(file);
    return inode === undefined ? [] : [{ file, inode, suffix }];
  });
  const lost = () => files.filter(({ file, inode }) => inodeOf(file) !== inode);
  return {
    check() {
      const [first] = lookAt(lost, path);
      if (!first) return;
      const remedy = first.suffix === '-shm' ? 'Close' : 'Put the file back if it is needed, close';
      throw new SalienceError(
        'store_replaced',
        `${first.file} was deleted, moved or replaced while it was open; nothing was changed. ${remedy} the space, and open it again`,
        { details: { path } },
      );
    },
    sharesLogUnseen() {
      try {
        return lost()[0]?.suffix === '-shm';
      } catch {
        return true;
      }
    },
  };
}

/** Looks at files. Throws an error of the system, such as that of a directory that became a file, as one about `path`. */
function lookAt<Result>(look: () => Result, path: string): Result {
  try {
    return look();
  } catch (error) {
    throw translateFileError(error, path);
  }
}

/** The identity of a file, independent of its name; `undefined` if there is no file. */
export function inodeOf(file: string): string | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true });
    return found && `${found.dev}:${found.ino}`;
  } catch (error) {
    // If the folder became a file, some versions of Node.js throw this, and others report that there is no file.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
