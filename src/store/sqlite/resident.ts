import {
  createResidentIndex,
  isWorn,
  putMemory,
  type ResidentIndex,
  removeMemory,
} from '../../index/resident-index.ts';
import { decodeSnapshot, encodeSnapshot } from '../../index/snapshot.ts';
import { signalsOf } from '../../scoring/signals.ts';
import type { Connection } from './connection.ts';
import { lastSequence } from './events.ts';
import { readGeneration } from './meta.ts';
import { loadPages } from './pages.ts';
import { fromRow, fromVectorBytes, type MemoryRow, RECORD_COLUMN_LIST } from './rows.ts';
import { decodeTermVector } from './term-vector.ts';

/** The resident index of one space in this process, brought up to date before each use. */
export interface Resident {
  /**
   * The index as of the last committed event of any process. To be called inside a read transaction, so that the
   * vectors read next belong to the same state.
   */
  refresh(connection: Connection): { readonly index: ResidentIndex; readonly sequence: number };
}

export function createResident(): Resident {
  let index: ResidentIndex | undefined;
  let sequence = 0;
  let generation = -1;
  let version: number | undefined;
  return {
    refresh(connection) {
      const now = dataVersion(connection);
      if (index && version === now) return { index, sequence };
      const current = readGeneration(connection);
      if (!index || generation !== current) {
        const saved = loadPages(connection);
        index = saved?.index ?? createResidentIndex();
        sequence = saved?.sequence ?? 0;
        generation = current;
        if (!saved) loadAll(connection, index);
        if (!saved) sequence = lastSequence(connection);
      }
      sequence = catchUp(connection, index, sequence);
      if (isWorn(index)) index = decodeSnapshot(encodeSnapshot(index)) ?? index;
      version = now;
      return { index, sequence };
    },
  };
}

const select = `SELECT memory.row, ${RECORD_COLUMN_LIST.split(', ')
  .map((column) => `memory.${column}`)
  .join(', ')}, term_vector.bytes AS terms, vector.bytes AS vector
  FROM memory LEFT JOIN term_vector USING (row) LEFT JOIN vector USING (row)`;

type IndexedRow = MemoryRow & { readonly terms: Uint8Array | null; readonly vector: Uint8Array | null };

function loadAll(connection: Connection, index: ResidentIndex): void {
  for (const row of connection.statement(`${select} ORDER BY memory.row`).iterate())
    putRow(index, row as IndexedRow);
}

/** Takes in what was written after `sequence`; returns the sequence it then reflects. */
function catchUp(connection: Connection, index: ResidentIndex, sequence: number): number {
  const changed = connection.all(
    'SELECT memory_row AS row, max(sequence) AS sequence FROM event WHERE sequence > ? GROUP BY memory_row ORDER BY memory_row',
    sequence,
  ) as { row: number; sequence: number }[];
  let last = sequence;
  for (const change of changed) {
    const row = connection.get(`${select} WHERE memory.row = ?`, change.row) as IndexedRow | undefined;
    if (row) putRow(index, row);
    else removeMemory(index, change.row);
    last = Math.max(last, change.sequence);
  }
  return last;
}

function putRow(index: ResidentIndex, row: IndexedRow): void {
  const memory = fromRow(row);
  const termIds: number[] = [];
  const termCounts: number[] = [];
  if (row.terms) {
    decodeTermVector(row.terms, (id, count) => {
      termIds.push(id);
      termCounts.push(count);
    });
  }
  putMemory(index, {
    key: row.row,
    signals: signalsOf(memory, {}),
    tags: memory.tags,
    termIds,
    termCounts,
    vector: row.vector ? fromVectorBytes(row.vector) : undefined,
  });
}

function dataVersion(connection: Connection): number {
  return (connection.get('PRAGMA data_version') as { data_version: number }).data_version;
}
