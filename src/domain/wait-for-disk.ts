import type { FileHandle } from 'node:fs/promises';

/**
 * Resolves when the disk has what was written to a file. Under the permission model Node.js lets nobody wait for it from
 * 24.22.3 on: there the system writes it in its own time.
 */
export async function waitForDisk(file: Pick<FileHandle, 'sync'>): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (!('permission' in process) || (error as NodeJS.ErrnoException).code !== 'ERR_ACCESS_DENIED')
      throw error;
  }
}
