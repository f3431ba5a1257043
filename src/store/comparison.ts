import type { MemoryRecord } from '../model/memory.ts';

/** Whether two versions of a memory differ in what comparing it with others goes by: the text of its vector. */
export function saysElse(before: MemoryRecord, after: MemoryRecord): boolean {
  return before.title !== after.title || before.content !== after.content;
}
