import type { OperationSummary, OperationsRequest } from '../../store/store.ts';
import type { Moment } from './moment.ts';
import { sql, wanted } from './sql.ts';

interface OperationRow {
  readonly operation: number;
  readonly at: number;
  readonly verb: OperationSummary['verb'];
  readonly undoes: number | null;
  readonly run: string | null;
  readonly memories: number;
  readonly links: number;
  readonly ids: readonly string[] | null;
  readonly undone_by: number | null;
  readonly redacted: boolean;
  readonly changed: boolean;
}

/** Reads summaries of operations: see `SpaceReader.operations`. The number of an operation is the sequence of its first event. */
export async function readOperations(
  moment: Moment,
  { limit, before = Number.MAX_SAFE_INTEGER, verb, ids }: OperationsRequest,
): Promise<readonly OperationSummary[]> {
  const { database, id } = moment.place;
  const { event } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const written = sql`link IS NULL AND settings IS NULL`;
  // Whether a later operation that was not undone wrote to the same memory or the same link. Redacted events do not count: for a
  // memory that still exists, they are links to a forgotten one.
  const changed = sql`EXISTS (
    SELECT 1 FROM ${event} AS part
    JOIN ${event} AS later ON later.space_id = part.space_id AND later.memory_id = part.memory_id AND later.sequence > part.sequence
    WHERE part.space_id = ${id}::uuid AND part.operation = first.operation
      AND later.operation <> first.operation AND later.undoes IS NULL AND NOT later.redacted
      AND (later.link::json -> 'link')::text IS NOT DISTINCT FROM (part.link::json -> 'link')::text
      AND NOT EXISTS (SELECT 1 FROM ${event} AS undo WHERE undo.space_id = part.space_id
        AND undo.undoes = later.operation AND undo.memory_id = later.memory_id))`;
  const rows = await moment.rows<OperationRow>(
    sql`SELECT operation, at, verb, undoes, run,
        (SELECT count(DISTINCT memory_id) FILTER (WHERE ${written}) FROM ${event} WHERE ${here} AND operation = first.operation) AS memories,
        (SELECT count(link) FROM ${event} WHERE ${here} AND operation = first.operation) AS links,
        (SELECT json_agg(memory_id) FROM (
          SELECT memory_id FROM ${event} WHERE ${here} AND operation = first.operation AND ${written}
          GROUP BY memory_id ORDER BY min(sequence) LIMIT ${ids}::bigint) AS named) AS ids,
        (SELECT min(operation) FROM ${event} WHERE ${here} AND undoes = first.operation) AS undone_by,
        (SELECT bool_or(redacted) FROM ${event} WHERE ${here} AND operation = first.operation) AS redacted,
        ${changed} AS changed
      FROM ${event} AS first
      WHERE ${here} AND sequence = operation AND operation < ${before}::bigint
        ${verb === undefined ? sql`` : sql`AND verb = ${wanted(verb)}`}
      ORDER BY operation DESC LIMIT ${limit}::bigint`,
  );
  return rows.map((row) => ({
    operation: row.operation,
    at: row.at,
    verb: row.verb,
    undoes: row.undoes ?? undefined,
    run: row.run ?? undefined,
    memories: row.memories,
    ids: row.ids ?? [],
    links: row.links,
    undoneBy: row.undone_by ?? undefined,
    problem: problemOf(row),
  }));
}

function problemOf({ verb, redacted, undone_by, changed }: OperationRow): OperationSummary['problem'] {
  if (verb === 'undo') return 'undo';
  if (redacted) return 'redacted';
  if (undone_by !== null) return 'undone';
  return changed ? 'changed' : undefined;
}
