import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Connection, connect } from './connection.ts';
import { checkLinks } from './directory.ts';
import { translateFileError } from './faults.ts';
import { readMeta } from './meta.ts';
import { identify } from './schema.ts';

const ours = /^[a-z0-9-]{1,40}-[0-9a-f]{16}\.db$/;

/**
 * The file name of a space: a readable part, which is safe on case-sensitive and case-insensitive disks, and the first 64
 * bits of the SHA-256 of the name, which make it unique.
 */
export function fileNameOf(space: string): string {
  const slug = space
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(space).digest('hex').slice(0, 16);
  return `${slug || 'space'}-${hash}.db`;
}

/** Whether two paths lead to one directory, which need not exist yet. */
export function isSameDirectory(one: string, other: string): boolean {
  return placeOf(one) === placeOf(other);
}

function placeOf(directory: string): string {
  return existsSync(directory) ? realpathSync(directory) : resolve(directory);
}

/** The path of a space's file, with symbolic links resolved, since SQLite keeps the log beside the real file. */
export function pathOf(directory: string, space: string): string {
  return linked(join(directory, fileNameOf(space)));
}

function linked(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    // There is no file yet, or a broken link, which opening it reports.
    return path;
  }
}

/**
 * Reads the names of the spaces in a directory from their files, sorted. Skips files that are not ours, cannot be read, or
 * have the file name of another space: opening such a space by its name would not find them. A missing directory has no
 * spaces. Throws `store_failed` and `store_read_only`.
 */
export async function listSpaceNames(directory: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const file of filesIn(directory)) {
    if (!ours.test(file)) continue;
    const name = await nameIn(linked(join(directory, file)));
    if (name !== undefined && fileNameOf(name) === file) names.push(name);
  }
  return names.sort();
}

/** The files of a directory; none of one that does not exist. Throws `store_failed` and `store_read_only`. */
export function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw translateFileError(error, directory);
    checkLinks(directory);
    return [];
  }
}

/** Whether a file exists. Throws `store_failed` if that cannot be determined. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw translateFileError(error, path);
  }
}

/** Bytes of a file and its log. One that is not there, or cannot be looked at any more, counts as 0. */
export function bytesOf(path: string): number {
  return sizeOf(path) + sizeOf(`${path}-wal`);
}

/** Whether a log with content lies beside the file. */
export function hasLog(path: string): boolean {
  return sizeOf(`${path}-wal`) > 0;
}

function sizeOf(file: string): number {
  // `existsSync` first: `statSync` throws if the parent path is a file.
  return existsSync(file) ? (statSync(file, { throwIfNoEntry: false })?.size ?? 0) : 0;
}

/** Removes a file and the files that SQLite keeps beside it. These go first, since a log without its file is refused. */
export async function removeFiles(path: string): Promise<void> {
  for (const suffix of ['-wal', '-shm', '-journal', '']) await rm(`${path}${suffix}`, { force: true });
}

/** The name of the space in a file; `undefined` for one that is not ours or cannot be read. */
export async function nameIn(path: string): Promise<string | undefined> {
  try {
    // Do not open an empty file: SQLite would delete its log.
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) return undefined;
  } catch {
    // A circular link, or one to an unreadable place, must not hide other spaces.
    return undefined;
  }
  // The name never changes. Without a log, the file can be opened as immutable, which creates no files beside it.
  for (const immutable of hasLog(path) ? [false] : [true, false]) {
    let connection: Connection | undefined;
    try {
      connection = await connect(path, { readOnly: true, timeout: 1000, immutable });
      if (identify(connection) > 0) return readMeta(connection, 'space');
    } catch {
      // The file is damaged, foreign or being created. Opening the space by name reports which.
    } finally {
      connection?.close();
    }
  }
  return undefined;
}
