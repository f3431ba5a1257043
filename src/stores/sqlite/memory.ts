import { parseSpaceName } from '../../domain/space.ts';
import { createResidence } from '../../search/residence.ts';
import { closedError, missingSpace } from '../../store/faults.ts';
import { createQueue } from '../../store/queue.ts';
import type { OpenSpaceOptions, SpaceStore, Store } from '../../store/store.ts';
import { type Connection, IN_MEMORY } from './connection.ts';
import { makeDatabase } from './opening.ts';
import { sharedInMemory } from './shared.ts';
import { type OpenDatabase, openSpace } from './space.ts';

/** A database in memory that all handles of a space share. It exists until the store is closed or the space is deleted. */
interface Shared {
  readonly connection: Connection;
  readonly database: Omit<OpenDatabase, 'writer' | 'release'>;
}

/** Creates a store of databases in memory. Each has one connection, so reads wait for the write in progress. */
export function createMemoryStore(onConnect?: (connection: Connection) => void): Store {
  const made = new Map<string, Promise<Shared>>();
  const opened = new Set<SpaceStore>();
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError('the store');
  };
  const closeAll = (spaces: readonly SpaceStore[]) => Promise.all(spaces.map((space) => space.close()));
  const drop = async (name: string) => {
    const shared = made.get(name);
    made.delete(name);
    (await shared)?.connection.close();
  };
  const make = async (name: string, settings: OpenSpaceOptions['settings']): Promise<Shared> => {
    const connection = await makeDatabase(name, settings);
    onConnect?.(connection);
    const queue = createQueue();
    const database = {
      name,
      path: IN_MEMORY,
      reader: connection,
      writes: queue,
      reads: queue,
      residence: createResidence(name),
      keepsPages: false,
      busyTimeout: 0,
      checkPresence() {},
    };
    return { connection, database };
  };
  const close = async () => {
    closed = true;
    await closeAll([...opened]);
    await Promise.all([...made.keys()].map(drop));
  };
  return {
    async openSpace(name, { readOnly = false, mustExist = readOnly, settings, room } = {}) {
      checkOpen();
      parseSpaceName(name);
      if ((readOnly || mustExist) && !made.has(name)) throw missingSpace(name, [...made.keys()].sort());
      const making = made.get(name) ?? make(name, settings);
      made.set(name, making);
      const { connection, database } = await making;
      checkOpen();
      const release = async () => void opened.delete(space);
      const space = openSpace({
        ...database,
        room,
        writer: readOnly ? undefined : connection,
        release,
      });
      opened.add(space);
      return space;
    },
    async listSpaces() {
      checkOpen();
      return [...made.keys()].sort();
    },
    async deleteSpace(name) {
      checkOpen();
      parseSpaceName(name);
      if (!made.has(name)) throw missingSpace(name, [...made.keys()].sort());
      await closeAll([...opened].filter((space) => space.name === name));
      await drop(name);
    },
    shared: sharedInMemory(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
