import { derivePage, neverQuiet, REINDEX_ROUNDS } from '../../store/reindexing.ts';
import type { IndexedText, ReindexRequest } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { lastSequence } from './events.ts';
import { readDerivation, readGeneration, writeDerivation, writeMeta } from './meta.ts';
import { dropPages } from './pages.ts';
import { rangesOf } from './ranges.ts';
import { fromRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';
import type { TermIds } from './terms.ts';
import { writeIndexed } from './write.ts';

const pageSize = 500;

export interface ReindexContext {
  readonly name: string;
  /** Reads committed data, in its turn. Throws if the space is closed. */
  readonly read: <Result>(task: (reader: Connection) => Result) => Promise<Awaited<Result>>;
  /** Runs the steps of a task as a write transaction of its own, after those that are waiting. */
  readonly transaction: <Result>(
    task: (writer: Connection, termIds: TermIds) => Generator<unknown, Result>,
  ) => Promise<Result>;
}

/** See `SpaceStore.reindex`. */
export async function reindexSpace(context: ReindexContext, request: ReindexRequest): Promise<void> {
  const { read, transaction } = context;
  const derived = new Map<number, IndexedText>();
  let sequence = await read(lastSequence);
  await deriveAll(read, request, derived);
  for (let round = 0; round < REINDEX_ROUNDS; round++) {
    const done = await transaction(function* (writer, termIds) {
      if (lastSequence(writer) !== sequence) return false;
      yield* replaceAll(writer, termIds, request, derived);
      return true;
    });
    if (done) return;
    sequence = await deriveChanged(read, request, derived, sequence);
  }
  throw neverQuiet(context.name);
}

async function deriveAll(
  read: ReindexContext['read'],
  request: ReindexRequest,
  derived: Map<number, IndexedText>,
): Promise<void> {
  const { total } = (await read((reader) => reader.get('SELECT count(*) AS total FROM memory'))) as {
    total: number;
  };
  let after = 0;
  for (;;) {
    const page = `SELECT ${ROW_COLUMN_LIST} FROM memory WHERE row > ? ORDER BY row LIMIT ?`;
    const rows = (await read((reader) => reader.all(page, after, pageSize))) as MemoryRow[];
    const last = rows.at(-1);
    if (!last) return;
    after = last.row;
    await deriveRows(request, rows, derived);
    request.progress?.(Math.min(derived.size, total), total);
  }
}

/** Derives the data of memories written after `sequence` again. Returns the sequence up to which `derived` is complete. */
async function deriveChanged(
  read: ReindexContext['read'],
  request: ReindexRequest,
  derived: Map<number, IndexedText>,
  sequence: number,
): Promise<number> {
  const present = await read(lastSequence);
  const since = 'SELECT DISTINCT memory_row AS row FROM event WHERE sequence > ? AND sequence <= ?';
  const changed = (await read((reader) => reader.all(since, sequence, present))) as { row: number }[];
  for (let start = 0; start < changed.length; start += pageSize) {
    const numbers = changed.slice(start, start + pageSize).map(({ row }) => row);
    for (const row of numbers) derived.delete(row);
    const these = `SELECT ${ROW_COLUMN_LIST} FROM memory WHERE row IN (SELECT value FROM json_each(?))`;
    const rows = (await read((reader) => reader.all(these, JSON.stringify(numbers)))) as MemoryRow[];
    await deriveRows(request, rows, derived);
  }
  return present;
}

async function deriveRows(
  request: ReindexRequest,
  rows: readonly MemoryRow[],
  derived: Map<number, IndexedText>,
): Promise<void> {
  if (rows.length === 0) return;
  const results = await derivePage(request, rows.map(fromRow));
  for (const [index, row] of rows.entries()) derived.set(row.row, results[index] as IndexedText);
}

function* replaceAll(
  writer: Connection,
  termIds: TermIds,
  { analyzer, embedding }: ReindexRequest,
  derived: ReadonlyMap<number, IndexedText>,
): Generator<undefined, void> {
  for (const table of ['vector', 'term_vector', 'term']) yield* deleteAll(writer, table);
  // Another model finds other similar memories, so all must be compared again.
  if (readDerivation(writer).embedding?.model !== embedding?.model)
    writer.run('UPDATE memory SET compared = 0');
  termIds.clear();
  for (const [row] of writer.lists('SELECT row FROM memory ORDER BY row') as [number][]) {
    writeIndexed(writer, termIds, row, derived.get(row) as IndexedText);
    yield;
  }
  writeDerivation(writer, { embedding, analyzer });
  writeMeta(writer, 'generation', String(readGeneration(writer) + 1));
  yield* dropPages(writer);
}

/** Rows that are deleted at once. */
const RANGE = 512;

/** Deletes all rows in steps. One statement would take half a second for 100,000 rows, since deleted data is overwritten. */
function* deleteAll(writer: Connection, table: string): Generator<undefined, void> {
  for (const range of rangesOf(writer, table, RANGE)) {
    writer.run(`DELETE FROM ${table} WHERE rowid >= ? AND rowid < ?`, ...range);
    yield;
  }
}
