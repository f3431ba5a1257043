import type { MemoryRecord } from '../../domain/memory.ts';
import { contentKey } from '../../store/content-key.ts';
import { recordFromJson } from '../../store/stored-json.ts';
import { fullContent } from '../../store/tiers.ts';
import type { Connection } from './connection.ts';

/** The key of a memory as it is written over `before`, if there is one. A stub keeps that of its full text. */
export function keyOfMemory(
  connection: Connection,
  memory: Pick<MemoryRecord, 'id' | 'tier' | 'content'>,
  before?: MemoryRecord,
): number {
  return contentKey(statementOf(connection, memory, before));
}

/** What a memory says, also where a stub is kept of it. */
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
