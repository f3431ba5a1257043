import type { MemoryRecord } from '../../domain/memory.ts';
import { startLongSlices } from '../../domain/slices.ts';
import { isRelation, isReplacedBy, isStillEnded } from '../../store/belief-state.ts';
import { missingMemory } from '../../store/faults.ts';
import { orderedEnds } from '../../store/links.ts';
import type { Change, NewPair, PairQuery, SimilarPair } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { real, type SqlValue } from './driver.ts';
import { rowOf } from './links.ts';
import { readRecords, text, VALUE_COLUMN_LIST } from './rows.ts';
import { relationsChanged } from './supersession.ts';

type PairRow = Omit<SimilarPair, 'resolution'> & { readonly resolution: string | null };

const pairs = `SELECT older_id AS older, newer_id AS newer, kind, similarity, sequence, at, attempts, resolution
  FROM similar_pair WHERE dropped = 0`;

/** Searches by the newer end, since an old memory may be similar to any number of newer ones. */
const between = `${pairs} AND newer_id IN (?1, ?2) AND +older_id IN (?1, ?2) ORDER BY sequence LIMIT 1`;

const known = `${pairs} AND sequence IN (
    SELECT sequence FROM similar_pair WHERE older_id IN (SELECT value FROM json_each(?1))
    UNION
    SELECT sequence FROM similar_pair WHERE newer_id IN (SELECT value FROM json_each(?1))
  ) ORDER BY sequence`;

/** Memories whose pairs are read by one statement, which takes a few milliseconds. */
const TOGETHER = 1024;

/** See `StoreReader.pairs`. */
export async function readPairs(
  connection: () => Connection,
  query: PairQuery,
): Promise<readonly SimilarPair[]> {
  if ('waiting' in query) {
    const waiting = `${pairs} AND ended_at IS NULL AND sequence > ? ORDER BY sequence LIMIT ?`;
    return read(connection(), waiting, query.after, query.waiting);
  }
  if (!('of' in query)) return read(connection(), `${pairs} AND sequence = ?`, query.sequence);
  if (query.of.length <= TOGETHER) return read(connection(), known, JSON.stringify(query.of));
  const found = new Map<number, SimilarPair>();
  const slices = startLongSlices();
  for (let start = 0; start < query.of.length; start += TOGETHER) {
    const some = JSON.stringify(query.of.slice(start, start + TOGETHER));
    for (const pair of read(connection(), known, some)) found.set(pair.sequence, pair);
    await slices();
  }
  return [...found.values()].sort((a, b) => a.sequence - b.sequence);
}

function read(connection: Connection, sql: string, ...values: SqlValue[]): readonly SimilarPair[] {
  return (connection.all(sql, ...values) as PairRow[]).map(pairOf);
}

/** See `SpaceReader.uncompared`. */
export function readUncompared(connection: Connection, limit: number): readonly MemoryRecord[] {
  return readRecords(
    connection,
    `SELECT ${VALUE_COLUMN_LIST} FROM memory INDEXED BY memory_uncompared
     WHERE compared = 0 AND tier = 'hot' ORDER BY row LIMIT ?`,
    limit,
  );
}

/** Queues a pair that says something new. Throws `not_found` without both memories, `invalid_argument`. */
export function queuePair(connection: Connection, pair: NewPair, at: number): void {
  const { older, newer, kind, similarity } = pair;
  for (const id of orderedEnds([older, newer])) {
    if (rowOf(connection, id) === undefined) throw missingMemory(id);
  }
  const known = connection.get(between, older, newer) as PairRow | undefined;
  if (known && !isReplacedBy(pairOf(known), pair)) return;
  if (known) {
    // The old pair is ended but kept, for looking back.
    connection.run(
      'UPDATE similar_pair SET dropped = 1, ended_at = ? WHERE sequence = ?',
      at,
      known.sequence,
    );
  }
  connection.run(
    'INSERT INTO similar_pair (older_id, newer_id, kind, similarity, at) VALUES (?, ?, ?, ?, ?)',
    older,
    newer,
    text(kind, 'kind'),
    real(similarity),
    at,
  );
  noticeRelations(connection, [pair]);
}

/** Makes recalls read all relations again, if one of the changed pairs is a relation. */
function noticeRelations(connection: Connection, changed: readonly unknown[]): void {
  if ((changed as readonly NewPair[]).some(isRelation)) relationsChanged(connection);
}

/** The operation that ends a pair, and its moment. */
export interface End {
  readonly at: number;
  readonly operation: number;
}

export function settlePair(
  connection: Connection,
  sequence: number,
  resolution: string,
  { at, operation }: End,
): void {
  const settled = connection.all(
    `UPDATE similar_pair SET ended_at = ?, ended_by = ?, resolution = ?
     WHERE sequence = ? AND ended_at IS NULL RETURNING kind`,
    at,
    operation,
    text(resolution, 'resolution'),
    sequence,
  );
  noticeRelations(connection, settled);
}

/** See the change `attempt-pairs`. */
export function attemptPairs(connection: Connection, sequences: readonly number[]): void {
  connection.run(
    'UPDATE similar_pair SET attempts = attempts + 1 WHERE sequence IN (SELECT value FROM json_each(?))',
    JSON.stringify(sequences),
  );
}

/** Queues the pairs again that an operation ended. Keeps the old rows, for looking back. */
export function requeuePairs(
  connection: Connection,
  { operation, unchanged }: Extract<Change, { kind: 'requeue-pairs' }>,
  at: number,
): void {
  const ended = connection.all(
    `SELECT older_id AS older, newer_id AS newer, kind, similarity, sequence, resolution FROM similar_pair
     WHERE ended_by = ? AND EXISTS (SELECT 1 FROM memory WHERE id = older_id)
     AND EXISTS (SELECT 1 FROM memory WHERE id = newer_id) ORDER BY sequence`,
    operation,
  ) as (NewPair & { readonly sequence: number; readonly resolution: string | null })[];
  for (const { sequence, resolution, ...pair } of ended) {
    if (isStillEnded({ ...pair, resolution: resolution ?? undefined }, unchanged)) continue;
    connection.run('UPDATE similar_pair SET dropped = 1 WHERE sequence = ?', sequence);
    queuePair(connection, pair, at);
  }
}

/** Clears `ended_by` of pairs ended by an operation without events: it cannot be undone, and the next one gets its number. */
export function forgetEnds(connection: Connection, operation: number): void {
  connection.run('UPDATE similar_pair SET ended_by = NULL WHERE ended_by = ?', operation);
}

export function markCompared(connection: Connection, ids: readonly string[]): void {
  connection.run(
    'UPDATE memory SET compared = 1 WHERE id IN (SELECT value FROM json_each(?))',
    JSON.stringify(ids),
  );
}

/** Discards comparisons and pairs of a memory whose text has changed or that is removed. */
export function forgetComparison(connection: Connection, id: string, { at, operation }: End): void {
  connection.run('UPDATE memory SET compared = 0 WHERE id = ?', id);
  const pairs = read(connection, known, JSON.stringify([id]));
  if (pairs.length === 0) return;
  for (const end of ['older_id', 'newer_id']) {
    connection.run(
      `UPDATE similar_pair SET dropped = 1, ended_at = coalesce(ended_at, ?1),
         ended_by = iif(ended_at IS NULL, ?2, ended_by) WHERE ${end} = ?3 AND dropped = 0`,
      at,
      operation,
      id,
    );
  }
  noticeRelations(connection, pairs);
}

/** Deletes every pair of a memory, ended ones included. */
export function erasePairs(connection: Connection, id: string): void {
  connection.run('DELETE FROM similar_pair WHERE older_id = ?1 OR newer_id = ?1', id);
}

function pairOf({ resolution, ...pair }: PairRow): SimilarPair {
  return { ...pair, resolution: resolution ?? undefined };
}
