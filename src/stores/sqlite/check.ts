import { SalienceError } from '../../domain/errors.ts';
import { addTo } from '../../domain/lists.ts';
import type { Metadata } from '../../domain/memory.ts';
import { namesOfEntity } from '../../domain/relation.ts';
import { inSlices, startLongSlices } from '../../domain/slices.ts';
import { signalOfCaller, unlessAborted } from '../../store/cancelling.ts';
import { damagedRow, NOT_ERASED_YET } from '../../store/damage.ts';
import type { EmbeddingInfo } from '../../store/store.ts';
import type { ReadAside } from './aside.ts';
import { attributesOf } from './attributes.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { type EventRow, eventOf, selectEvents } from './events.ts';
import { readDerivation, readMeta } from './meta.ts';
import { reflectsLostRows } from './pages.ts';
import { wrongChecksums } from './protection.ts';
import { rangesOf } from './ranges.ts';
import { type RecordingRow, recordingOf } from './recordings.ts';
import { relationsKey, valuesOf } from './relations.ts';
import { type BytesRow, fromRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { decodeTermVector } from './term-vector.ts';
import { type UsageRow, usageOf } from './usage.ts';

/**
 * Looks for damage in the file, and for tables that contradict each other. Returns one sentence per finding. Runs in slices; call it
 * inside a read transaction.
 */
export async function findDamage(connection: Connection, aside?: ReadAside): Promise<readonly string[]> {
  const signal = signalOfCaller();
  const lines = (await aside?.(connection.path, INTEGRITY)) ?? connection.lists(INTEGRITY);
  const damage = lines.filter(([line]) => line !== 'ok').map(([line]) => `SQLite: ${line}: ${RESTORE}`);
  // The other checks cannot work on a damaged file.
  if (damage.length > 0) return damage;
  return inSlices(unlessAborted(damageInTables(connection), signal), startLongSlices());
}

const INTEGRITY = 'PRAGMA space.integrity_check(100)';

function* damageInTables(connection: Connection): Generator<undefined, readonly string[]> {
  const findings: string[] = [];
  const { user_version: version } = connection.get('PRAGMA space.user_version') as { user_version: number };
  if (version !== SCHEMA_VERSION) findings.push(`the schema is ${version}, not ${SCHEMA_VERSION}`);
  const { embedding } = readDerivation(connection);
  for (const { finding, ...wrong } of wrongRows(embedding)) {
    const count = yield* countOf(connection, wrong);
    if (count > 0) findings.push(`${count} ${finding}`);
  }
  const wrong = yield* wrongChecksums(connection);
  const damaged = wrong.length > 0 ? wrong : yield* damagedRows(connection);
  // Unreadable rows cannot be compared.
  findings.push(...(damaged.length > 0 ? damaged : yield* disagreements(connection)));
  if (reflectsLostRows(connection)) findings.push(`the last rows of the log are missing: ${RESTORE}`);
  if (readMeta(connection, 'erasure') !== undefined) findings.push(NOT_ERASED_YET);
  return findings;
}

/** The number of rows that one statement checks. */
const LOOKED_THROUGH = 5000;

function* countOf(
  connection: Connection,
  { table, key, condition }: Omit<WrongRows, 'finding'>,
): Generator<undefined, number> {
  let total = 0;
  const sql = `SELECT count(*) AS count FROM ${table} WHERE ${key} >= ? AND ${key} < ? AND (${condition})`;
  for (const range of rangesOf(connection, table, LOOKED_THROUGH, key)) {
    total += (connection.get(sql, ...range) as { count: number }).count;
    yield;
  }
  return total;
}

interface WrongRows {
  readonly table: string;
  /** The first column of its key. */
  readonly key: string;
  readonly condition: string;
  readonly finding: string;
}

/** Returns conditions that no row should meet, each with the finding to report if some do. */
function wrongRows(embedding: EmbeddingInfo | undefined): readonly WrongRows[] {
  return [
    {
      table: 'memory',
      key: 'row',
      condition: 'NOT EXISTS (SELECT 1 FROM term_vector WHERE term_vector.row = memory.row)',
      finding: 'memories without their terms: reindex the space',
    },
    {
      table: 'memory',
      key: 'row',
      condition: 'NOT EXISTS (SELECT 1 FROM event WHERE event.memory_id = memory.id)',
      finding: `memories without their history: ${RESTORE}`,
    },
    ...['vector', 'term_vector'].map((table) => ({
      table,
      key: 'row',
      condition: `NOT EXISTS (SELECT 1 FROM memory WHERE memory.row = ${table}.row)`,
      finding: `rows in ${table} without a memory: reindex the space`,
    })),
    {
      table: 'link',
      key: 'a_row',
      condition: `a_row >= b_row OR NOT EXISTS (SELECT 1 FROM memory WHERE row = a_row)
       OR NOT EXISTS (SELECT 1 FROM memory WHERE row = b_row)`,
      finding: 'links without both of their memories: restore the space from a backup',
    },
    {
      table: 'similar_pair',
      key: 'sequence',
      condition: `dropped = 0 AND (NOT EXISTS (SELECT 1 FROM memory WHERE id = older_id)
       OR NOT EXISTS (SELECT 1 FROM memory WHERE id = newer_id))`,
      finding: 'similar pairs without both of their memories: restore the space from a backup',
    },
    {
      table: 'vector',
      key: 'row',
      condition: `length(bytes) <> ${(embedding?.dimensions ?? 0) * 4}`,
      finding: `vectors that are not of the space's model (${embedding?.model ?? 'none'}): reindex the space`,
    },
  ];
}

/** Finds memories whose index rows (metadata, supersessions, names, relations) differ from their record. */
function* disagreements(connection: Connection): Generator<undefined, readonly string[]> {
  const findings: string[] = [];
  const stored = new Map<number, string[]>();
  for (const each of connection.each('SELECT row, key, value FROM attribute')) {
    const { row, key, value } = each as { row: number; key: string; value: string };
    addTo(stored, row, `${key}:${value}`);
    yield;
  }
  const superseded = new Map<number, string[]>();
  for (const each of connection.each('SELECT newer_row, older_id FROM supersession')) {
    const { newer_row: row, older_id: older } = each as { newer_row: number; older_id: string };
    addTo(superseded, row, older);
    yield;
  }
  let [wrong, wronglySuperseded] = [0, 0];
  for (const each of connection.each('SELECT row, metadata, supersedes FROM memory')) {
    const { row, metadata, supersedes } = each as { row: number; metadata: string; supersedes: string };
    wronglySuperseded += differences(JSON.parse(supersedes) as string[], superseded.get(row) ?? []);
    superseded.delete(row);
    const expected = attributesOf(JSON.parse(metadata) as Metadata).map((parts) => parts.join(':'));
    if (expected.sort().join() !== (stored.get(row) ?? []).sort().join()) wrong++;
    stored.delete(row);
    yield;
  }
  if (wrong + stored.size > 0) {
    findings.push(`the metadata of ${wrong + stored.size} memories is indexed wrongly: ${RESTORE}`);
  }
  const names = new Map<number, string[]>();
  for (const each of connection.each('SELECT row, name FROM entity_name')) {
    const { row, name } = each as { row: number; name: string };
    addTo(names, row, name);
    yield;
  }
  const relations = new Map<number, SqlValue[][]>();
  for (const each of connection.each('SELECT * FROM relation')) {
    const { number: _, row, ...values } = each as { number: number; row: number } & Record<string, SqlValue>;
    addTo(relations, row, Object.values(values));
    yield;
  }
  let lost = 0;
  const named = `SELECT ${ROW_COLUMN_LIST} FROM memory
    WHERE row >= ? AND row < ? AND (type = 'entity' OR relations IS NOT NULL)`;
  for (const range of rangesOf(connection, 'memory', LOOKED_THROUGH)) {
    for (const each of connection.each(named, ...range)) {
      const memory = fromRow(each as MemoryRow);
      const { row } = each as MemoryRow;
      const said = [...namesOfEntity(memory)].sort().join('\0');
      const sameNames = said === (names.get(row) ?? []).sort().join('\0');
      const stated = relationsKey((memory.relations ?? []).map(valuesOf));
      if (!sameNames || stated !== relationsKey(relations.get(row) ?? [])) lost++;
      names.delete(row);
      relations.delete(row);
      yield;
    }
    yield;
  }
  lost += names.size + relations.size;
  if (lost > 0) findings.push(`names or relations of ${lost} memories are indexed wrongly: ${RESTORE}`);
  for (const kept of superseded.values()) wronglySuperseded += kept.length;
  if (wronglySuperseded > 0)
    findings.push(`${wronglySuperseded} supersessions are not those that the memories say: ${RESTORE}`);
  return findings;
}

/** Counts the ids that are in only one of the two lists. */
function differences(said: readonly string[], kept: readonly string[]): number {
  if (said.length === 0) return kept.length;
  const among = new Set(said);
  const common = kept.filter((each) => among.has(each)).length;
  return among.size + kept.length - 2 * common;
}

const RESTORE = 'restore the space from a backup';

/** The most damaged rows of one table that are reported one by one. Further ones are only counted. */
const MOST_NAMED = 5;

/** Reads every row with a value that must be decoded, and describes those that are damaged. */
function* damagedRows(connection: Connection): Generator<undefined, readonly string[]> {
  const known = new Set<number>();
  for (const each of connection.each('SELECT id FROM term')) {
    known.add((each as { id: number }).id);
    yield;
  }
  return [
    ...(yield* unreadable<MemoryRow>(connection, `SELECT ${ROW_COLUMN_LIST} FROM memory`, fromRow)),
    ...(yield* unreadable<BytesRow>(connection, 'SELECT row, bytes, checksum FROM term_vector', (row) =>
      decodeTermVector(row, (term) => {
        if (!known.has(term))
          throw damagedRow({ table: 'term_vector', row: row.row }, 'a term is not in the dictionary');
      }),
    )),
    ...(yield* unreadable<EventRow>(connection, selectEvents, eventOf)),
    ...(yield* unreadable<UsageRow>(connection, 'SELECT * FROM usage', usageOf)),
    ...(yield* unreadable<RecordingRow>(connection, 'SELECT * FROM recall', recordingOf)),
  ];
}

function* unreadable<Row>(
  connection: Connection,
  sql: string,
  read: (row: Row) => unknown,
): Generator<undefined, readonly string[]> {
  const problems: string[] = [];
  for (const row of connection.each(sql)) {
    try {
      read(row as Row);
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
      problems.push(error.message);
    }
    yield;
  }
  const named = problems.slice(0, MOST_NAMED);
  return problems.length > named.length
    ? [...named, `${problems.length - named.length} more rows like the last one`]
    : named;
}
