import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseSpaceName } from '../../domain/space.ts';
import { waitForNames } from '../../domain/wait-for-disk.ts';
import { closedError, missingSpace } from '../../store/faults.ts';
import type { SpaceStore, Store } from '../../store/store.ts';
import { type Connection, IN_MEMORY } from './connection.ts';
import { copyingIn, removeFormerNames } from './copying.ts';
import { deleteSpaceFiles } from './delete.ts';
import { checkLinks, wholePath } from './directory.ts';
import { openSpaceFile } from './file.ts';
import { fileNameOf, hasLog, isThere, listSpaceNames, pathOf } from './files.ts';
import { createMemoryStore } from './memory.ts';
import { checkReady } from './ready.ts';
import { sharedFiles } from './shared.ts';

export interface SqliteStoreOptions {
  /**
   * The directory of the files, created when the first space is opened for writing. Must be on a disk of this machine, not on a
   * network share. `:memory:` keeps the spaces in memory until the store is closed.
   */
  readonly directory: string;
  /**
   * `full`: acknowledged writes survive a power cut. `normal`: they survive a crash of the process, but a power cut may undo the
   * last writes, each as a whole. Default is `full`.
   */
  readonly synchronous?: 'full' | 'normal' | undefined;
  /** Milliseconds to wait for another process's write before `store_busy`. Default is 10,000. */
  readonly busyTimeout?: number | undefined;
}

/** Creates a store of SQLite files. `onConnect` is called with every connection, for tests that set limits on it. */
export function createObservedSqliteStore(
  { directory, synchronous = 'full', busyTimeout = 10_000 }: SqliteStoreOptions,
  onConnect?: (connection: Connection) => void,
): Store {
  if (directory === IN_MEMORY) return createMemoryStore(onConnect);
  const root = wholePath(directory);
  const opened = new Set<SpaceStore>();
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError('the store');
  };
  const close = async () => {
    closed = true;
    await Promise.all([...opened].map((space) => space.close()));
  };
  return {
    async openSpace(name, { readOnly = false, mustExist = readOnly, settings, room } = {}) {
      checkOpen();
      parseSpaceName(name);
      const path = pathOf(root, name);
      checkLinks(path);
      if ((readOnly || mustExist) && !isThere(path) && !hasLog(path))
        throw missingSpace(name, await listSpaceNames(root));
      const onClose = () => void opened.delete(space);
      const space = await openSpaceFile({
        name,
        path,
        readOnly,
        synchronous,
        busyTimeout,
        settings,
        room,
        onConnect,
        onClose,
      });
      if (closed) await space.close();
      checkOpen();
      opened.add(space);
      return space;
    },
    async listSpaces() {
      checkOpen();
      return listSpaceNames(root);
    },
    async deleteSpace(name) {
      checkOpen();
      parseSpaceName(name);
      const path = pathOf(root, name);
      if (!isThere(path)) throw missingSpace(name, await listSpaceNames(root));
      const mine = [...opened].filter((space) => space.name === name);
      await Promise.all(mine.map((space) => space.close()));
      for (const space of mine) opened.delete(space);
      await removeFormerNames(root, name);
      await deleteSpaceFiles(path, name, { synchronous, busyTimeout });
      // If the file was a symbolic link, the link is still there.
      await rm(join(root, fileNameOf(name)), { force: true });
      // Otherwise a power cut could bring back what was deleted.
      for (const folder of new Set([dirname(path), root])) await waitForNames(folder);
    },
    async ready() {
      checkOpen();
      checkLinks(root);
      await checkReady(root);
    },
    copying: copyingIn(root, { synchronous, busyTimeout }),
    shared: sharedFiles(root),
    close,
    [Symbol.asyncDispose]: close,
  };
}
