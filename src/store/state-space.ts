import { SalienceError } from '../domain/errors.ts';
import type { MemoryRecord } from '../domain/memory.ts';
import { DEFAULT_SETTINGS, type SpaceSettings } from '../domain/settings.ts';
import { closedError, openedReadOnly } from './faults.ts';
import { createQueue, type Queue } from './queue.ts';
import { afterRecording } from './recording.ts';
import { derivePage, neverQuiet, REINDEX_ROUNDS } from './reindexing.ts';
import { emptyState, type State, stored } from './state.ts';
import { infoOf, readerOf } from './state-reader.ts';
import { createNumbers, type Numbers, snapshotOfState } from './state-rows.ts';
import { afterUse, afterWrite } from './state-writer.ts';
import type { IndexedText, ReindexRequest, SpaceCore, StoreReader } from './store.ts';

/** A space that is held in memory as a whole. All handles of the space share one `KeptSpace`. */
export interface KeptSpace {
  readonly name: string;
  /** Replaced by every write. A store that also persists it must do so before it replaces it here. */
  state: State;
  /** Writes take turns. */
  readonly queue: Queue;
  readonly numbers: Numbers;
}

export function keepSpace(name: string, settings: SpaceSettings = DEFAULT_SETTINGS): KeptSpace {
  return { name, state: { ...emptyState, settings }, queue: createQueue(), numbers: createNumbers() };
}

/** Implements the whole `SpaceCore` over a space that is held in memory. */
export function coreOfState(kept: KeptSpace, readOnly = false): SpaceCore {
  const { name, queue, numbers } = kept;
  const checkWritable = () => {
    if (readOnly) throw openedReadOnly(name);
  };
  const writing = <Result>(work: () => Promise<Result>): Promise<Result> => {
    checkWritable();
    return queue.run(work);
  };
  return {
    name,
    erases: 'bytes',
    write: async (entry, decide) =>
      writing(async () => {
        const decision = await decideOn(kept.state, decide);
        kept.state = afterWrite(kept.state, entry, decision);
        return decision.result;
      }),
    use: async (usage, decide) =>
      writing(async () => {
        kept.state = afterUse(kept.state, usage, await decideOn(kept.state, decide));
        return kept.state.usages.at(-1)?.sequence ?? 0;
      }),
    record: async (recording, keep) =>
      writing(async () => {
        kept.state = afterRecording(kept.state, recording, keep);
        return kept.state.lastRecording;
      }),
    snapshot: async (work) => work(snapshotOfState(kept.state, numbers)),
    everything: async () => kept.state,
    info: async () => infoOf(name, kept.state),
    async reindex(request) {
      checkWritable();
      await reindexKept(kept, request);
    },
    async backup() {
      throw new SalienceError(
        'invalid_argument',
        'a store in memory has no file to copy; export its memories instead',
      );
    },
    check: async () => [],
    close: () => queue.idle(),
  };
}

/** Calls `decide` with a reader of `state`. The reader throws `closed` once `decide` has ended. */
async function decideOn<Decided>(
  state: State,
  decide: (reader: StoreReader) => Promise<Decided>,
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

const pageSize = 500;

async function reindexKept(kept: KeptSpace, request: ReindexRequest): Promise<void> {
  const derived = new Map<MemoryRecord, IndexedText>();
  for (let round = 0; round < REINDEX_ROUNDS; round++) {
    const memories = [...kept.state.memories.values()].map(({ memory }) => memory);
    const missing = memories.filter((memory) => !derived.has(memory));
    for (let start = 0; start < missing.length; start += pageSize) {
      const page = missing.slice(start, start + pageSize);
      const results = await derivePage(request, page);
      for (const [index, memory] of page.entries()) derived.set(memory, results[index] as IndexedText);
      request.progress?.(memories.length - missing.length + start + page.length, memories.length);
    }
    const done = await kept.queue.run(async () => {
      const { state } = kept;
      const fresh = [...state.memories.values()].map(({ memory }) => {
        const indexed = derived.get(memory);
        return indexed && ([memory.id, stored(memory, indexed)] as const);
      });
      if (!fresh.every((each) => each !== undefined)) return false;
      const { analyzer, embedding } = request;
      const compared = state.embedding?.model === embedding?.model ? state.compared : new Set<string>();
      const generation = state.generation + 1;
      kept.state = { ...state, compared, generation, memories: new Map(fresh), analyzer, embedding };
      return true;
    });
    if (done) return;
  }
  throw neverQuiet(kept.name);
}
