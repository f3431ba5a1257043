import { type FileHandle, open } from 'node:fs/promises';

/**
 * Resolves when everything written to a file is on disk. From Node.js 24.22.3 on, the permission model does not allow
 * waiting for it; the operating system then writes the file in its own time.
 */
export async function waitForDisk(file: Pick<FileHandle, 'sync'>): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!('permission' in process) || (error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED')
      throw error;
  }
}

/**
 * Resolves when the names in a folder are on disk. Before, a power cut can take back that a file was named, renamed or removed.
 * Ignores errors, as SQLite does: some systems, such as Windows, cannot wait for a folder.
 */
export async function waitForNames(folder: string): Promise<void> {
  const opened = await open(folder, 'r').catch(() => undefined);
  await opened?.sync().catch(() => undefined);
  await opened?.close();
}
