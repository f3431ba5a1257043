import { closedError } from '../../store/faults.ts';
import type { SpaceState, StoreReader, StoreSnapshot } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { createReader, lastSequence } from './events.ts';
import { indexRows } from './feed.ts';
import { listMemories } from './list.ts';
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
    const reader: StoreReader = {
      ...createReader(current),
      list: async (request) => listMemories(current(), request),
      operations: async (request) => readOperations(current(), request),
      usage: async (after = 0, limit) => readUsage(current(), after, limit),
      place: async () => readPlace(current()),
      recordings: async (request) => readRecordings(current(), request),
    };
    return await work(reader, current);
  } finally {
    open = undefined;
  }
}

/** The same with everything that an index follows. */
export function readingSnapshot<Result>(
  connection: Connection,
  stateOf: (connection: Connection) => SpaceState,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  return reading(connection, (reader, current) =>
    work({
      ...reader,
      ...indexRows(current, stateOf),
      state: async () => stateOf(current()),
      sequence: async () => lastSequence(current()),
    }),
  );
}
