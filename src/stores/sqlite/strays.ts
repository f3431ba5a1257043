import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import { checkLinks } from './directory.ts';
import { fileNameOf, filesIn, hasLog, nameIn } from './files.ts';
import { openReader } from './opening.ts';
import { checkFiles } from './presence.ts';

/**
 * Describes the files of a directory that no space name leads to: unreadable files, and files whose name does not match the space
 * inside. Returns one sentence per file, sorted by file name.
 */
export async function describeStrays(directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of [...filesIn(directory)].sort()) {
    const path = join(directory, file);
    if (file.endsWith('.db-wal')) {
      const whose = path.slice(0, -'-wal'.length);
      if (!existsSync(whose) && hasLog(whose)) found.push((await whyUnreadable(whose)).message);
    }
    if (!file.endsWith('.db')) continue;
    const space = await nameIn(path);
    if (space === undefined) found.push((await whyUnreadable(path)).message);
    else if (fileNameOf(space) !== file) found.push(misnamed(directory, path, space));
  }
  return found;
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
