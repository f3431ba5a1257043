import { existsSync } from 'node:fs';
import { access, constants, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copySpaces } from './copy-spaces.ts';
import { callback, filePath } from './domain/check.ts';
import { SalienceError } from './domain/errors.ts';
import { removeLeftBehind, temporaryPrefix } from './domain/left-behind.ts';
import { keysOf, onlyKeys } from './domain/options.ts';
import { openMemory } from './open.ts';
import type { Store } from './store/store.ts';
import { translateFileError } from './stores/sqlite/faults.ts';
import { fileNameOf, nameIn } from './stores/sqlite/files.ts';
import { whyUnreadable } from './stores/sqlite/strays.ts';

export interface RestoreSpaceOptions {
  /** A file written by `memory.backup` or `salience backup`, or the file of a space that is not open, with its log beside it. */
  readonly file: string;
  /** The destination: the directory of a file store, or a store such as `postgres(url)`. */
  readonly to: string | Store;
  readonly signal?: AbortSignal | undefined;
  /** Called after each page with the rows of the space that were read, and their approximate total. */
  progress?(done: number, total: number): void;
}

const optionKeys = keysOf<RestoreSpaceOptions>()({ file: true, to: true, signal: true, progress: true });

/** The prefix of the temporary folders in which backups are checked. */
const RESTORING = 'salience-restore-';

/** A restored space. */
export interface RestoredSpace {
  readonly space: string;
  /** How many memories it has. */
  readonly memories: number;
}

/**
 * Restores a space from a backup under its own name, with all its content. Checks the backup first and does not change it.
 * Never replaces an existing space.
 *
 * @throws `already_exists`: `to` has a space of that name. `store_corrupt`: the backup is damaged. `not_a_store`: the file is
 * not a backup. `unreadable_file`, `newer_store`, `aborted`, `invalid_argument`, and the codes that begin with `store_`.
 * @example
 * ```ts
 * import { openMemory, restoreSpace } from 'salience';
 * await using memory = await openMemory({ path: './memory', space: 'alice' });
 * await memory.backup('./alice-backup.db');
 * const { space, memories } = await restoreSpace({ file: './alice-backup.db', to: './restored' });
 * ```
 */
export async function restoreSpace(options: RestoreSpaceOptions): Promise<RestoredSpace> {
  onlyKeys(options, optionKeys, 'restoreSpace');
  const { to, signal, progress } = options;
  const file = filePath(options.file, 'file');
  if (progress !== undefined) callback(progress, 'progress');
  const space = existsSync(file) ? await nameIn(file) : undefined;
  if (space === undefined) throw await noBackup(file);
  // Works on a copy, because opening may migrate an older schema, and the backup must not change.
  removeLeftBehind(tmpdir(), RESTORING);
  const directory = await mkdtemp(join(tmpdir(), temporaryPrefix(RESTORING))).catch((error) => {
    throw translateFileError(error, tmpdir());
  });
  try {
    const copied = join(directory, fileNameOf(space));
    // A killed process leaves a file with its log.
    const files = ['', '-wal', '-journal'].filter((suffix) => existsSync(`${file}${suffix}`));
    for (const suffix of files) {
      await copyFile(`${file}${suffix}`, `${copied}${suffix}`).catch((error) => {
        throw translateFileError(error, directory);
      });
    }
    await checkWhole(file, directory, space, signal);
    const [copy] = await copySpaces({
      ...{ from: directory, to, spaces: [space], signal },
      progress: (_, done, total) => progress?.(done, total),
    });
    return { space, memories: copy?.rows.memory ?? 0 };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function checkWhole(
  file: string,
  directory: string,
  space: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const findings = await checkAt(directory, space, signal).catch((error: unknown) => {
    if (!SalienceError.isInstance(error) || error.code !== 'store_corrupt') throw error;
    return ['it is damaged'];
  });
  if (findings.length === 0) return;
  throw new SalienceError(
    'store_corrupt',
    `${file}: ${findings[0]}; nothing was restored, take an older backup`,
    { details: { file, findings } },
  );
}

async function checkAt(
  path: string,
  space: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  await using memory = await openMemory({ path, space, embedder: 'none' });
  // `await` here, before the memory closes: otherwise an error meanwhile would be an unhandled rejection.
  return await memory.check({ signal });
}

async function noBackup(file: string): Promise<SalienceError> {
  const hidden = await access(file, constants.R_OK).then(
    () => undefined,
    (cause: NodeJS.ErrnoException) => cause,
  );
  if (hidden && hidden.code !== 'ENOENT') {
    return new SalienceError(
      'unreadable_file',
      `${file} cannot be read (${hidden.message}); check that you may read it, and enter its folder`,
      { details: { file }, cause: hidden },
    );
  }
  if (hidden) {
    return new SalienceError(
      'unreadable_file',
      `${file} does not exist; give a file that salience backup wrote`,
      { details: { file } },
    );
  }
  const why = await whyUnreadable(file);
  if (why.code === 'newer_store') return why;
  return new SalienceError(
    'not_a_store',
    `${file} is not a backup that can be read; give a file that salience backup wrote`,
    { details: { file }, cause: why },
  );
}
