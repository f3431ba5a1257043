import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import { makeDirectory } from '../../domain/make-directory.ts';
import { DEFAULT_SETTINGS, type SpaceSettings } from '../../domain/settings.ts';
import { type Connection, connect, IN_MEMORY, retryWhileBusy, writeTransaction } from './connection.ts';
import { isUnopenable, mayWrite, translateError, translateFileError } from './faults.ts';
import { hasLog } from './files.ts';
import { eraseForgotten } from './forget.ts';
import { readMeta, writeMeta, writeSettings } from './meta.ts';
import { dropPages, reflectsLostRows } from './pages.ts';
import { inodeOf, makeFile } from './presence.ts';
import { identify, makeSchema, migrate, SCHEMA_VERSION } from './schema.ts';

export interface FileSettings {
  readonly synchronous: 'full' | 'normal';
  readonly busyTimeout: number;
  /** The settings of a new space. */
  readonly settings?: SpaceSettings | undefined;
}

/** How often to try to open a file that other processes delete and create meanwhile. */
const ATTEMPTS = 20;

/** Opens a space's file for writing; creates or upgrades it if necessary. Throws `not_a_store`, `newer_store` and disk errors. */
export async function openWriter(path: string, space: string, settings: FileSettings): Promise<Connection> {
  for (let attempt = 1; ; attempt++) {
    let inode: string | undefined;
    try {
      makeDirectory(dirname(path));
      await makeFile(path);
      inode = inodeOf(path);
      if (inode === undefined) throw replacedMeanwhile(path);
      return await writerOf(path, space, settings, inode);
    } catch (error) {
      // Another process deleted or replaced it meanwhile.
      if (attempt < ATTEMPTS && (inode !== inodeOf(path) || isReplaced(error))) continue;
      if (isUnopenable(error) && !mayWrite(dirname(path))) throw readOnlyDirectory(path, error);
      throw translateFileError(error, path);
    }
  }
}

async function writerOf(
  path: string,
  space: string,
  settings: FileSettings,
  inode: string,
): Promise<Connection> {
  const { busyTimeout } = settings;
  const opened = await retryWhileBusy(busyTimeout, () => connect(path, { readOnly: false, timeout: 0 }));
  try {
    const version = await retryWhileBusy(busyTimeout, () => {
      const found = identify(opened);
      if (found > 0) checkName(opened, space);
      return found;
    });
    // The file is known to be ours now, and may be changed.
    await retryWhileBusy(busyTimeout, () => configure(opened, settings));
    // Once this connection has read from the log, no other process can delete the file.
    await retryWhileBusy(busyTimeout, () => identify(opened));
    if (inodeOf(path) !== inode) throw replacedMeanwhile(path);
    if (version < SCHEMA_VERSION) {
      await writeTransaction(opened, busyTimeout, () => {
        const present = identify(opened);
        if (present > 0) migrate(opened, present);
        else {
          makeSchema(opened);
          writeMeta(opened, 'space', space);
          writeSettings(opened, settings.settings ?? DEFAULT_SETTINGS);
        }
      });
    }
    await retryWhileBusy(busyTimeout, () => checkName(opened, space));
    if (await retryWhileBusy(busyTimeout, () => reflectsLostRows(opened))) {
      await writeTransaction(opened, busyTimeout, () => {
        for (const _ of dropPages(opened));
      });
    }
    await finishErasure(opened, busyTimeout);
    return opened;
  } catch (error) {
    opened.close();
    throw error;
  }
}

/**
 * Opens a space's file exclusively, in order to delete it. Needs no room on the disk. Throws `not_a_store` and the driver's
 * errors.
 */
export async function openAlone(path: string, space: string): Promise<Connection> {
  const connection = await connect(path, { readOnly: false, timeout: 0, alone: true });
  try {
    if (identify(connection) > 0) checkName(connection, space);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Creates a space in memory. */
export async function makeDatabase(space: string, settings = DEFAULT_SETTINGS): Promise<Connection> {
  const connection = await connect(IN_MEMORY, { readOnly: false, timeout: 0 });
  // Overwrite deleted data in all pages.
  connection.database.exec('PRAGMA space.secure_delete = ON');
  await writeTransaction(connection, 0, () => {
    makeSchema(connection);
    writeMeta(connection, 'space', space);
    writeSettings(connection, settings);
  });
  return connection;
}

/** Opens a space's file for reading. The file must exist and have the current schema version. */
export async function openReader(path: string, space: string, settings: FileSettings): Promise<Connection> {
  try {
    return await open(false);
  } catch (error) {
    // In a read-only directory, SQLite cannot create the shared memory through which readers coordinate. If there is no
    // log, nobody is writing, and the file can be read as immutable.
    if (isUnopenable(error) && existsSync(path) && !hasLog(path)) {
      return await open(true).catch((cause) => {
        throw translateError(cause, path);
      });
    }
    throw translateError(error, path);
  }

  async function open(immutable: boolean): Promise<Connection> {
    const connection = await connect(path, { readOnly: true, timeout: settings.busyTimeout, immutable });
    try {
      const version = identify(connection);
      if (version === 0) throw unfinished(path);
      if (version < SCHEMA_VERSION) {
        throw new SalienceError(
          'store_read_only',
          `${path} has the older schema ${version}; open it once for writing, which brings it to ${SCHEMA_VERSION}`,
          { details: { path, version } },
        );
      }
      checkName(connection, space);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

/**
 * Removes the empty log that readers leave beside a file because they may not write. Keeps a log with content, since moving
 * it into the file would be a write.
 */
export async function removeEmptyLog(path: string): Promise<void> {
  if (!existsSync(`${path}-wal`) || hasLog(path)) return;
  try {
    (await connect(path, { readOnly: false, timeout: 0 })).close();
  } catch {
    // The file is in use, or this process may not write to it.
  }
}

function configure({ database }: Connection, { synchronous }: FileSettings): void {
  database.exec(`
    PRAGMA space.journal_mode = WAL;
    PRAGMA space.synchronous = ${synchronous === 'normal' ? 'NORMAL' : 'FULL'};
    PRAGMA space.secure_delete = ON;
    PRAGMA space.cache_size = -16384;
  `);
}

function checkName(connection: Connection, space: string): void {
  const found = readMeta(connection, 'space');
  if (found === space) return;
  // The header is ours, but the name is missing, which every file of ours has: the file has lost pages.
  if (found === undefined) throw damaged(connection.path);
  throw wrongFile(connection.path, `holds the space ${JSON.stringify(found)}, not ${JSON.stringify(space)}`);
}

/** The error of a file whose creation was interrupted before the first commit. It is empty. */
function unfinished(path: string): SalienceError {
  return new SalienceError(
    'not_a_store',
    `${path} is a space that was never finished, and holds nothing; write to the space, which finishes it, or delete the file`,
    { details: { path } },
  );
}

function readOnlyDirectory(path: string, cause: unknown): SalienceError {
  return new SalienceError(
    'store_read_only',
    `${path} cannot be written to, because its directory cannot; check its permissions, or open the space only to read`,
    { details: { path }, cause },
  );
}

function isReplaced(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.code === 'store_replaced';
}

/** The error of a file that was replaced while it was opened: its log would be beside another file, or none. */
function replacedMeanwhile(path: string): SalienceError {
  return new SalienceError(
    'store_replaced',
    `${path} was deleted, moved or replaced while it was being opened; nothing was changed. Try again`,
    { details: { path } },
  );
}

function damaged(path: string): SalienceError {
  return new SalienceError('store_corrupt', `${path} is damaged; restore it from a backup`, {
    details: { path },
  });
}

/** Completes an erasure that a crash or another process interrupted. If that is not possible now, it stays pending. */
export async function finishErasure(connection: Connection, busyTimeout: number): Promise<void> {
  try {
    await eraseForgotten(connection, Math.min(busyTimeout, 100));
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    if (error.code !== 'store_busy' && error.code !== 'store_full' && error.code !== 'store_read_only')
      throw error;
  }
}

function wrongFile(path: string, what: string): SalienceError {
  return new SalienceError(
    'not_a_store',
    `${path} ${what}; give each file back the name that it was made with, or choose another directory`,
    { details: { path } },
  );
}
