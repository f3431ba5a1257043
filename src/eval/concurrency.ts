export interface ConcurrencyOptions<Item> {
  /** How many at a time. Default is 1. */
  readonly concurrency?: number | undefined;
  /** With several at a time the costliest start first, so that none of them is waited for at the end. */
  readonly costOf: (item: Item) => number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The results of `work` on every item, in the order of the items. When one fails, the others are told to end by their
 * signal, and what failed first is thrown once all have ended.
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
