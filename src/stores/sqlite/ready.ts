import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import { makeDirectory } from '../../domain/make-directory.ts';
import { waitForDisk } from '../../domain/wait-for-disk.ts';
import { connect } from './connection.ts';
import { loadDriver } from './driver.ts';
import { translateFileError } from './faults.ts';
import { identify } from './schema.ts';

/** The size of the probe file: large enough to need disk blocks, since some file systems store tiny files in the inode. */
const PROBE_BYTES = 64 * 1024;

/**
 * Rejects while a directory cannot store memories: there is no SQLite, the directory is not writable, its disk is full, or
 * the file that was written to last has a schema that this version does not know.
 */
export async function checkReady(directory: string): Promise<void> {
  const probe = join(directory, `.ready-${randomBytes(6).toString('hex')}`);
  try {
    // Check the driver too: without any file yet, nothing else would load it.
    await loadDriver();
    makeDirectory(directory);
    const file = await open(probe, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY);
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES));
      await waitForDisk(file);
    } finally {
      await file.close();
      await rm(probe, { force: true });
    }
    const latest = await latestFile(directory);
    if (latest === undefined) return;
    const connection = await connect(latest, { readOnly: true, timeout: 1000 });
    try {
      identify(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw SalienceError.isInstance(error) ? error : translateFileError(error, directory);
  }
}

async function latestFile(directory: string): Promise<string | undefined> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.db'));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(directory, name);
      // The file may have been deleted meanwhile.
      const known = await stat(path).catch(() => undefined);
      return known ? [{ path, at: known.mtimeMs }] : [];
    }),
  );
  return found.flat().sort((a, b) => b.at - a.at)[0]?.path;
}
