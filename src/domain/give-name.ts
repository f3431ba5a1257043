import { constants } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';

/** Links or copies a complete file to `path`. Throws `EEXIST` if it exists, so that concurrent calls never replace a file. */
export async function giveName(made: string, path: string): Promise<void> {
  await link(made, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    // Not every file system supports hard links.
    return copyFile(made, path, constants.COPYFILE_EXCL);
  });
}
