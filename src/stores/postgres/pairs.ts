import type { MemoryRecord } from '../../domain/memory.ts';
import type { KeptPair } from '../../store/state.ts';
import type { PairQuery, SimilarPair } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { fromRow, RECORD_COLUMNS } from './rows.ts';
import { type Sql, sql, wantedTexts } from './sql.ts';

export const PAIR_COLUMNS = sql`older_id, newer_id, kind, similarity, sequence, at, attempts, resolution, ended_at, ended_by, dropped`;

/** See `StoreReader.pairs`. */
export async function readPairs(moment: Moment, query: PairQuery): Promise<readonly SimilarPair[]> {
  const { database, id } = moment.place;
  const { similar_pair } = database.tables;
  const where = (condition: Sql, limit = sql``) =>
    moment.rows(
      sql`SELECT ${PAIR_COLUMNS} FROM ${similar_pair} WHERE space_id = ${id}::uuid AND NOT dropped AND ${condition}
        ORDER BY sequence ${limit}`,
    );
  if ('waiting' in query) {
    const waiting = sql`ended_at IS NULL AND sequence > ${query.after}::bigint`;
    return (await where(waiting, sql`LIMIT ${query.waiting}::bigint`)).map(pairOf);
  }
  if ('sequence' in query) return (await where(sql`sequence = ${query.sequence}::bigint`)).map(pairOf);
  const ids = wantedTexts(query.of);
  return (await where(sql`(older_id IN ${ids} OR newer_id IN ${ids})`)).map(pairOf);
}

/** See `SpaceReader.uncompared`. */
export async function readUncompared(moment: Moment, limit: number): Promise<readonly MemoryRecord[]> {
  const { database, id } = moment.place;
  const rows = await moment.rows(
    sql`SELECT ${RECORD_COLUMNS} FROM ${database.tables.memory} AS memory
      WHERE space_id = ${id}::uuid AND NOT compared AND tier = 'hot' ORDER BY key LIMIT ${limit}::bigint`,
  );
  return rows.map(fromRow);
}

export function keptPairOf(row: Found): KeptPair {
  const { ended_at, ended_by, dropped } = row as {
    ended_at: number | null;
    ended_by: number | null;
    dropped: boolean;
  };
  return { ...pairOf(row), endedAt: ended_at ?? undefined, endedBy: ended_by ?? undefined, dropped };
}

export function toPairRow(pair: KeptPair): Found {
  const { older, newer, kind, similarity, sequence, at, attempts, resolution, endedAt, endedBy, dropped } =
    pair;
  return {
    sequence,
    older_id: older,
    newer_id: newer,
    kind,
    similarity: similarity + 0,
    at,
    attempts,
    resolution: resolution ?? null,
    ended_at: endedAt ?? null,
    ended_by: endedBy ?? null,
    dropped,
  };
}

function pairOf(row: Found): SimilarPair {
  const { older_id, newer_id, kind, similarity, sequence, at, attempts, resolution } = row as {
    older_id: string;
    newer_id: string;
    kind: SimilarPair['kind'];
    similarity: number;
    sequence: number;
    at: number;
    attempts: number;
    resolution: string | null;
  };
  return {
    older: older_id,
    newer: newer_id,
    kind,
    similarity,
    sequence,
    at,
    attempts,
    resolution: resolution ?? undefined,
  };
}
