import { constants as access, accessSync, existsSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { SalienceError, type SalienceErrorCode } from '../../domain/errors.ts';
import { UNCHANGED } from '../../domain/written.ts';

/** Primary result codes of SQLite: https://sqlite.org/rescode.html */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOTADB = 26;
/** Extended result codes. */
const IOERR_SHMSIZE = 4874;
const CONSTRAINT_UNIQUE = 2067;

function resultCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
  if (typeof code === 'number') return code;
  // The driver omits the code if reading fails after the first row. We wrote all JSON in a file, so malformed JSON is damage.
  return error instanceof Error && /disk image is malformed|malformed JSON/.test(error.message)
    ? CORRUPT
    : undefined;
}

function primaryCode(error: unknown): number | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : code & 0xff;
}

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** Whether a file is damaged. */
export function isCorrupt(error: unknown): boolean {
  return primaryCode(error) === CORRUPT;
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === FULL || roomLimitOf(error) !== undefined;
}

export function isUniqueViolation(error: unknown): boolean {
  return resultCode(error) === CONSTRAINT_UNIQUE;
}

/** Whether a file could not be opened, or not be read because the files beside it cannot be written (no right or no space). */
export function isUnopenable(error: unknown): boolean {
  const code = primaryCode(error);
  return code === CANTOPEN || code === READONLY || isWithoutRoom(error);
}

/** Returns the error for an SQLite database that another program made. */
export function foreignDatabase(path: string): SalienceError {
  return new SalienceError(
    'not_a_store',
    `${path} is an SQLite database of another program; choose another directory, or move the file away`,
    { details: { path } },
  );
}

/** Whether the driver refused to return an integer beyond the safe range. No program of ours writes one. */
function isOutOfRange(error: unknown): boolean {
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_OUT_OF_RANGE') return true;
  // The npm driver has another code when it reads all rows at once.
  return error instanceof Error && /too large to be represented as a JavaScript number/.test(error.message);
}

/** Whether the `-shm` file could not grow. SQLite has no separate code for a full disk there. */
function isWithoutRoom(error: unknown): boolean {
  return resultCode(error) === IOERR_SHMSIZE;
}

/** Returns the `errno` that SQLite got from the system. Not every driver reports it. */
function systemNumber(error: unknown): unknown {
  return (error as { readonly systemErrno?: unknown } | undefined)?.systemErrno;
}

/** SQLite opens no path of 512 bytes, however long the system's may be. Names of files beside it are up to 30 bytes longer. */
const LONGEST_PATH = 512 - 30;

/** Returns `EMFILE` or `ENAMETOOLONG` if SQLite could not open a file because of a limit. */
function limitOf(error: unknown, path: string): string | undefined {
  if (primaryCode(error) !== CANTOPEN) return undefined;
  if (Buffer.byteLength(resolve(path)) > LONGEST_PATH) return 'ENAMETOOLONG';
  const number = systemNumber(error);
  return number === constants.errno.EMFILE || number === constants.errno.ENFILE ? 'EMFILE' : undefined;
}

/** Returns `EDQUOT` or `EFBIG` if a write failed at a quota or a limit of file size. SQLite reports a plain I/O error. */
function roomLimitOf(error: unknown): string | undefined {
  const number = systemNumber(error);
  // On some systems, one of these numbers is undefined.
  if (primaryCode(error) !== IOERR || number === undefined) return undefined;
  if (number === constants.errno.EDQUOT) return 'EDQUOT';
  return number === constants.errno.EFBIG ? 'EFBIG' : undefined;
}

/** The code of an error of the permission model of Node.js. Such errors have no `syscall`. */
const DENIED = 'ERR_ACCESS_DENIED';

/** Our own code for a directory or file that may not be listed or examined. */
const UNREADABLE = 'unreadable';

/**
 * Translates an error of the driver about `path` to a `SalienceError`. Returns any other error as it is. `outcome` is what the
 * message says of the state of the file; by default, that nothing was changed.
 */
export function translateError(error: unknown, path: string, outcome?: string): unknown {
  const code = isOutOfRange(error)
    ? CORRUPT
    : isWithoutRoom(error)
      ? FULL
      : (limitOf(error, path) ?? roomLimitOf(error) ?? primaryCode(error));
  return code === undefined ? error : translated(error, path, code, outcome);
}

/** Does the same as {@link translateError}, and also translates errors of the file system, which must be about `path`. */
export function translateFileError(error: unknown, path: string, outcome?: string): unknown {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if ((syscall === 'scandir' || syscall === 'stat') && (code === 'EACCES' || code === 'EPERM'))
    return translated(error, path, UNREADABLE, outcome);
  return code !== undefined && (syscall !== undefined || code === DENIED)
    ? translated(error, path, code, outcome)
    : translateError(error, path, outcome);
}

/** Returns the files that this user may not write to: the file of the space, else files beside it. Empty if there are none. */
export function unwritableOf(path: string): readonly string[] {
  return mayWrite(path) ? foreignBeside(path) : [path];
}

/**
 * Returns the `-wal` and `-shm` files that this user may not write to, if the user may write to the space itself. A reader that runs
 * as another user creates them and cannot remove them.
 */
function foreignBeside(path: string): readonly string[] {
  if (!mayWrite(path)) return [];
  return [`${path}-wal`, `${path}-shm`].filter((file) => existsSync(file) && !mayWrite(file));
}

export function mayWrite(path: string): boolean {
  try {
    accessSync(path, access.W_OK);
    return true;
  } catch {
    return false;
  }
}

function translated(
  cause: unknown,
  path: string,
  result: number | string,
  outcome = UNCHANGED,
): SalienceError {
  const foreign = result === READONLY || result === IOERR || result === CANTOPEN ? foreignBeside(path) : [];
  const [code, message] =
    foreign.length > 0 ? besideForeign(path, foreign, outcome) : describe(result, path, outcome);
  return new SalienceError(code, message, { details: { path }, cause });
}

function besideForeign(
  path: string,
  files: readonly string[],
  outcome: string,
): readonly [code: SalienceErrorCode, message: string] {
  return [
    'store_read_only',
    `${path} cannot be written to, because this user may not write to ${files.join(' and ')}; ${outcome}. Let this user write there too or, if no process uses the space and ${path}-wal is empty, delete both`,
  ];
}

function describe(
  code: number | string,
  path: string,
  outcome: string,
): readonly [code: SalienceErrorCode, message: string] {
  switch (code) {
    case BUSY:
    case LOCKED:
      return [
        'store_busy',
        `${path} is locked by another process; ${outcome}. Try again, or raise busyTimeout, an option of createSqliteStore`,
      ];
    case READONLY:
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return [
        'store_read_only',
        `${path} cannot be written to; ${outcome}. Check its permissions and those of its directory, or open the space only to read`,
      ];
    case UNREADABLE:
      return [
        'store_failed',
        `${path} cannot be looked into; check its permissions and those of the folders above it`,
      ];
    case DENIED:
      return [
        'store_failed',
        `${path} may not be used under --permission of Node.js; ${outcome}. Allow it with --allow-fs-read and --allow-fs-write`,
      ];
    case FULL:
    case 'ENOSPC':
    case 'EDQUOT':
      return ['store_full', `no space is left on the disk of ${path}; ${outcome}. Free some, and try again`];
    case 'EFBIG':
      return [
        'store_full',
        `${path}, or its log, would be longer than a file may be here; ${outcome}. Raise the limit of the process (ulimit -f), or use a file system that allows longer files`,
      ];
    case IOERR:
      return [
        'store_failed',
        `the system could not read or write ${path} or its log; check that the disk is sound and still there, and that no quota or limit of the size of files (ulimit -f) is reached`,
      ];
    // Our statements fit the tables that we make. If one fails with these codes, something else has changed the tables.
    case ERROR:
    case CONSTRAINT:
    case MISMATCH:
      return ['store_corrupt', `${path} is damaged; restore it from a backup`];
    // SQLite reports damage too where a disk fails to read.
    case CORRUPT:
      return [
        'store_corrupt',
        `${path} is damaged, or its disk cannot be read. Check the disk and try again; if the error stays, restore the file from a backup`,
      ];
    case NOTADB:
      return [
        'not_a_store',
        `${path} is not a store of this engine; choose another directory, or move the file away`,
      ];
    case CANTOPEN:
      return [
        'store_failed',
        `${path} cannot be opened; check that it and its directory exist and may be read and written, and that no limit of open files (ulimit -n) is reached`,
      ];
    case 'ENOENT':
      return [
        'store_failed',
        `${path}, or a folder above it, is not there; check that nothing removes it, and that no link leads nowhere`,
      ];
    case 'ELOOP':
      return [
        'store_failed',
        `${path} cannot be opened, because links lead in a circle there; mend the links, or choose another directory`,
      ];
    case 'ENAMETOOLONG':
      return [
        'store_failed',
        `${path} is longer than SQLite or the file system allows; choose a shorter path`,
      ];
    case 'EMFILE':
    case 'ENFILE':
      return [
        'store_failed',
        `${path} cannot be opened, because too many files are open; raise the limit (ulimit -n), or keep fewer spaces open`,
      ];
    case 'ENOTDIR':
    // Newer releases of Node.js report this code if a directory cannot be made because a file has its name.
    case 'EEXIST':
      return [
        'store_failed',
        `${path} cannot be opened, because it or a folder above it is a file; choose a directory`,
      ];
    default:
      return [
        'store_failed',
        `${path}: ${typeof code === 'number' ? `SQLite failed with result code ${code}` : `system error ${code}`}; its own message is the cause`,
      ];
  }
}
