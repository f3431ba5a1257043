import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';

/** Returns the absolute path of a file or directory. Throws `store_failed` if `path` is relative and there is no working directory. */
export function wholePath(path: string): string {
  try {
    return resolve(path);
  } catch (cause) {
    // `resolve` fails only if the working directory is gone.
    throw new SalienceError(
      'store_failed',
      `${path} cannot be found: the working directory is gone; change to one that exists, or give an absolute path`,
      { details: { path }, cause },
    );
  }
}

/** Throws `store_failed` if a path, or a directory above it, is a broken symbolic link. The path may be missing otherwise. */
export function checkLinks(directory: string): void {
  const link = brokenLink(directory);
  if (link === undefined) return;
  const target = resolve(dirname(link), readlinkSync(link));
  throw new SalienceError(
    'store_failed',
    `${link} leads to ${target}, which is not there; mount or make that, remove the link, or choose another directory`,
    { details: { path: link, target } },
  );
}

/** Finds the nearest existing entry at or above `path`. Returns its path if it is a broken symbolic link. */
function brokenLink(path: string): string | undefined {
  const entry = unlessMissing(() => lstatSync(path));
  if (entry === undefined) return dirname(path) === path ? undefined : brokenLink(dirname(path));
  return entry !== 'unknown' && entry.isSymbolicLink() && unlessMissing(() => statSync(path)) === undefined
    ? path
    : undefined;
}

/** Returns `undefined` if the entry is missing, and `'unknown'` after any other error, which opening the file will report. */
function unlessMissing<Found>(ask: () => Found): Found | 'unknown' | undefined {
  try {
    return ask();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unknown';
  }
}
