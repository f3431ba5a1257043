import { randomUUID } from 'node:crypto';
import { access, constants, lstat, open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { filePath, invalidArgument } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { giveName, replaceFile } from '../domain/give-name.ts';
import { removeLeftBehind, temporaryPrefix } from '../domain/left-behind.ts';
import { waitForDisk } from '../domain/wait-for-disk.ts';

/** Paths of files that a process has open. */
const DESCRIPTOR = /^\/(dev\/(stdin|stdout|stderr|fd\/\d+)|proc\/(self|\d+)\/fd\/\d+)$/;

/** The prefix of unfinished files. */
const UNFINISHED = '.salience-output-';

/**
 * Writes a file atomically: into a temporary file next to it, which is then renamed. A file that is replaced keeps its
 * permissions, and a link to it stays. Throws what `fill` throws and, before it is called if possible, `invalid_argument`
 * for an empty path, `already_exists` unless `replace` is set, and `unwritable_file`, also for a folder, a device or a pipe.
 */
export async function writeFileAtomically(
  path: string,
  options: {
    readonly replace: boolean;
    /** Who may read a new file. Default is what the process sets. */
    readonly mode?: number;
  },
  fill: (write: (text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  // An unset variable of a script gives an empty path, which the system would take for the folder.
  filePath(path, 'output');
  const { place, mode } = await placeOf(path);
  if (!options.replace) await checkNotThere(path);
  const folder = dirname(place);
  removeLeftBehind(folder, UNFINISHED);
  const temporary = join(folder, `${temporaryPrefix(UNFINISHED)}${randomUUID().slice(0, 8)}`);
  const handle = await open(temporary, 'wx', mode ?? options.mode).catch((cause: unknown) => {
    throw unwritable(path, cause);
  });
  try {
    try {
      // `open` only takes permissions away, which is enough where this is not possible.
      if (mode !== undefined) await handle.chmod(mode).catch(() => undefined);
      await fill(async (text) => {
        await handle.writeFile(text).catch((cause: unknown) => {
          throw unwritable(path, cause);
        });
      });
      await waitForDisk(handle);
    } finally {
      await handle.close();
    }
    await publish(temporary, place, options.replace);
  } finally {
    // An error here would hide the original one, and after the rename there is no file to remove.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/**
 * Checks the outputs before work whose result would be lost. `outputs` holds paths by option. Throws `invalid_argument`
 * if one is `-`, a file that the command reads, or another output, however the path is written; `unwritable_file` if it
 * is something else than a file, or its folder cannot be written.
 */
export async function checkOutputs(
  outputs: Readonly<Record<string, string | undefined>>,
  inputs: readonly string[],
): Promise<void> {
  const taken = new Map<string, string>();
  for (const input of inputs) taken.set(await identityOf(input), 'read by this command');
  for (const [option, path] of Object.entries(outputs)) {
    if (path === undefined) continue;
    refuseStdout(path, option);
    const identity = await identityOf(filePath(path, option));
    const use = taken.get(identity);
    if (use !== undefined) throw invalidArgument(option, `${path} is ${use} too; name another file`);
    taken.set(identity, `that of ${option}`);
    const { place } = await placeOf(path);
    await access(dirname(place), constants.W_OK).catch((cause: unknown) => {
      throw unwritable(path, cause);
    });
  }
}

/** Throws `invalid_argument` for `-`, which would become a file of that name, although it stands for stdout elsewhere. */
export function refuseStdout(path: string, option: string): void {
  if (path !== '-') return;
  throw invalidArgument(option, 'stdout (-) is not possible here; name a file, or write ./- for one named -');
}

/** Checks an output before work whose result would be lost. Throws `already_exists` for an existing file or link. */
export async function checkNotThere(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found) throw alreadyExists(path);
}

/**
 * Returns the file behind a path, which may be a link, and its permissions if it exists. Throws `unwritable_file` for
 * anything but a file: renaming a file to a device or a pipe would put the file in its place. A path such as `/dev/stdout`
 * is none either, even if it leads to a file: the process would go on writing to the one that was replaced.
 */
async function placeOf(path: string): Promise<{ readonly place: string; readonly mode?: number }> {
  const found = await stat(path).catch(() => undefined);
  if (!found) return { place: path };
  if (!found.isFile() || DESCRIPTOR.test(resolve(path))) {
    throw new SalienceError('unwritable_file', `${path} is not a file, so it is not replaced; name a file`, {
      details: { file: path },
    });
  }
  return { place: await realpath(path).catch(() => path), mode: found.mode & 0o777 };
}

/** Returns a key that is the same for all paths of a file. */
async function identityOf(path: string): Promise<string> {
  const file = await stat(path, { bigint: true }).catch(() => undefined);
  if (file) return `${file.dev}:${file.ino}`;
  const folder = resolve(dirname(path));
  return join(await realpath(folder).catch(() => folder), basename(path));
}

async function publish(temporary: string, path: string, replace: boolean): Promise<void> {
  try {
    // Unlike `rename`, `giveName` fails if the name is taken, even if another process took it a moment ago.
    await (replace ? replaceFile(temporary, path) : giveName(temporary, path));
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
  // "ENOENT: no such file or directory, open '…'" names the temporary file, which the caller did not.
  const [reason] = (cause as Error).message.split(/, \w+ '/);
  return new SalienceError(
    'unwritable_file',
    `${path} cannot be written (${reason}); check that its folder exists, that you may write there and that the disk has room`,
    { details: { file: path }, cause },
  );
}
