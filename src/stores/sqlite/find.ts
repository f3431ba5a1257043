import type { MemoryRecord } from '../../domain/memory.ts';
import { foldedName } from '../../domain/relation.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { FindBy } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { contentKey, statementOf } from './content-key.ts';
import { fromRow, type MemoryRow, ROW_COLUMN_LIST } from './rows.ts';

const columns = ROW_COLUMN_LIST;

function keyedBy(part: string): string {
  return `(SELECT DISTINCT row AS keyed FROM graph_key
      WHERE part = '${part}' AND value IN (SELECT value FROM json_each(?)))
    JOIN memory ON memory.row = keyed`;
}

const sources: Readonly<Record<FindBy, string>> = {
  content: 'json_each(?) AS wanted JOIN memory ON content_key = wanted.value',
  topicKey: 'json_each(?) AS wanted JOIN memory ON topic_key = wanted.value',
  sessionId: 'json_each(?) AS wanted JOIN memory ON session_id = wanted.value',
  supersedes: `(SELECT DISTINCT newer_row FROM supersession WHERE older_id IN (SELECT value FROM json_each(?)))
    JOIN memory ON memory.row = newer_row`,
  names: keyedBy('name'),
  ends: keyedBy('end'),
  relations: keyedBy('relation'),
  derivedFrom: `memory INDEXED BY memory_derived WHERE derived_from <> '[]' AND EXISTS (
    SELECT 1 FROM json_each(derived_from) AS part WHERE part.value IN (SELECT value FROM json_each(?)))`,
};

const beside = (side: '<' | '>') =>
  `SELECT ${columns} FROM memory INDEXED BY memory_created WHERE (created_at, ordinal) ${side} (?, ?)
   ORDER BY created_at ${side === '<' ? 'DESC' : 'ASC'}, ordinal ${side === '<' ? 'DESC' : 'ASC'} LIMIT ?`;

/** See `SpaceReader.around`. */
export function memoriesAround(
  connection: Connection,
  { createdAt, ordinal }: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
  count: number,
): { readonly before: readonly MemoryRecord[]; readonly after: readonly MemoryRecord[] } {
  const on = (side: '<' | '>') =>
    (connection.all(beside(side), createdAt, ordinal, count) as MemoryRow[]).map(fromRow);
  return { before: on('<').reverse(), after: on('>') };
}

/** See `SpaceReader.find`. */
export function findMemories(
  connection: Connection,
  by: FindBy,
  values: readonly string[],
): readonly MemoryRecord[] {
  const distinct = JSON.stringify([
    ...new Set<string | number>(
      by === 'content' ? values.map(contentKey) : by === 'names' ? values.map(foldedName) : values,
    ),
  ]);
  const rows = connection.all(
    `SELECT ${columns} FROM ${sources[by]} ORDER BY memory.created_at, memory.ordinal`,
    distinct,
  ) as MemoryRow[];
  const found = rows.map(fromRow);
  if (by !== 'content') return found;
  const wanted = new Set(values.map(normalisedContent));
  return found.filter((memory) => wanted.has(normalisedContent(statementOf(connection, memory))));
}
