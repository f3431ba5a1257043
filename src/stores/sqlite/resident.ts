import { signalsOf } from '../../scoring/signals.ts';
import { decodePages, encodePages } from '../../search/pages.ts';
import {
  bytesOfIndex,
  createResidentIndex,
  needsCompaction,
  putMemory,
  putSignals,
  type ResidentIndex,
  removeMemory,
  signalsOfRow,
  turnOf,
} from '../../search/resident-index.ts';
import type { Relations } from '../../store/standing.ts';
import type { Link } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { lastSequence, linkChangeFromJson } from './events.ts';
import { createLinkCache, type LinkCache } from './link-cache.ts';
import { readGeneration } from './meta.ts';
import { loadPages, type Reflected } from './pages.ts';
import { type DerivedColumns, fromRow, fromVectorRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';
import { readRelations, readRelationsVersion } from './supersession.ts';
import { decodeTermVector } from './term-vector.ts';
import { lastUsageSequence, usedSince } from './usage.ts';

/** The resident index of one space in this process, brought up to date before each use. */
export interface Resident {
  /**
   * The index as of the last committed event and use of any process. To be called inside a read transaction, so that the
   * vectors read next belong to the same state.
   */
  refresh(
    connection: Connection,
  ): { readonly index: ResidentIndex; readonly relations: Relations<number> } & Reflected;
  /** The links of these memories as of the same moment. To be called inside a read transaction. */
  links(connection: Connection, ids: readonly string[], minimum: number): readonly Link[];
  /** About how many bytes it takes. */
  bytes(): number;
}

export function createResident(): Resident {
  let index: ResidentIndex | undefined;
  let reflected: Reflected = { sequence: 0, usage: 0 };
  let generation = -1;
  let version: number | undefined;
  const links = createLinkCache();
  let relations: Relations<number> = { successors: new Map(), newer: new Map() };
  // Of no file: what an older version left has relations, and no version of them yet.
  let relationsVersion = -1;
  const resident: Resident = {
    bytes: () => (index ? bytesOfIndex(index) : 0),
    links(connection, ids, minimum) {
      resident.refresh(connection);
      return links.read(connection, ids, minimum);
    },
    refresh(connection) {
      const now = connection.version();
      if (index && version === now) return { index, relations, ...reflected };
      const current = readGeneration(connection);
      if (!index || generation !== current) {
        const saved = loadPages(connection);
        index = saved?.index ?? createResidentIndex();
        generation = current;
        links.clear();
        reflected = saved?.reflected ?? loadAll(connection, index);
      }
      reflected = catchUp(connection, index, reflected, links);
      if (needsCompaction(index)) index = decodePages(encodePages(index)) ?? index;
      const related = readRelationsVersion(connection);
      if (related !== relationsVersion) relations = readRelations(connection);
      relationsVersion = related;
      version = now;
      return { index, relations, ...reflected };
    },
  };
  return resident;
}

const select = `SELECT ${ROW_COLUMN_LIST}, term_vector.bytes AS terms, term_vector.checksum AS terms_checksum,
  vector.bytes AS vector, vector.checksum AS vector_checksum
  FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row)`;

type IndexedRow = MemoryRow & DerivedColumns;

function loadAll(connection: Connection, index: ResidentIndex): Reflected {
  for (const row of connection.each(`${select} ORDER BY memory.row`)) putRow(index, row as IndexedRow);
  return { sequence: lastSequence(connection), usage: lastUsageSequence(connection) };
}

/** Takes in what was written and used since; returns what the index then reflects. */
function catchUp(
  connection: Connection,
  index: ResidentIndex,
  { sequence, usage }: Reflected,
  links: LinkCache,
): Reflected {
  const changed = connection.all(
    `SELECT memory_row AS row, memory_id AS id, min(verb = 'maintain') AS maintained FROM event
     WHERE sequence > ? AND link IS NULL GROUP BY memory_row ORDER BY memory_row`,
    sequence,
  ) as { row: number; id: string; maintained: number }[];
  for (const { row: key, id, maintained } of changed) {
    links.invalidate([id]);
    // Maintenance changes tiers by the thousand, and texts only of what becomes a stub.
    if (maintained && index.rowOfKey.has(key) && refreshSignals(connection, index, id)) continue;
    const row = connection.get(`${select} WHERE memory.row = ?`, key) as IndexedRow | undefined;
    if (row) putRow(index, row);
    else {
      removeMemory(index, key);
      // The memories that it was linked with are not known any more.
      links.clear();
    }
  }
  const relinked = connection.all(
    'SELECT sequence, link FROM event WHERE sequence > ? AND link IS NOT NULL',
    sequence,
  );
  for (const { sequence: event, link } of relinked as { sequence: number; link: string }[]) {
    links.invalidate(linkChangeFromJson(link, event).link.ids);
  }
  for (const id of usedSince(connection, usage)) {
    refreshSignals(connection, index, id);
    links.invalidate([id]);
  }
  return { sequence: lastSequence(connection), usage: lastUsageSequence(connection) };
}

/** Takes in what a memory is beside its text; false when there is none. A use leaves the text alone, and with it terms and vector; only a stub has none of them in the index. */
function refreshSignals(connection: Connection, index: ResidentIndex, id: string): boolean {
  const found = connection.get(`SELECT ${ROW_COLUMN_LIST} FROM memory WHERE id = ?`, id) as
    | MemoryRow
    | undefined;
  if (!found) return false;
  const row = index.rowOfKey.get(found.row);
  const wasStub = row !== undefined && signalsOfRow(index, row).tier === 'stub';
  if (row !== undefined && wasStub === (found.tier === 'stub')) {
    putSignals(index, found.row, signalsOf(fromRow(found)));
  } else {
    putRow(index, connection.get(`${select} WHERE memory.row = ?`, found.row) as IndexedRow);
  }
  return true;
}

function putRow(index: ResidentIndex, row: IndexedRow): void {
  const memory = fromRow(row);
  const termIds: number[] = [];
  const termCounts: number[] = [];
  if (row.terms) {
    decodeTermVector({ row: row.row, bytes: row.terms, checksum: row.terms_checksum }, (id, count) => {
      termIds.push(id);
      termCounts.push(count);
    });
  }
  putMemory(index, {
    key: row.row,
    ordinal: memory.ordinal,
    signals: signalsOf(memory),
    tags: memory.tags,
    turn: turnOf(memory),
    termIds,
    termCounts,
    vector: row.vector
      ? fromVectorRow(
          { row: row.row, bytes: row.vector, checksum: row.vector_checksum },
          index.dimensions || undefined,
        )
      : undefined,
  });
}
