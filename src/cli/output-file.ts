import { randomUUID } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { SalienceError } from '../domain/errors.ts';

/**
 * Writes a file that is complete or not there: into a temporary file beside it, which then takes its name.
 * Throws `already_exists` unless it may be replaced, `unwritable_file`, and what `fill` throws.
 */
export async function writeFileAtomically(
  path: string,
  options: {
    readonly replace: boolean /** Who may read it. Default is what the process sets. */;
    readonly mode?: number;
  },
  fill: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.tmp`;
  const handle = await open(temporary, 'wx', options.mode).catch((cause: unknown) => {
    throw unwritable(path, cause);
  });
  try {
    try {
      await fill(async (text) => {
        await handle.writeFile(text).catch((cause: unknown) => {
          throw unwritable(path, cause);
        });
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    await giveName(temporary, path, options.replace);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function giveName(temporary: string, path: string, replace: boolean): Promise<void> {
  try {
    // A link, unlike a rename, fails when the name is taken, also by another process a moment ago.
    await (replace ? rename(temporary, path) : link(temporary, path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
    throw new SalienceError('already_exists', `${path} exists already; name another file, or give --force`, {
      details: { file: path },
      cause,
    });
  }
}

function unwritable(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unwritable_file',
    `${path} cannot be written (${(cause as Error).message}); check that its folder exists, that you may write there and that the disk has room`,
    { details: { file: path }, cause },
  );
}
