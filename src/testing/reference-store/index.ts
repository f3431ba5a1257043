import { parseSpaceName } from '../../domain/space.ts';
import { closedError, missingSpace } from '../../store/faults.ts';
import { type KeptSpace, keepSpace } from '../../store/state-space.ts';
import type { SpaceStore, Store } from '../../store/store.ts';
import { openKept } from './space.ts';

/**
 * A store in memory that computes everything naively. Every other store must give the same answers. It is made to be clear, not
 * fast: a search reads every memory.
 */
export function createReferenceStore(): Store {
  const kept = new Map<string, KeptSpace>();
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
      let found = kept.get(name);
      if (!found) {
        if (readOnly || options.mustExist) throw missingSpace(name, [...kept.keys()].sort());
        found = keepSpace(name, options.settings);
        kept.set(name, found);
      }
      const space = openKept(found, readOnly);
      opened.add(space);
      return space;
    },
    async listSpaces() {
      checkOpen();
      return [...kept.keys()].sort();
    },
    async deleteSpace(name) {
      checkOpen();
      parseSpaceName(name);
      const mine = () => [...opened].filter((space) => space.name === name);
      // Again for those that are opened while this waits.
      for (let spaces = mine(); spaces.length > 0; spaces = mine()) {
        await Promise.all(spaces.map((space) => space.close()));
        for (const space of spaces) opened.delete(space);
      }
      if (!kept.has(name)) throw missingSpace(name, [...kept.keys()].sort());
      kept.delete(name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
