import { createResidence } from '../../search/residence.ts';
import { createQueue } from '../../store/queue.ts';
import type { Room } from '../../store/room.ts';
import type { SpaceStore } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { translateFileError } from './faults.ts';
import { takeLog } from './log.ts';
import { type FileSettings, openReader, openWriter, removeEmptyLog } from './opening.ts';
import { checkFiles, watchPresence } from './presence.ts';
import { openSpace } from './space.ts';

export interface SpaceFile extends FileSettings {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
  readonly room?: Room | undefined;
  /** Called with every connection once it is open. */
  readonly onConnect?: ((connection: Connection) => void) | undefined;
  readonly onClose?: (() => void) | undefined;
}

/** Opens the file of one space with two connections: one for writes, one at a time, and one that reads committed data. */
export async function openSpaceFile(file: SpaceFile): Promise<SpaceStore> {
  const { name, path, busyTimeout } = file;
  await checkFiles(path).catch((error: unknown) => {
    throw translateFileError(error, path);
  });
  const writer = file.readOnly ? undefined : await openWriter(path, name, file);
  const reader = await openReader(path, name, file).catch((error: unknown) => {
    writer?.close();
    throw error;
  });
  if (writer) file.onConnect?.(writer);
  file.onConnect?.(reader);
  const log = writer && takeLog(writer, file.synchronous);
  const presence = watchPresence(path);
  return openSpace({
    name,
    path,
    writer,
    reader,
    async openReader() {
      const another = await openReader(path, name, file);
      file.onConnect?.(another);
      return another;
    },
    writes: createQueue(),
    reads: createQueue(),
    residence: createResidence(name),
    room: file.room,
    keepsPages: true,
    busyTimeout,
    log,
    checkPresence: presence.check,
    async release() {
      file.onClose?.();
      // If the last connection to close is the writer, it moves the log into the file. It must not do so if it may not know
      // what others have added to the log, because that would be lost. So it closes before the read-only connection.
      try {
        if (presence.sharesLogUnseen()) writer?.close();
      } finally {
        // A connection that fails to close must not keep the other one open: it would lock the file until the process ends.
        try {
          reader.close();
        } finally {
          // If this is the last connection to the file, it moves the log into the file and deletes the log.
          writer?.close();
        }
      }
      if (!writer) await removeEmptyLog(path);
    },
  });
}
