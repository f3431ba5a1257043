export interface ConcurrencyOptions<Item> {
  /** How many items are processed at a time. Default is 1. */
  readonly concurrency?: number | undefined;
  /**
   * Returns the cost of an item. With several at a time, the costliest start first, so that none runs alone at the end.
   */
  readonly costOf: (item: Item) => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Calls `work` on every item and returns the results in the order of the items. If one fails, the others are aborted by
 * their signal, and the first error is thrown once all have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  { concurrency = 1, costOf, signal }: ConcurrencyOptions<Item>,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<readonly Result[]> {
  const failure = new AbortController();
  const either = signal ? AbortSignal.any([signal, failure.signal]) : failure.signal;
  const queue = [...items.entries()];
  if (concurrency > 1) queue.sort(([, left], [, right]) => costOf(right) - costOf(left));
  const results = new Map<number, Result>();
  const errors: unknown[] = [];
  const workUntilDone = async (): Promise<void> => {
    for (let next = queue.shift(); next && errors.length === 0; next = queue.shift()) {
      const [at, item] = next;
      try {
        results.set(at, await work(item, either));
      } catch (error) {
        errors.push(error);
        failure.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, items.length)) }, workUntilDone));
  if (errors.length > 0) throw errors[0];
  return items.map((_, at) => results.get(at) as Result);
}
