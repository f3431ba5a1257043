import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName } from '../../domain/relation.ts';
import { startLongSlices } from '../../domain/slices.ts';
import { normalisedContent } from '../../domain/statement.ts';
import { contentKey } from '../../store/content-key.ts';
import type { FindBy } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { statementOf } from './content-key.ts';
import { triplesOf } from './relations.ts';
import { readRecords, VALUE_COLUMN_LIST } from './rows.ts';

const columns = VALUE_COLUMN_LIST;

const sources: Readonly<Record<FindBy, string>> = {
  content: 'json_each(?) AS wanted JOIN memory ON content_key = wanted.value',
  topicKey: 'json_each(?) AS wanted JOIN memory ON topic_key = wanted.value',
  sessionId: 'json_each(?) AS wanted JOIN memory ON session_id = wanted.value',
  supersedes: `(SELECT DISTINCT newer_row FROM supersession WHERE older_id IN (SELECT value FROM json_each(?)))
    JOIN memory ON memory.row = newer_row`,
  names: `(SELECT DISTINCT row AS keyed FROM entity_name WHERE name IN (SELECT value FROM json_each(?)))
    JOIN memory ON memory.row = keyed`,
  ends: `(SELECT row AS keyed FROM relation WHERE from_id IN (SELECT value FROM json_each(?1))
      UNION SELECT row FROM relation WHERE to_id IN (SELECT value FROM json_each(?1)))
    JOIN memory ON memory.row = keyed`,
  relations: `(SELECT DISTINCT relation.row AS keyed FROM json_each(?) AS wanted JOIN relation
      ON from_id = wanted.value ->> 0 AND name = wanted.value ->> 1 AND to_id = wanted.value ->> 2)
    JOIN memory ON memory.row = keyed`,
  derivedFrom: `memory INDEXED BY memory_derived WHERE derived_from <> '[]' AND EXISTS (
    SELECT 1 FROM json_each(derived_from) AS part WHERE part.value IN (SELECT value FROM json_each(?)))`,
};

const beside = (side: '<' | '>') =>
  `SELECT ${columns} FROM memory INDEXED BY memory_created WHERE (created_at, ordinal) ${side} (?, ?)
   ORDER BY created_at ${side === '<' ? 'DESC' : 'ASC'}, ordinal ${side === '<' ? 'DESC' : 'ASC'} LIMIT ?`;

/** Reads the memories created just before and after one: see `SpaceReader.around`. */
export function memoriesAround(
  connection: Connection,
  { createdAt, ordinal }: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
  count: number,
): { readonly before: readonly MemoryRecord[]; readonly after: readonly MemoryRecord[] } {
  const on = (side: '<' | '>') => readRecords(connection, beside(side), createdAt, ordinal, count);
  return { before: on('<').reverse(), after: on('>') };
}

/** The number of keys that one statement looks up. A batch has thousands, and other work waits while a statement runs. */
const TOGETHER = 256;

/** See `SpaceReader.find`. */
export async function findMemories(
  connection: () => Connection,
  by: FindBy,
  values: readonly string[],
): Promise<readonly MemoryRecord[]> {
  const keys = [...new Set(keysOf(by, values))];
  const slices = startLongSlices();
  // Several keys may find the same memory.
  const found = new Map<string, MemoryRecord>();
  for (let start = 0; start < keys.length; start += TOGETHER) {
    for (const memory of findByKeys(connection(), by, keys.slice(start, start + TOGETHER)))
      found.set(memory.id, memory);
    await slices();
  }
  const wanted = by === 'content' ? new Set(values.map(normalisedContent)) : undefined;
  return [...found.values()]
    .filter((memory) => wanted?.has(normalisedContent(statementOf(connection(), memory))) ?? true)
    .sort((a, b) => a.createdAt - b.createdAt || a.ordinal - b.ordinal);
}

function findByKeys(connection: Connection, by: FindBy, keys: readonly unknown[]): MemoryRecord[] {
  return readRecords(
    connection,
    `SELECT ${columns} FROM ${sources[by]} ORDER BY memory.created_at, memory.ordinal`,
    JSON.stringify(keys),
  );
}

/** Returns the keys that the column or index `by` holds for these values. */
function keysOf(by: FindBy, values: readonly string[]): readonly unknown[] {
  switch (by) {
    case 'content':
      return values.map(contentKey);
    case 'names':
      return values.map(foldedName);
    case 'relations':
      return triplesOf(values);
    default:
      return values;
  }
}
