import { closedError } from '../../store/faults.ts';
import type { StoreReader, StoreSnapshot } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { createReader, lastSequence } from './events.ts';
import { indexRows } from './feed.ts';
import { listMemories } from './list.ts';
import type { VersionedState } from './meta.ts';
import { readOperations } from './operations.ts';
import { readPlace, readRecordings } from './recordings.ts';
import { readUsage } from './usage.ts';

/** Calls `work` with a reader of the open transaction of a connection. The reader throws once `work` has ended. */
export async function reading<Result>(
  connection: Connection,
  work: (reader: StoreReader, connection: () => Connection) => Promise<Result>,
): Promise<Result> {
  let open: Connection | undefined = connection;
  const current = () => {
    if (open) return open;
    throw closedError('the reader of a transaction that has ended');
  };
  try {
    // Spread last: adding properties after a spread gives each object its own hidden class, which is ten times as slow.
    const reader: StoreReader = {
      list: async (request) => listMemories(current(), request),
      operations: async (request) => readOperations(current(), request),
      usage: async (after = 0, limit) => readUsage(current(), after, limit),
      place: async () => readPlace(current()),
      recordings: async (request) => readRecordings(current(), request),
      ...createReader(current),
    };
    return await work(reader, current);
  } finally {
    open = undefined;
  }
}

/** Does the same with a snapshot, which also has the reads of an index. */
export function readingSnapshot<Result>(
  connection: Connection,
  stateOf: (connection: Connection) => VersionedState,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  let seen: VersionedState | undefined;
  // Cached: it does not change while the transaction is open.
  const stateSeen = (open: Connection) => {
    seen ??= stateOf(open);
    return seen;
  };
  return reading(connection, (reader, current) =>
    work({
      sequence: async () => lastSequence(current()),
      ...reader,
      ...indexRows(current, stateSeen),
      state: async () => stateSeen(current()).state,
    }),
  );
}
