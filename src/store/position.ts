import type { MemoryEvent, Usage } from './store.ts';

/**
 * Makes a stamp (see {@link Position.stamp}) from the fields of an event and a use that no redaction removes. Another
 * event with the same number would need the same instant, verb, operation and memory. The query hash of a use is not
 * part of it: it is removed when all memories that the use returned are forgotten.
 */
export function stampOf(
  generation: number,
  event: Pick<MemoryEvent, 'operation' | 'at' | 'verb' | 'memoryId'> | undefined,
  use: Pick<Usage, 'at' | 'strategy' | 'after'> | undefined,
): string {
  return JSON.stringify([
    generation,
    event ? [event.operation, event.at, event.verb, event.memoryId] : 0,
    use ? [use.at, use.strategy, use.after] : 0,
  ]);
}
