// A store over a plain Map, in one file, written as somebody outside of this repository would.
import {
  afterRecording,
  afterUse,
  afterWrite,
  closedError,
  createQueue,
  DEFAULT_SETTINGS,
  derivePage,
  emptyState,
  infoOf,
  missingSpace,
  neverQuiet,
  openedReadOnly,
  openPast,
  parseSpaceName,
  REINDEX_ROUNDS,
  readerOf,
  rewind,
  snapshotOfState,
  stored,
  versionOf,
  withReader,
} from 'salience/store';

/** @typedef {{ name: string, queue: import('salience/store').Queue, state: import('salience/store').State }} Kept */

/** @returns {import('salience/store').Store} */
export function createMapStore() {
  /** @type {Map<string, Kept>} */
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
    async openSpace(name, { readOnly = false, settings = DEFAULT_SETTINGS } = {}) {
      checkOpen();
      parseSpaceName(name);
      if (readOnly && !kept.has(name)) throw missingSpace(name, [...kept.keys()].sort());
      const found = kept.get(name) ?? { name, queue: createQueue(), state: { ...emptyState, settings } };
      kept.set(name, found);
      const space = openMapSpace(found, readOnly);
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

/**
 * @param {Kept} kept
 * @param {boolean} readOnly
 * @returns {import('salience/store').SpaceStore}
 */
function openMapSpace(kept, readOnly) {
  let closed = false;
  /** @type {{ readonly of: unknown, readonly snapshot: import('salience/store').Snapshot } | undefined} */
  let ranked;
  const present = () => {
    if (closed) throw closedError(`space ${JSON.stringify(kept.name)}`);
    return kept.state;
  };
  const writable = () => {
    present();
    if (readOnly) throw openedReadOnly(kept.name);
  };
  /**
   * @template Decided
   * @param {(reader: import('salience/store').SpaceReader) => Promise<Decided>} decide
   */
  const decided = async (decide) => {
    /** @type {import('salience/store').State | undefined} */
    let state = kept.state;
    const reader = readerOf(() => {
      if (state) return state;
      throw closedError('the reader of a write that has ended');
    });
    try {
      return await decide(reader);
    } finally {
      state = undefined;
    }
  };
  const close = async () => {
    closed = true;
    await kept.queue.idle();
  };
  return withReader({
    name: kept.name,
    erases: 'bytes',
    async snapshot(work) {
      const state = present();
      if (ranked?.of !== state) ranked = { of: state, snapshot: snapshotOfState(state) };
      return work(ranked.snapshot);
    },
    async write(entry, decide) {
      writable();
      return kept.queue.run(async () => {
        const decision = await decided(decide);
        kept.state = afterWrite(kept.state, entry, decision);
        return decision.result;
      });
    },
    async use(usage, decide) {
      writable();
      return kept.queue.run(async () => {
        kept.state = afterUse(kept.state, usage, await decided(decide));
        return kept.state.usages.at(-1)?.sequence ?? 0;
      });
    },
    async record(recording, keep) {
      writable();
      return kept.queue.run(async () => {
        kept.state = afterRecording(kept.state, recording, keep);
        return kept.state.lastRecording;
      });
    },
    async reindex(request) {
      writable();
      for (let round = 0; round < REINDEX_ROUNDS; round++) {
        const { state } = kept;
        const memories = [...state.memories.values()].map(({ memory }) => memory);
        const derived = await derivePage(request, memories);
        request.progress?.(memories.length, memories.length);
        const done = await kept.queue.run(async () => {
          if (kept.state !== state) return false;
          const { analyzer, embedding } = request;
          const same = state.embedding?.model === embedding?.model;
          const fresh = memories.flatMap((memory, at) => {
            const indexed = derived[at];
            return indexed ? [/** @type {const} */ ([memory.id, stored(memory, indexed)])] : [];
          });
          const compared = same ? state.compared : new Set();
          kept.state = { ...state, compared, memories: new Map(fresh), analyzer, embedding };
          return true;
        });
        if (done) return;
      }
      throw neverQuiet(kept.name);
    },
    async asKnown(known, derive) {
      return openPast(await rewind(kept.name, present(), known, derive), snapshotOfState);
    },
    async version() {
      return versionOf(present());
    },
    async info() {
      return infoOf(kept.name, present());
    },
    async check() {
      present();
      return [];
    },
    async backup() {
      present();
      throw new Error('a Map has no file to copy');
    },
    residentBytes: () => 0,
    close,
    [Symbol.asyncDispose]: close,
  });
}
