import type { MemoryRecord } from '../domain/memory.ts';

/** Whether two versions of a memory differ in title or content, the text by which memories are compared. */
export function textChanged(before: MemoryRecord, after: MemoryRecord): boolean {
  return before.title !== after.title || before.content !== after.content;
}

/** Orders memories by creation time, then by ordinal. */
export function compareCreated(
  a: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
  b: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
): number {
  return a.createdAt - b.createdAt || a.ordinal - b.ordinal;
}
