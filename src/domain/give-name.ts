import { constants } from 'node:fs';
import { copyFile, link, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { waitForDisk, waitForNames } from './wait-for-disk.ts';

/**
 * Links or copies a complete file to `path`, and resolves when that is on disk. Throws `EEXIST` if it exists, so that concurrent
 * calls never replace a file.
 */
export async function giveName(made: string, path: string): Promise<void> {
  await link(made, path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    // Not every file system supports hard links.
    await copyFile(made, path, constants.COPYFILE_EXCL);
    const copy = await open(path, 'r+');
    await waitForDisk(copy).finally(() => copy.close());
  });
  await waitForNames(dirname(path));
}

/** Renames a complete file to `path`, where it replaces another one, and resolves when that is on disk. */
export async function replaceFile(made: string, path: string): Promise<void> {
  await rename(made, path);
  await waitForNames(dirname(path));
}
