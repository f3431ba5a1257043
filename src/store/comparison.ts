import type { MemoryRecord } from '../domain/memory.ts';

/** Whether two versions of a memory differ in what comparing it with others goes by: the text of its vector. */
export function textChanged(before: MemoryRecord, after: MemoryRecord): boolean {
  return before.title !== after.title || before.content !== after.content;
}

/** The order of creation: what was inserted first comes first where the moments are the same. */
export function compareCreated(
  a: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
  b: Pick<MemoryRecord, 'createdAt' | 'ordinal'>,
): number {
  return a.createdAt - b.createdAt || a.ordinal - b.ordinal;
}
