import type { MemoryRecord } from '../../domain/memory.ts';
import { contentKey } from '../../store/content-key.ts';
import { recordFromJson } from '../../store/stored-json.ts';
import { fullContent } from '../../store/tiers.ts';
import type { Connection } from './connection.ts';

/** Returns the content key of a memory that replaces `before`, if there is one. A stub keeps the key of its full text. */
export function keyOfMemory(
  connection: Connection,
  memory: Pick<MemoryRecord, 'id' | 'tier' | 'content'>,
  before?: MemoryRecord,
): number {
  return contentKey(statementOf(connection, memory, before));
}

/** Returns the full content of a memory, also if only a stub of it is kept. */
export function statementOf(
  connection: Connection,
  memory: Pick<MemoryRecord, 'id' | 'tier' | 'content'>,
  before?: MemoryRecord,
): string {
  if (memory.tier !== 'stub') return memory.content;
  return fullContent(memory, [...earlierVersions(connection, memory.id), { before }]);
}

function earlierVersions(connection: Connection, id: string): readonly { readonly before: MemoryRecord }[] {
  const rows = connection.all(
    'SELECT sequence, before FROM event WHERE memory_id = ? AND before IS NOT NULL ORDER BY sequence',
    id,
  ) as { sequence: number; before: string }[];
  return rows.map(({ sequence, before }) => ({ before: recordFromJson(before, sequence) }));
}
