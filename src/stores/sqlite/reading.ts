import {
  conductInspection,
  conductSearch,
  type ResidentState,
  type RowSource,
} from '../../search/conduct.ts';
import { closedError } from '../../store/faults.ts';
import type { Snapshot, SpaceReader } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { createReader, lastSequence } from './events.ts';
import { readFeed } from './feed.ts';
import { listMemories } from './list.ts';
import { readDerivation } from './meta.ts';
import { readOperations } from './operations.ts';
import { readPlace, readRecordings } from './recordings.ts';
import type { Resident } from './resident.ts';
import { readVectors, rowSource } from './source.ts';
import { readUsage } from './usage.ts';

/** Lets `work` read what the open transaction of a connection sees; its reader ends with that. */
export async function reading<Result>(
  connection: Connection,
  work: (reader: SpaceReader, connection: () => Connection) => Promise<Result>,
): Promise<Result> {
  let open: Connection | undefined = connection;
  const current = () => {
    if (open) return open;
    throw closedError('the reader of a transaction that has ended');
  };
  try {
    const reader: SpaceReader = {
      ...createReader(current),
      list: async (request) => listMemories(current(), request),
      operations: async (request) => readOperations(current(), request),
      feed: async (after, limit) => readFeed(current(), after, limit),
      derivation: async () => readDerivation(current()),
      usage: async (after = 0) => readUsage(current(), after),
      place: async () => readPlace(current()),
      recordings: async (request) => readRecordings(current(), request),
    };
    return await work(reader, current);
  } finally {
    open = undefined;
  }
}

/** The same with everything that a recall reads. The index is brought up to date when it is first asked. */
export function readingSnapshot<Result>(
  connection: Connection,
  resident: Resident,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  return reading(connection, (reader, current) => {
    let refreshed: { readonly state: ResidentState; readonly source: RowSource } | undefined;
    const ranked = () => {
      if (refreshed) return refreshed;
      const state = resident.refresh(current());
      refreshed = { state, source: rowSource(current(), state.index.dimensions) };
      return refreshed;
    };
    return work({
      ...reader,
      get sequence() {
        return lastSequence(current());
      },
      async search(request) {
        const { state, source } = ranked();
        return conductSearch(state, source, request);
      },
      async inspect(ids, request) {
        const { state, source } = ranked();
        return conductInspection(state, source, ids, request);
      },
      // Whoever only looks at links need not wait for an index.
      links: async (ids, minimum = 0) =>
        refreshed ? resident.links(current(), ids, minimum) : reader.links(ids, minimum),
      vectors: async (ids) => readVectors(current(), ids),
    });
  });
}
