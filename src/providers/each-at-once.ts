import { onAbort } from '../domain/on-abort.ts';

/** Runs the jobs, at most `concurrency` at once. The first failure aborts the others and is thrown. */
export async function eachAtOnce<Job>(
  jobs: readonly Job[],
  concurrency: number,
  signal: AbortSignal | undefined,
  run: (job: Job, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const forget = signal && onAbort(signal, () => stop.abort(signal.reason));
  const waiting = jobs.values();
  const worker = async () => {
    for (const job of waiting) await run(job, stop.signal);
  };
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, worker));
  } finally {
    forget?.();
    stop.abort();
  }
}
