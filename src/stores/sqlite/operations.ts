import { mapInSlices, startLongSlices } from '../../domain/slices.ts';
import { damagedRow } from '../../store/damage.ts';
import type { OperationSummary, OperationsRequest } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { type EventRow, eventOf, problemOfUndoing, selectEvents } from './events.ts';

/** Reads summaries of operations: see `SpaceReader.operations`. The number of an operation is the sequence of its first event. */
export async function readOperations(
  connection: Connection,
  { limit, before = Number.MAX_SAFE_INTEGER, verb, ids }: OperationsRequest,
): Promise<readonly OperationSummary[]> {
  const rows = connection.all(
    `SELECT DISTINCT operation FROM event WHERE operation < ? AND ${verb === undefined ? 'TRUE' : 'verb = ?'}
     ORDER BY operation DESC LIMIT ?`,
    before,
    ...(verb === undefined ? [] : [verb]),
    limit,
  ) as { operation: number }[];
  // In slices: a summary reads everything that its operation wrote.
  return mapInSlices(rows, ({ operation }) => summaryOf(connection, operation, ids), startLongSlices());
}

function summaryOf(connection: Connection, operation: number, most: number): OperationSummary {
  const first = connection.get(`${selectEvents} WHERE sequence = ?`, operation) as EventRow | undefined;
  if (first === undefined)
    throw damagedRow({ table: 'event', row: operation }, 'its operation refers to it, but it does not exist');
  const { at, verb, undoes, run } = eventOf(first);
  const { memories, links } = connection.get(
    `SELECT count(DISTINCT iif(${WRITTEN}, memory_id, NULL)) AS memories, count(link) AS links
     FROM event WHERE operation = ?`,
    operation,
  ) as { memories: number; links: number };
  const ids = connection.all(
    `SELECT memory_id FROM event WHERE operation = ? AND ${WRITTEN} GROUP BY memory_id ORDER BY min(sequence) LIMIT ?`,
    operation,
    most,
  ) as { memory_id: string }[];
  const { undone } = connection.get(
    'SELECT min(operation) AS undone FROM event WHERE undoes = ?',
    operation,
  ) as { undone: number | null };
  const problem = problemOfUndoing(connection, operation);
  return {
    operation,
    at,
    verb,
    undoes,
    run,
    memories,
    ids: ids.map(({ memory_id }) => memory_id),
    links,
    undoneBy: undone ?? undefined,
    problem:
      problem === 'unknown'
        ? undefined
        : (problem ?? (isChanged(connection, operation) ? 'changed' : undefined)),
  };
}

const WRITTEN = 'link IS NULL AND settings IS NULL';

/**
 * Whether a later operation that was not undone wrote to the same memory, the same link or, for events without a memory, the
 * settings. Redacted events do not count: for a memory that still exists, they are links to a forgotten one.
 */
function isChanged(connection: Connection, operation: number): boolean {
  const found = connection.get(
    `SELECT 1 FROM event JOIN event AS later ON later.memory_id = event.memory_id AND later.sequence > event.sequence
     WHERE event.operation = ?1 AND later.operation <> ?1 AND later.undoes IS NULL AND NOT later.redacted
       AND json_extract(later.link, '$.link') IS json_extract(event.link, '$.link')
       AND NOT EXISTS (SELECT 1 FROM event AS undo
                       WHERE undo.undoes = later.operation AND undo.memory_id = later.memory_id)
     LIMIT 1`,
    operation,
  );
  return found !== undefined;
}
