import { parseSpaceName } from '../../domain/space.ts';
import { closedError, missingSpace } from '../../store/faults.ts';
import type { SpaceStore, Store } from '../../store/store.ts';
import { createRoom, openRoom, type Room } from './space.ts';

/**
 * A store that lives in memory alone and computes everything in the most obvious way: every other store must answer
 * as it does. Clear rather than quick: a search looks at every memory.
 */
export function createReferenceStore(): Store {
  const rooms = new Map<string, Room>();
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
    async openSpace(name, options = {}) {
      checkOpen();
      parseSpaceName(name);
      const readOnly = options.readOnly ?? false;
      let room = rooms.get(name);
      if (!room) {
        if (readOnly) throw missingSpace(name, [...rooms.keys()].sort());
        room = createRoom(name, options.settings);
        rooms.set(name, room);
      }
      const space = openRoom(room, readOnly);
      opened.add(space);
      return space;
    },
    async listSpaces() {
      checkOpen();
      return [...rooms.keys()].sort();
    },
    async deleteSpace(name) {
      checkOpen();
      parseSpaceName(name);
      if (!rooms.has(name)) throw missingSpace(name, [...rooms.keys()].sort());
      const mine = [...opened].filter((space) => space.name === name);
      await Promise.all(mine.map((space) => space.close()));
      for (const space of mine) opened.delete(space);
      rooms.delete(name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
