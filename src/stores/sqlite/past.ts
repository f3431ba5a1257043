import { damagedRow } from '../../store/damage.ts';
import { linkKey } from '../../store/links.ts';
import { emptyState, type KeptPair, type SearchableMemory, type State } from '../../store/state.ts';
import type { LinkKind } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { readingAllEvents } from './events.ts';
import { readDerivation, readSettings } from './meta.ts';
import { fromValues, fromVectorRow, ROW_AT, VALUE_COLUMN_LIST, VALUE_COUNT } from './rows.ts';
import { decodeTermVector } from './term-vector.ts';
import { readUsage } from './usage.ts';
import { readAllVotes } from './votes.ts';

/** Reads everything: see `SpaceCore.everything`. Call it inside a read transaction. */
export function* readingState(connection: Connection): Generator<undefined, State> {
  const memories = yield* readingMemories(connection);
  const pairs = readPairs(connection);
  return {
    ...emptyState,
    ...readDerivation(connection),
    settings: readSettings(connection),
    memories,
    events: yield* readingAllEvents(connection),
    links: readAllLinks(connection),
    usages: readUsage(connection, 0),
    pairs: new Map(pairs.map((pair) => [pair.sequence, pair])),
    votes: readAllVotes(connection),
    lastPair: pairs.at(-1)?.sequence ?? 0,
    lastOrdinal: [...memories.values()].reduce((last, { memory }) => Math.max(last, memory.ordinal), 0),
  };
}

function* readingMemories(connection: Connection): Generator<undefined, State['memories']> {
  const terms = new Map(
    connection.lists('SELECT id, text FROM term').map(([id, text]) => [id as number, text as string]),
  );
  const memories = new Map<string, SearchableMemory>();
  const rows = connection.eachList(
    `SELECT ${VALUE_COLUMN_LIST}, term_vector.bytes, term_vector.checksum, vector.bytes, vector.checksum
       FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row) ORDER BY memory.row`,
  );
  for (const values of rows) {
    yield;
    const row = values[ROW_AT] as number;
    const [termBytes, termChecksum, vector, vectorChecksum] = values.slice(
      VALUE_COUNT,
    ) as unknown as DerivedValues;
    const counts = new Map<string, number>();
    if (termBytes) {
      decodeTermVector({ row, bytes: termBytes, checksum: termChecksum }, (id, count) => {
        const term = terms.get(id);
        if (term === undefined) throw damagedRow({ table: 'term_vector', row }, 'a term is unknown');
        counts.set(term, count);
      });
    }
    const memory = fromValues(values);
    memories.set(memory.id, {
      memory,
      terms: counts,
      vector: vector ? fromVectorRow({ row, bytes: vector, checksum: vectorChecksum }) : undefined,
    });
  }
  return memories;
}

/** The columns with data derived from the text of a memory. They follow the values of its record. */
type DerivedValues = readonly [
  terms: Uint8Array | null,
  termsChecksum: number | null,
  vector: Uint8Array | null,
  vectorChecksum: number | null,
];

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
