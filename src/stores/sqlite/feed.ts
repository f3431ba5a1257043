import { stampOf } from '../../store/position.ts';
import type { Feed, IndexedRow, IndexRows, Position } from '../../store/rows.ts';
import type { MemoryEvent, Usage } from '../../store/store.ts';
import { linkChangeFromJson, usedFromJson } from '../../store/stored-json.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { lastSequence } from './events.ts';
import { readGeneration, readVersionedState, type VersionedState } from './meta.ts';
import { loadPages, reflectsLostRows } from './pages.ts';
import { fromValues, fromVectorRow, ROW_AT, VALUE_COLUMN_LIST, VALUE_COUNT } from './rows.ts';
import { rowSource } from './source.ts';
import { readRelations, readRelationsVersion } from './supersession.ts';
import { decodeTermVector } from './term-vector.ts';
import { lastUsageSequence } from './usage.ts';

/** Rows of one batch, read in about 2 ms. Other work of the program can run between two batches. */
const BATCH = 128;

/** The reads of the resident index, by row number, inside the open transaction of a connection. */
export function indexRows(
  connection: () => Connection,
  stateOf: (connection: Connection) => VersionedState = readVersionedState,
): IndexRows {
  const dimensionsOf = (open: Connection) => stateOf(open).state.embedding?.dimensions;
  return {
    version: () => stateOf(connection()).version,
    position: () => positionAt(connection(), lastSequence(connection()), lastUsageSequence(connection())),
    feed: (after) => readFeed(connection(), after),
    indexed: (keys) => batches(connection(), keys, dimensionsOf),
    relations: () => readRelations(connection()),
    size: () => (connection().get('SELECT count(*) AS size FROM memory') as { size: number }).size,
    pages() {
      // A saved index that is ahead of the log is not used.
      const pages = reflectsLostRows(connection()) ? undefined : loadPages(connection());
      return (
        pages && {
          // The pages are in the same file as the log that they reflect.
          position: positionAt(connection(), pages.reflected.sequence, pages.reflected.usage),
          bytes: pages.bytes(),
          load: pages.load,
        }
      );
    },
    ...rowSource(connection, dimensionsOf),
  };
}

const selectEvent = 'SELECT operation, at, verb, memory_id AS memoryId FROM event WHERE sequence = ?';
const selectUse = 'SELECT at, strategy, after_event AS after FROM usage WHERE sequence = ?';

/** The position of an event and a use. If one of them is missing, the stamp differs from that of any other position. */
export function positionAt(connection: Connection, sequence: number, usage: number): Position {
  const event = connection.get(selectEvent, sequence) as Parameters<typeof stampOf>[1];
  const use = connection.get(selectUse, usage) as Parameters<typeof stampOf>[2];
  return { sequence, usage, stamp: stampOf(readGeneration(connection), event, use) };
}

type FeedEvent = Pick<MemoryEvent, 'sequence' | 'operation' | 'at' | 'verb' | 'memoryId'> & {
  readonly row: number;
  readonly link: string | null;
};
type FeedUse = Pick<Usage, 'sequence' | 'at' | 'strategy' | 'after'> & {
  readonly used: string;
};

/** Converts a row given as a list: for a batch of a thousand, creating objects takes the driver as long as reading them. */
function feedEvent([sequence, operation, at, verb, memoryId, row, link]: readonly SqlValue[]): FeedEvent {
  return { sequence, operation, at, verb, memoryId, row, link } as FeedEvent;
}

function feedUse([sequence, at, strategy, after, used]: readonly SqlValue[]): FeedUse {
  return { sequence, at, strategy, after, used } as FeedUse;
}

/** Reads both logs from the last rows that the index has. These must be unchanged. */
function readFeed(connection: Connection, after: Position): Feed | undefined {
  const events = connection
    .lists(
      `SELECT sequence, operation, at, verb, memory_id, memory_row, link FROM event
       WHERE sequence >= ? ORDER BY sequence`,
      after.sequence,
    )
    .map(feedEvent);
  const uses = connection
    .lists(
      `SELECT sequence, at, strategy, after_event, used FROM usage
       WHERE sequence >= ? ORDER BY sequence`,
      after.usage,
    )
    .map(feedUse);
  const lastEvent = after.sequence > 0 ? events.shift() : undefined;
  const lastUse = after.usage > 0 ? uses.shift() : undefined;
  const generation = readGeneration(connection);
  if (
    (lastEvent?.sequence ?? 0) !== after.sequence ||
    (lastUse?.sequence ?? 0) !== after.usage ||
    stampOf(generation, lastEvent, lastUse) !== after.stamp
  ) {
    return undefined;
  }
  const written = new Map<number, Feed['written'][number]>();
  for (const { sequence, row: key, memoryId: id, verb, link } of events) {
    // An event without a memory is about the settings of the space.
    if (link !== null || id === '') continue;
    const sameText = verb === 'maintain' && written.get(key)?.sameText !== false;
    written.set(key, { key, id, sequence, sameText });
  }
  const [event = lastEvent, use = lastUse] = [events.at(-1), uses.at(-1)];
  return {
    position: {
      sequence: event?.sequence ?? 0,
      usage: use?.sequence ?? 0,
      stamp: stampOf(generation, event, use),
    },
    written: [...written.values()],
    used: [
      ...new Set(uses.flatMap(({ sequence, used }) => usedFromJson(used, sequence).map(({ id }) => id))),
    ],
    linked: events.flatMap(({ sequence, link }) =>
      link === null ? [] : linkChangeFromJson(link, sequence).link.ids,
    ),
    relations: readRelationsVersion(connection),
  };
}

const select = `SELECT ${VALUE_COLUMN_LIST}, term_vector.bytes, term_vector.checksum, vector.bytes, vector.checksum
  FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row)`;

function* batches(
  connection: Connection,
  keys: readonly number[] | undefined,
  dimensionsOf: (open: Connection) => number | undefined,
): Generator<readonly IndexedRow[]> {
  let batch: IndexedRow[] = [];
  for (const row of keys ? each(connection, keys) : connection.eachList(`${select} ORDER BY memory.row`)) {
    batch.push(indexedRow(row, dimensionsOf(connection)));
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Reads rows in key order, so that new memories come last in the index too. */
function* each(connection: Connection, keys: readonly number[]): Generator<readonly SqlValue[]> {
  for (let start = 0; start < keys.length; start += BATCH) {
    const some = keys.slice(start, start + BATCH);
    const found = connection.lists(
      `${select} WHERE memory.row IN (SELECT value FROM json_each(?))`,
      JSON.stringify(some),
    );
    const rows = new Map(found.map((values) => [values[ROW_AT], values]));
    for (const key of some) {
      const row = rows.get(key);
      if (row) yield row;
    }
  }
}

function indexedRow(values: readonly SqlValue[], dimensions: number | undefined): IndexedRow {
  const row = values[ROW_AT] as number;
  const [terms, termsChecksum, vector, vectorChecksum] = values.slice(VALUE_COUNT);
  const termIds: number[] = [];
  const termCounts: number[] = [];
  if (terms) {
    const stored = { row, bytes: terms as Uint8Array, checksum: termsChecksum as number | null };
    decodeTermVector(stored, (id, count) => {
      termIds.push(id);
      termCounts.push(count);
    });
  }
  const stored = { row, bytes: vector as Uint8Array, checksum: vectorChecksum as number | null };
  return {
    key: row,
    memory: fromValues(values),
    termIds,
    termCounts,
    vector: vector ? fromVectorRow(stored, dimensions) : undefined,
  };
}
