import { SalienceError } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { DEFAULT_SETTINGS } from '../../domain/settings.ts';
import { closedError, openedReadOnly } from '../../store/faults.ts';
import { openPast } from '../../store/past.ts';
import { createQueue, type Queue } from '../../store/queue.ts';
import { afterRecording } from '../../store/recording.ts';
import { derivePage, neverQuiet, REINDEX_ROUNDS } from '../../store/reindexing.ts';
import { rewind } from '../../store/rewind.ts';
import { emptyState, lastSequence, type State, stored, versionOf } from '../../store/state.ts';
import { infoOf, readerOf, searchable } from '../../store/state-reader.ts';
import { afterUse, afterWrite } from '../../store/state-writer.ts';
import type { IndexedText, ReindexRequest, Snapshot, SpaceReader, SpaceStore } from '../../store/store.ts';
import { withReader } from '../../store/with-reader.ts';
import { inspectNaively, searchNaively } from '../naive-search.ts';

/** What all handles of one space share. */
export interface Room {
  readonly name: string;
  readonly queue: Queue;
  state: State;
}

export function createRoom(name: string, settings = DEFAULT_SETTINGS): Room {
  return { name, queue: createQueue(), state: { ...emptyState, settings } };
}

const pageSize = 500;

/** One handle of a space. */
export function openRoom(room: Room, readOnly: boolean): SpaceStore {
  let closed = false;
  const present = (): State => {
    if (closed) throw closedError(`space ${JSON.stringify(room.name)}`);
    return room.state;
  };
  const writable = () => {
    present();
    if (readOnly) throw openedReadOnly(room.name);
  };
  const close = async () => {
    closed = true;
    await room.queue.idle();
  };
  return withReader({
    name: room.name,
    erases: 'bytes',
    async write(entry, decide) {
      writable();
      return room.queue.run(async () => {
        const decision = await decideOn(room.state, decide);
        room.state = afterWrite(room.state, entry, decision);
        return decision.result;
      });
    },
    async use(usage, decide) {
      writable();
      return room.queue.run(async () => {
        const decision = await decideOn(room.state, decide);
        room.state = afterUse(room.state, usage, decision);
        return room.state.usages.at(-1)?.sequence as number;
      });
    },
    async record(recording, keep) {
      writable();
      return room.queue.run(async () => {
        room.state = afterRecording(room.state, recording, keep);
        return room.state.lastRecording;
      });
    },
    async snapshot(work) {
      return work(snapshotOf(present()));
    },
    async version() {
      return versionOf(present());
    },
    async info() {
      return infoOf(room.name, present());
    },
    async reindex(request) {
      writable();
      await reindex(room, request);
    },
    async asKnown(known, derive) {
      return openPast(await rewind(room.name, present(), known, derive), snapshotOf);
    },
    async backup() {
      present();
      throw new SalienceError(
        'invalid_argument',
        'a store in memory has no file to copy; export its memories instead',
      );
    },
    async check() {
      present();
      return [];
    },
    // What is remembered here stays in memory, whether it is open or not.
    residentBytes: () => 0,
    close,
    [Symbol.asyncDispose]: close,
  });
}

/** Lets a caller decide on a state; its reader ends with that. */
async function decideOn<Decided>(
  state: State,
  decide: (reader: SpaceReader) => Promise<Decided>,
): Promise<Decided> {
  let reading: State | undefined = state;
  const reader = readerOf(() => {
    if (reading) return reading;
    throw closedError('the reader of a write that has ended');
  });
  try {
    return await decide(reader);
  } finally {
    reading = undefined;
  }
}

/** A state never changes: it is its own snapshot. */
function snapshotOf(state: State): Snapshot {
  return {
    ...readerOf(() => state),
    sequence: lastSequence(state),
    search: async (request) => searchNaively(searchable(state), request),
    inspect: async (ids, request) => inspectNaively(searchable(state), ids, request),
    vectors: async (ids) => ids.map((id) => state.memories.get(id)?.vector?.slice()),
  };
}

async function reindex(room: Room, request: ReindexRequest): Promise<void> {
  const derived = new Map<MemoryRecord, IndexedText>();
  for (let round = 0; round < REINDEX_ROUNDS; round++) {
    const memories = [...room.state.memories.values()].map(({ memory }) => memory);
    const missing = memories.filter((memory) => !derived.has(memory));
    for (let start = 0; start < missing.length; start += pageSize) {
      const page = missing.slice(start, start + pageSize);
      const results = await derivePage(request, page);
      for (const [index, memory] of page.entries()) derived.set(memory, results[index] as IndexedText);
      request.progress?.(memories.length - missing.length + start + page.length, memories.length);
    }
    const done = await room.queue.run(async () => {
      const current = [...room.state.memories.values()].map(({ memory }) => memory);
      if (!current.every((memory) => derived.has(memory))) return false;
      const { analyzer, embedding } = request;
      const fresh = current.map((memory) => stored(memory, derived.get(memory) as IndexedText));
      room.state = {
        ...room.state,
        compared: room.state.embedding?.model === embedding?.model ? room.state.compared : new Set(),
        memories: new Map(fresh.map((each) => [each.memory.id, each])),
        analyzer,
        embedding,
      };
      return true;
    });
    if (done) return;
  }
  throw neverQuiet(room.name);
}
