import { constants } from 'node:fs';
import { copyFile, link } from 'node:fs/promises';

/** Gives a whole file the name `path` too. Throws `EEXIST` where that is taken: two that do this at once do not replace each other. */
export async function giveName(made: string, path: string): Promise<void> {
  await link(made, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw error;
    // Not every file system has links.
    return copyFile(made, path, constants.COPYFILE_EXCL);
  });
}
