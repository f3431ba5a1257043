import type { MemoryEvent, Usage } from './store.ts';

/**
 * A stamp made of what an event and a use say of themselves and never lose: another event of the same number would have to
 * be of the same instant, verb, operation and memory. What was asked is lost when all that a use returned is forgotten. See {@link Position.stamp}.
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
