import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents, with `mode` if given. Existing directories stay unchanged. Does not use the
 * `recursive` option of Node.js, which reports `ENOENT` for a read-only or full file system and never ends below `/proc`.
 */
export function makeDirectory(directory: string, mode?: number): void {
  try {
    make(directory, mode);
  } catch (error) {
    const above = dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === directory) throw error;
    makeDirectory(above, mode);
    make(directory, mode);
  }
}

function make(directory: string, mode: number | undefined): void {
  try {
    mkdirSync(directory, mode);
  } catch (error) {
    // It exists, perhaps created by another process meanwhile. The error code for that depends on the system.
    if (!isDirectory(directory)) throw error;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
