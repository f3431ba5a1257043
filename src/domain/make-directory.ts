import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it, with a mode where one is given; one that is there stays as it is. One at a time:
 * Node.js, asked for all of them, says `ENOENT` of a file system that is read-only or full, and tries for ever below `/proc`.
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
    // It was there, or another process has made it meanwhile. Not every system says so in the same words.
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
