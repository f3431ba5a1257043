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
  /** Of a space that is made. */
  readonly settings?: SpaceSettings | undefined;
}

/** So often a file that others delete and make meanwhile is opened. */
const ATTEMPTS = 20;

/** Opens a space's file for writing, making or upgrading it. Throws `not_a_store`, `newer_store` and disk errors. */
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
      // Another process deleted it in between.
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
    // Only now that the file is known to be ours is anything in it touched.
    await retryWhileBusy(busyTimeout, () => configure(opened, settings));
    // Having read from the log, this connection keeps out whoever would delete the file.
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

/** Opens a space's file that is deleted next, and keeps all others out. Needs no room on the disk. Throws `not_a_store` and the driver's errors. */
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

/** Makes a space in memory. */
export async function makeDatabase(space: string, settings = DEFAULT_SETTINGS): Promise<Connection> {
  const connection = await connect(IN_MEMORY, { readOnly: false, timeout: 0 });
  // What is overwritten or deleted stays in no page.
  connection.database.exec('PRAGMA space.secure_delete = ON');
  await writeTransaction(connection, 0, () => {
    makeSchema(connection);
    writeMeta(connection, 'space', space);
    writeSettings(connection, settings);
  });
  return connection;
}

/** Opens a space's file for reading. The file exists, and is of the present version. */
export async function openReader(path: string, space: string, settings: FileSettings): Promise<Connection> {
  try {
    return await open(false);
  } catch (error) {
    // In a directory that cannot be written to, SQLite cannot make the shared memory that readers agree by. Without
    // a log nobody is writing either, and the file may be read as it stands.
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
 * Takes away the empty log that readers leave beside a file, since the last of them may not write. A log with content
 * stays: putting it into the file would be a write.
 */
export async function removeEmptyLog(path: string): Promise<void> {
  if (!existsSync(`${path}-wal`) || hasLog(path)) return;
  try {
    (await connect(path, { readOnly: false, timeout: 0 })).close();
  } catch {
    // The file is in use, or may not be written to by this process either.
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
  // It is ours by its header, and every file of ours has a name: pages are missing.
  if (found === undefined) throw damaged(connection.path);
  throw wrongFile(connection.path, `holds the space ${JSON.stringify(found)}, not ${JSON.stringify(space)}`);
}

/** Making it was cut off before its first commit; nothing was in it. */
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

/** Its log would lie beside another file, or none. */
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

/** Takes up an erasure that a crash or another process interrupted; where it cannot be done now, it stays pending. */
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
