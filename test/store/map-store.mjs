// A store over a plain Map, in one file, written as somebody outside of this repository would.
import {
  closedError,
  coreOfState,
  keepSpace,
  missingSpace,
  parseSpaceName,
  withSearch,
} from 'salience/store';

/** @returns {import('salience/store').Store} */
export function createMapStore() {
  /** @type {Map<string, import('salience/store').KeptSpace>} */
  const kept = new Map();
  /** @type {Set<import('salience/store').SpaceStore>} */
  const opened = new Set();
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError('the store');
  };
  /** @param {string} [name] */
  const closeAll = async (name) => {
    const spaces = [...opened].filter((space) => name === undefined || space.name === name);
    await Promise.all(spaces.map((space) => space.close()));
  };
  const close = () => {
    closed = true;
    return closeAll();
  };
  return {
    async openSpace(name, { readOnly = false, mustExist = readOnly, settings, room } = {}) {
      checkOpen();
      parseSpaceName(name);
      if (mustExist && !kept.has(name)) throw missingSpace(name, [...kept.keys()].sort());
      const found = kept.get(name) ?? keepSpace(name, settings);
      kept.set(name, found);
      const space = withSearch(coreOfState(found, readOnly), { room });
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
      if (!kept.has(name)) throw missingSpace(name, [...kept.keys()].sort());
      await closeAll(name);
      kept.delete(name);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
