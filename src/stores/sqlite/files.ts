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
 * The file name of a space: a readable part, safe on every disk whether it tells cases apart or not, and the first
 * 64 bits of the SHA-256 of the name, which tell spaces apart.
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

/** The path of a space's file: of a link, what it leads to, since SQLite keeps the log beside that. */
export function pathOf(directory: string, space: string): string {
  return linked(join(directory, fileNameOf(space)));
}

function linked(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    // None yet, or a link that leads nowhere: opening it says so.
    return path;
  }
}

/**
 * The names of the spaces in a directory, sorted, as their files tell them. Files that are not ours, cannot be read, or
 * have the name of another space's file are passed over: by its name no such space is found. A directory that does not
 * exist has none. Throws `store_failed` and `store_read_only`.
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

/** Whether there is a file. Throws `store_failed` where that cannot be asked, which is no reason to call it missing. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw translateFileError(error, path);
  }
}

/** Bytes of a file and its log. */
export function bytesOf(path: string): number {
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Whether a log with content lies beside the file. */
export function hasLog(path: string): boolean {
  const log = `${path}-wal`;
  // Asking for the size of what would lie in a file, and not in a directory, throws.
  return existsSync(log) && (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Removes a file with what SQLite keeps beside it, which goes first: a log without its file is refused. */
export async function removeFiles(path: string): Promise<void> {
  for (const suffix of ['-wal', '-shm', '-journal', '']) await rm(`${path}${suffix}`, { force: true });
}

/** The name of the space in a file; `undefined` for one that is not ours or cannot be read. */
export async function nameIn(path: string): Promise<string | undefined> {
  try {
    // SQLite takes away the log of an empty file.
    if (statSync(path, { throwIfNoEntry: false })?.size === 0) return undefined;
  } catch {
    // A link that leads in a circle, or to where one may not look, hides no other space.
    return undefined;
  }
  // The name never changes, so without a log the file alone will do, and nothing is made beside it.
  for (const immutable of hasLog(path) ? [false] : [true, false]) {
    let connection: Connection | undefined;
    try {
      connection = await connect(path, { readOnly: true, timeout: 1000, immutable });
      if (identify(connection) > 0) return readMeta(connection, 'space');
    } catch {
      // Damaged, foreign or just being made: opening that space by its name says which.
    } finally {
      connection?.close();
    }
  }
  return undefined;
}
