import type { MemoryRecord } from '../../model/memory.ts';
import { missingMemory } from '../faults.ts';
import { orderedEnds } from '../links.ts';
import type { SimilarPair } from '../store.ts';
import type { Connection } from './connection.ts';
import { orderedRows, rowOf } from './links.ts';
import { fromRow, type MemoryRow, RECORD_COLUMN_LIST, real } from './rows.ts';

interface PairRow {
  readonly a: string;
  readonly b: string;
  readonly similarity: number;
  readonly at: number;
}

const pairs = `SELECT a.id AS a, b.id AS b, similar_pair.similarity, similar_pair.at FROM similar_pair
  JOIN memory AS a ON a.row = a_row JOIN memory AS b ON b.row = b_row`;

const pending = `${pairs} WHERE settled = 0 ORDER BY sequence LIMIT ?`;

const known = `${pairs} WHERE sequence IN (
    SELECT sequence FROM similar_pair WHERE a_row IN (SELECT row FROM memory WHERE id IN (SELECT value FROM json_each(?1)))
    UNION
    SELECT sequence FROM similar_pair WHERE b_row IN (SELECT row FROM memory WHERE id IN (SELECT value FROM json_each(?1)))
  ) ORDER BY sequence`;

/** See `SpaceReader.pendingPairs`. */
export function readPendingPairs(connection: Connection, limit: number): readonly SimilarPair[] {
  return (connection.all(pending, limit) as PairRow[]).map(pairOf);
}

/** See `SpaceReader.knownPairs`. */
export function readKnownPairs(connection: Connection, ids: readonly string[]): readonly SimilarPair[] {
  return (connection.all(known, JSON.stringify(ids)) as PairRow[]).map(pairOf);
}

/** See `SpaceReader.uncompared`. */
export function readUncompared(connection: Connection, limit: number): readonly MemoryRecord[] {
  const rows = connection.all(
    `SELECT row, ${RECORD_COLUMN_LIST} FROM memory INDEXED BY memory_uncompared
     WHERE compared = 0 AND tier = 'hot' ORDER BY row LIMIT ?`,
    limit,
  ) as MemoryRow[];
  return rows.map(fromRow);
}

/** Queues a pair that is not known. Throws `not_found` without both memories, `invalid_argument`. */
export function queuePair(connection: Connection, { ids, similarity, at }: SimilarPair): void {
  const [a, b] = orderedRows(
    ...(orderedEnds(ids).map((id) => {
      const row = rowOf(connection, id);
      if (row === undefined) throw missingMemory(id);
      return row;
    }) as [number, number]),
  );
  connection.run(
    'INSERT INTO similar_pair (a_row, b_row, similarity, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    a,
    b,
    real(similarity),
    at,
  );
}

export function settlePair(connection: Connection, ids: readonly [string, string]): void {
  const [first, second] = ids.map((id) => rowOf(connection, id));
  if (first === undefined || second === undefined) return;
  const [a, b] = orderedRows(first, second);
  connection.run('UPDATE similar_pair SET settled = 1 WHERE a_row = ? AND b_row = ?', a, b);
}

export function markCompared(connection: Connection, ids: readonly string[]): void {
  connection.run(
    'UPDATE memory SET compared = 1 WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify(ids),
  );
}

/** The memory in `row` says something else now: what was found out about its text no longer holds. */
export function forgetComparison(connection: Connection, row: number): void {
  connection.run('UPDATE memory SET compared = 0 WHERE row = ?', row);
  connection.run('DELETE FROM similar_pair WHERE a_row = ?1 OR b_row = ?1', row);
}

function pairOf({ a, b, similarity, at }: PairRow): SimilarPair {
  return { ids: orderedEnds([a, b]), similarity, at };
}
