import { createHash } from 'node:crypto';
import type { MemoryRecord } from '../../model/memory.ts';
import { normalisedContent } from '../../model/statement.ts';
import { fullContent } from '../tiers.ts';
import type { Connection } from './connection.ts';
import { recordFromJson } from './rows.ts';

/** What equal statements have in common: SHA-256 of the normalised content, in hexadecimal. */
export function contentKey(content: string): string {
  return createHash('sha256').update(normalisedContent(content)).digest('hex');
}

/** The key of a memory as it is written over `before`, if there is one. A stub keeps that of its full text. */
export function keyOfMemory(
  connection: Connection,
  memory: Pick<MemoryRecord, 'id' | 'tier' | 'content'>,
  before?: MemoryRecord,
): string {
  if (memory.tier !== 'stub') return contentKey(memory.content);
  return contentKey(fullContent(memory, [...earlierVersions(connection, memory.id), { before }]));
}

function earlierVersions(connection: Connection, id: string): readonly { readonly before: MemoryRecord }[] {
  const rows = connection.all(
    'SELECT sequence, before FROM event WHERE memory_id = ? AND before IS NOT NULL ORDER BY sequence',
    id,
  ) as { sequence: number; before: string }[];
  return rows.map(({ sequence, before }) => ({ before: recordFromJson(before, sequence) }));
}
