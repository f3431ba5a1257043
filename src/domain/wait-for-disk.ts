import type { FileHandle } from 'node:fs/promises';

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
