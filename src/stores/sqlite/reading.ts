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

/** Lets `work` read what the open transaction of a connection sees; its reader ends with that. */
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
    // What is copied stands last: each object that is added to after a copy gets a shape of its own, ten times as slowly.
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

/** The same with everything that an index follows. */
export function readingSnapshot<Result>(
  connection: Connection,
  stateOf: (connection: Connection) => VersionedState,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  let seen: VersionedState | undefined;
  // While the transaction is open it stays the same.
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
