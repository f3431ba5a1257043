import { wholeNumber } from '../domain/check.ts';
import { messageOf, SalienceError, throwIfAborted } from '../domain/errors.ts';
import { eachAtOnce } from '../providers/each-at-once.ts';
import { addUsage, type ModelUsage, NO_USAGE, usageIn } from '../providers/language-model.ts';

/** How much is sent to a model at once. */
export interface BatchOptions {
  /** Most items in one request, 1–200. */
  readonly batchSize?: number | undefined;
  /** Most concurrent requests, 1–64. Default is 2. */
  readonly concurrency?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A request without a usable answer. The other requests have one. */
export interface BatchFailure {
  /** The positions of its items, from 0. */
  readonly positions: readonly number[];
  readonly error: SalienceError;
}

export interface Batch<Item> {
  readonly items: readonly Item[];
  /** The place of its first item in the whole list. */
  readonly start: number;
}

/** The results of all batches, in order, and their total cost. */
export interface BatchResults<Result> {
  readonly results: readonly Result[];
  readonly failures: readonly BatchFailure[];
  readonly usage: ModelUsage;
}

/** Throws `invalid_argument`. */
export function checkBatchOptions({ batchSize = 1, concurrency = 1 }: BatchOptions): void {
  wholeNumber(batchSize, 'batchSize', 1, 200);
  wholeNumber(concurrency, 'concurrency', 1, 64);
}

/**
 * Splits a list into batches of at most `batchSize` items with a total weight of at most `most`. An item that weighs
 * more gets its own batch.
 */
export function cutBatches<Item>(
  items: readonly Item[],
  batchSize: number,
  weightOf: (item: Item) => number,
  most: number,
): readonly Batch<Item>[] {
  checkBatchOptions({ batchSize });
  const batches: { items: Item[]; start: number }[] = [];
  let room = 0;
  for (const [position, item] of items.entries()) {
    const last = batches.at(-1);
    const weight = weightOf(item);
    if (last && last.items.length < batchSize && weight <= room) last.items.push(item);
    else {
      batches.push({ items: [item], start: position });
      room = most;
    }
    room -= weight;
  }
  return batches;
}

/** Sends all batches, some concurrently. Failures are reported; only an abort is thrown. */
export async function askBatches<Item, Result>(
  batches: readonly Batch<Item>[],
  { concurrency = 2, signal }: BatchOptions,
  ask: (
    batch: Batch<Item>,
    signal: AbortSignal,
  ) => Promise<{ readonly result: Result; readonly usage: ModelUsage }>,
): Promise<BatchResults<Result>> {
  checkBatchOptions({ concurrency });
  throwIfAborted(signal);
  const results = new Array<Result[]>(batches.length).fill([]);
  const failures: BatchFailure[] = [];
  let usage = NO_USAGE;
  await eachAtOnce([...batches.entries()], concurrency, signal, async ([index, batch], batchSignal) => {
    try {
      const { result, usage: spent } = await ask(batch, batchSignal);
      results[index] = [result];
      usage = addUsage(usage, spent);
    } catch (error) {
      throwIfAborted(signal);
      const failure = asModelFailure(error);
      failures.push({ positions: batch.items.map((_, offset) => batch.start + offset), error: failure });
      usage = addUsage(usage, usageIn(failure));
    }
  });
  throwIfAborted(signal);
  failures.sort((a, b) => a.positions[0]! - b.positions[0]!);
  return { results: results.flat(), failures, usage };
}

/**
 * Returns a `SalienceError` as it is, and wraps any other error as `model_failed`: a custom model may throw anything.
 */
export function asModelFailure(error: unknown): SalienceError {
  if (SalienceError.isInstance(error)) return error;
  return new SalienceError('model_failed', `the language model failed: ${messageOf(error)}`, {
    cause: error,
  });
}
