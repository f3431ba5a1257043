import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';

/** The whole path of a file or directory. Throws `store_failed` where a relative one has nothing to start from. */
export function wholePath(path: string): string {
  try {
    return resolve(path);
  } catch (cause) {
    // The system refuses nothing else here.
    throw new SalienceError(
      'store_failed',
      `${path} cannot be found: the working directory is gone; change to one that exists, or give an absolute path`,
      { details: { path }, cause },
    );
  }
}

/** Throws `store_failed` where a directory, or one above it, is a link to what is not there. It may be missing otherwise. */
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

/** The nearest thing of a path that is there, if it is a link that leads nowhere. */
function brokenLink(path: string): string | undefined {
  const entry = unlessMissing(() => lstatSync(path));
  if (entry === undefined) return dirname(path) === path ? undefined : brokenLink(dirname(path));
  return entry !== 'unknown' && entry.isSymbolicLink() && unlessMissing(() => statSync(path)) === undefined
    ? path
    : undefined;
}

/** `undefined` for what is not there; what may not be asked is left to whoever opens it. */
function unlessMissing<Found>(ask: () => Found): Found | 'unknown' | undefined {
  try {
    return ask();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unknown';
  }
}
