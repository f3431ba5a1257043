import { randomUUID } from 'node:crypto';
import { access, constants, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { filePath, invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { giveName } from '../domain/give-name.ts';
import { removeLeftBehind, temporaryPrefix } from '../domain/left-behind.ts';
import { waitForDisk } from '../domain/wait-for-disk.ts';

/** Begins the names of files that are not whole yet. */
const UNFINISHED = '.salience-output-';

/**
 * Writes a file that is complete or not there: into a temporary file beside it, which then takes its name.
 * Throws `invalid_argument` for no name, `already_exists` unless it may be replaced, `unwritable_file`, and what `fill` throws.
 */
export async function writeFileAtomically(
  path: string,
  options: {
    readonly replace: boolean /** Who may read it. Default is what the process sets. */;
    readonly mode?: number;
  },
  fill: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  // A variable of a script that is not set is an empty name, which the system would take for the folder.
  const folder = dirname(filePath(path, 'output'));
  removeLeftBehind(folder, UNFINISHED);
  const temporary = join(folder, `${temporaryPrefix(UNFINISHED)}${randomUUID().slice(0, 8)}`);
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
      await waitForDisk(handle);
    } finally {
      await handle.close();
    }
    await publish(temporary, path, options.replace);
  } finally {
    // It would hide what failed, and after a rename nothing is there.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/**
 * Before work whose result would be lost: throws `invalid_argument` where an output, by its option, is a file that the
 * command reads or another of its outputs, however the path is written; `unwritable_file` where nothing can be written beside it.
 */
export async function checkOutputs(
  outputs: Readonly<Record<string, string | undefined>>,
  inputs: readonly string[],
): Promise<void> {
  const taken = new Map<string, string>();
  for (const input of inputs) taken.set(await identityOf(input), 'read by this command');
  for (const [option, path] of Object.entries(outputs)) {
    if (path === undefined) continue;
    const identity = await identityOf(filePath(path, option));
    const use = taken.get(identity);
    if (use !== undefined) throw invalidArgument(option, `${path} is ${use} too; name another file`);
    taken.set(identity, `that of ${option}`);
    await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
      throw unwritable(path, cause);
    });
  }
}

/** Before work whose result would be lost: throws `already_exists` where there is a file, or a link to one. */
export async function checkNotThere(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found) throw alreadyExists(path);
}

/** The same for every path of a file, and for no other file. */
async function identityOf(path: string): Promise<string> {
  const file = await stat(path, { bigint: true }).catch(() => undefined);
  if (file) return `${file.dev}:${file.ino}`;
  const folder = resolve(dirname(path));
  return join(await realpath(folder).catch(() => folder), basename(path));
}

async function publish(temporary: string, path: string, replace: boolean): Promise<void> {
  try {
    // A link, unlike a rename, fails when the name is taken, also by another process a moment ago.
    await (replace ? rename(temporary, path) : giveName(temporary, path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
    throw alreadyExists(path, cause);
  }
}

function alreadyExists(path: string, cause?: unknown): SalienceError {
  return new SalienceError('already_exists', `${path} exists already; name another file, or give --force`, {
    details: { file: path },
    cause,
  });
}

function unwritable(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'unwritable_file',
    `${path} cannot be written (${(cause as Error).message}); check that its folder exists, that you may write there and that the disk has room`,
    { details: { file: path }, cause },
  );
}
