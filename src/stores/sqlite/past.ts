import { damagedRow } from '../../store/damage.ts';
import { linkKey } from '../../store/links.ts';
import { emptyState, type KeptPair, type SearchableMemory, type State } from '../../store/state.ts';
import type { LinkKind, MemoryEvent } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { readAllEvents } from './events.ts';
import { readDerivation, readSettings } from './meta.ts';
import { type DerivedColumns, fromRow, fromVectorRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';
import { decodeTermVector } from './term-vector.ts';
import { readUsage } from './usage.ts';
import { readAllVotes } from './votes.ts';

/** See `SpaceCore.everything`. To be called inside a read transaction. */
export function readState(connection: Connection): State {
  const memories = readMemories(connection);
  const pairs = readPairs(connection);
  return {
    ...emptyState,
    ...readDerivation(connection),
    settings: readSettings(connection),
    memories,
    events: readAllEvents(connection) as readonly MemoryEvent[],
    links: readAllLinks(connection),
    usages: readUsage(connection, 0),
    pairs: new Map(pairs.map((pair) => [pair.sequence, pair])),
    votes: readAllVotes(connection),
    lastPair: pairs.at(-1)?.sequence ?? 0,
    lastOrdinal: [...memories.values()].reduce((last, { memory }) => Math.max(last, memory.ordinal), 0),
  };
}

function readMemories(connection: Connection): State['memories'] {
  const terms = new Map(
    (connection.all('SELECT id, text FROM term') as { id: number; text: string }[]).map(({ id, text }) => [
      id,
      text,
    ]),
  );
  const memories = new Map<string, SearchableMemory>();
  const rows = connection.each(
    `SELECT ${ROW_COLUMN_LIST}, term_vector.bytes AS terms, term_vector.checksum AS terms_checksum,
         vector.bytes AS vector, vector.checksum AS vector_checksum
       FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row) ORDER BY row`,
  );
  for (const each of rows) {
    const row = each as MemoryRow & DerivedColumns;
    const counts = new Map<string, number>();
    if (row.terms) {
      decodeTermVector({ row: row.row, bytes: row.terms, checksum: row.terms_checksum }, (id, count) => {
        const term = terms.get(id);
        if (term === undefined) throw damagedRow({ table: 'term_vector', row: row.row }, 'a term is unknown');
        counts.set(term, count);
      });
    }
    const memory = fromRow(row);
    memories.set(memory.id, {
      memory,
      terms: counts,
      vector: row.vector
        ? fromVectorRow({ row: row.row, bytes: row.vector, checksum: row.vector_checksum })
        : undefined,
    });
  }
  return memories;
}

function readAllLinks(connection: Connection): State['links'] {
  const rows = connection.all(
    `SELECT a.id AS a, b.id AS b, link.kind, link.weight, link.at FROM link
     JOIN memory AS a ON a.row = a_row JOIN memory AS b ON b.row = b_row`,
  ) as { a: string; b: string; kind: LinkKind; weight: number; at: number }[];
  return new Map(
    rows.map(({ a, b, kind, weight, at }) => {
      const link = { ids: a < b ? ([a, b] as const) : ([b, a] as const), kind, weight, at };
      return [linkKey(link), link];
    }),
  );
}

function readPairs(connection: Connection): readonly KeptPair[] {
  const rows = connection.all(
    `SELECT older_id AS older, newer_id AS newer, kind, similarity, sequence, at, attempts, resolution, ended_at, ended_by, dropped
     FROM similar_pair ORDER BY sequence`,
  ) as (Omit<KeptPair, 'resolution' | 'endedAt' | 'endedBy' | 'dropped'> & {
    resolution: string | null;
    ended_at: number | null;
    ended_by: number | null;
    dropped: number;
  })[];
  return rows.map(({ ended_at, ended_by, dropped, resolution, ...pair }) => ({
    ...pair,
    resolution: resolution ?? undefined,
    endedAt: ended_at ?? undefined,
    endedBy: ended_by ?? undefined,
    dropped: dropped === 1,
  }));
}
