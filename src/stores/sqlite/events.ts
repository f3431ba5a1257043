import type { MemoryRecord } from '../../domain/memory.ts';
import { mapInSlices, startLongSlices } from '../../domain/slices.ts';
import { cannotUndo, type UndoProblem } from '../../store/faults.ts';
import type { EventQuery, MemoryEvent, StoreReader, Verb } from '../../store/store.ts';
import { linkChangeFromJson, recordFromJson, settingsFromJson } from '../../store/stored-json.ts';
import { verify } from './checksum.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { findMemories, memoriesAround } from './find.ts';
import { readLinks, readLinksAmong, readNeighbours } from './links.ts';
import { readSpaceState } from './meta.ts';
import { readPairs, readUncompared } from './pairs.ts';
import { readStanding, readStated } from './relations.ts';
import { fromValues, ROW_AT, VALUE_COLUMN_LIST } from './rows.ts';
import { readSession } from './sessions.ts';
import { readTombstones } from './tombstones.ts';
import { readVotes } from './votes.ts';

export interface EventRow {
  readonly sequence: number;
  readonly operation: number;
  readonly at: number;
  readonly verb: Verb;
  readonly memory_id: string;
  readonly before: string | null;
  readonly redacted: number;
  readonly undoes: number | null;
  readonly link: string | null;
  readonly settings: string | null;
  readonly run: string | null;
  readonly memory_row: number;
  readonly checksum: number | null;
}

/** Selects every column, in the order that the checksum covers them. */
export const selectEvents = 'SELECT * FROM event';

/** Creates a reader of memories and logs. `connection()` returns the connection, and throws once the space is closed. */
export function createReader(
  connection: () => Connection,
): Omit<StoreReader, 'list' | 'operations' | 'usage' | 'place' | 'recordings'> {
  return {
    get: (ids) => mapInSlices(ids, (id) => findMemory(connection(), id)?.memory, startLongSlices()),
    async storedLinks(ids, { among = false } = {}) {
      return among ? readLinksAmong(connection(), ids) : readLinks(connection(), ids);
    },
    async stated(query) {
      return readStated(connection(), query);
    },
    async standing(ids) {
      return readStanding(connection(), ids);
    },
    async neighbours(ids) {
      return readNeighbours(connection(), ids);
    },
    async pairs(query) {
      return readPairs(connection, query);
    },
    async find(by, values) {
      return findMemories(connection, by, values);
    },
    async around(memory, count) {
      return memoriesAround(connection(), memory, count);
    },
    async session(id) {
      return readSession(connection(), id);
    },
    async votes(id) {
      return readVotes(connection(), id);
    },
    async tombstones(statements) {
      return readTombstones(connection(), statements);
    },
    async uncompared(limit) {
      return readUncompared(connection(), limit);
    },
    async state() {
      return readSpaceState(connection());
    },
    async events(query) {
      return readEvents(connection(), query);
    },
  };
}

function readEvents(connection: Connection, query: EventQuery): readonly MemoryEvent[] {
  const where = (condition: string, ...values: readonly SqlValue[]) =>
    toEvents(connection.all(`${selectEvents} WHERE ${condition} ORDER BY sequence`, ...values));
  if ('memory' in query) return where('memory_id = ?', query.memory);
  if ('run' in query) return where('run = ?', query.run);
  if ('after' in query) {
    const after = `${selectEvents} WHERE sequence > ? ORDER BY sequence LIMIT ?`;
    return toEvents(connection.all(after, query.after, query.limit));
  }
  if ('removed' in query) {
    return where(`sequence IN (
      SELECT max(sequence) FROM event
      WHERE before IS NOT NULL AND memory_id NOT IN (SELECT id FROM memory) GROUP BY memory_id)`);
  }
  return where('operation = ?', query.operation);
}

/** Reads the whole log, oldest event first. */
export function* readingAllEvents(connection: Connection): Generator<undefined, readonly MemoryEvent[]> {
  const events: MemoryEvent[] = [];
  for (const row of connection.each(`${selectEvents} ORDER BY sequence`)) {
    yield;
    events.push(eventOf(row as EventRow));
  }
  return events;
}

export function findMemory(
  connection: Connection,
  id: string,
): { readonly row: number; readonly memory: MemoryRecord } | undefined {
  const [found] = connection.lists(`SELECT ${VALUE_COLUMN_LIST} FROM memory WHERE id = ?`, id);
  return found && { row: found[ROW_AT] as number, memory: fromValues(found) };
}

/** Returns the last event of the space. */
export function lastEvent(
  connection: Connection,
): { readonly sequence: number; readonly at: number } | undefined {
  return connection.get('SELECT sequence, at FROM event ORDER BY sequence DESC LIMIT 1') as
    | { sequence: number; at: number }
    | undefined;
}

export function lastSequence(connection: Connection): number {
  return lastEvent(connection)?.sequence ?? 0;
}

/** Throws `cannot_undo` for an operation that is unknown, an undo, redacted or undone already. */
export function checkUndoable(connection: Connection, operation: number, partly = false): void {
  const problem = problemOfUndoing(connection, operation, partly);
  if (problem) throw cannotUndo(operation, problem);
}

export function problemOfUndoing(
  connection: Connection,
  operation: number,
  partly = false,
): UndoProblem | undefined {
  const { verb, redacted, undone } = connection.get(
    `SELECT max(verb) AS verb, max(redacted) AS redacted,
            EXISTS (SELECT 1 FROM event WHERE undoes = ?1) AS undone
     FROM event WHERE operation = ?1`,
    operation,
  ) as { verb: Verb | null; redacted: number; undone: number };
  if (verb === null) return 'unknown';
  if (verb === 'undo') return 'undo';
  if (redacted && !partly) return 'redacted';
  return undone ? 'undone' : undefined;
}

function toEvents(rows: readonly unknown[]): readonly MemoryEvent[] {
  return (rows as readonly EventRow[]).map(eventOf);
}

/** Reads a row of the log. Throws `store_corrupt`. */
export function eventOf(row: EventRow): MemoryEvent {
  const { checksum, ...values } = row;
  verify(Object.values(values), checksum, { table: 'event', row: row.sequence });
  return {
    sequence: row.sequence,
    operation: row.operation,
    at: row.at,
    verb: row.verb,
    memoryId: row.memory_id,
    before: row.before === null ? undefined : recordFromJson(row.before, row.sequence),
    redacted: row.redacted === 1,
    undoes: row.undoes ?? undefined,
    link: row.link === null ? undefined : linkChangeFromJson(row.link, row.sequence),
    settings:
      row.settings === null
        ? undefined
        : settingsFromJson(row.settings, { table: 'event', row: row.sequence }),
    run: row.run ?? undefined,
  };
}
