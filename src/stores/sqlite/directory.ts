import { resolve } from 'node:path';
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
