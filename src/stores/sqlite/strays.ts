import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SalienceError } from '../../domain/errors.ts';
import { checkLinks } from './directory.ts';
import { fileNameOf, filesIn, hasLog, nameIn } from './files.ts';
import { openReader } from './opening.ts';
import { checkFiles } from './presence.ts';

/** Milliseconds to wait before files that seem to be strays are looked at again. */
const PAUSES = [20, 80, 300];

/**
 * Describes the files of a directory that no space name leads to: unreadable files, and files whose name does not match the space
 * inside. Returns one sentence per file, sorted by file name.
 */
export async function describeStrays(
  directory: string,
  pause: (milliseconds: number) => Promise<unknown> = wait,
): Promise<readonly string[]> {
  let strays = await strayAmong(directory, filesIn(directory));
  // Look again after a pause: another process may be creating or deleting the space. A stray stays.
  for (const milliseconds of PAUSES) {
    if (strays.size === 0) break;
    await pause(milliseconds);
    strays = await strayAmong(directory, strays.keys());
  }
  return [...strays].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, problem]) => problem);
}

async function strayAmong(directory: string, files: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const file of files) {
    const problem = await problemOf(directory, file);
    if (problem !== undefined) found.set(file, problem);
  }
  return found;
}

async function problemOf(directory: string, file: string): Promise<string | undefined> {
  const path = join(directory, file);
  if (file.endsWith('.db-wal')) {
    const whose = path.slice(0, -'-wal'.length);
    return !existsSync(whose) && hasLog(whose) ? (await whyUnreadable(whose)).message : undefined;
  }
  if (!file.endsWith('.db') || !lstatSync(path, { throwIfNoEntry: false })) return undefined;
  const space = await nameIn(path);
  if (space === undefined) return (await whyUnreadable(path)).message;
  return fileNameOf(space) === file ? undefined : misnamed(directory, path, space);
}

/** Returns the error that says why a file cannot be read as a space or as a backup of one. */
export async function whyUnreadable(path: string): Promise<SalienceError> {
  try {
    checkLinks(path);
    await checkFiles(path);
    // No space is named '', so this throws.
    const connection = await openReader(path, '', { synchronous: 'full', busyTimeout: 1000 });
    connection.close();
  } catch (error) {
    if (SalienceError.isInstance(error)) return error;
    throw error;
  }
  return new SalienceError(
    'store_corrupt',
    `${path} holds a space without a name; restore it from a backup`,
    {
      details: { path },
    },
  );
}

function misnamed(directory: string, path: string, space: string): string {
  const right = fileNameOf(space);
  const advice = existsSync(join(directory, right))
    ? `the store has that file too, so move this one out of ${directory}`
    : `rename it to ${right}`;
  return `${path} holds the space ${JSON.stringify(space)}, whose file must be named ${right}; ${advice}`;
}
