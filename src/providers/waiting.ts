import { throwIfAborted } from '../domain/errors.ts';
import { onAbort } from '../domain/on-abort.ts';

/** Waits. Need not resolve after the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

const firstWaitMs = 500;
const longestWaitMs = 20_000;
/** If a server asks for a longer wait, the request fails and the caller decides. */
const longestRetryAfterMs = 60_000;

/**
 * Returns the milliseconds before the next attempt, after `attempts` of them: random, up to 0.5 s, 1 s, 2 s and so on
 * to 20 s, or what the server asks for if that is longer. Returns `undefined` if it asks for more than a minute.
 */
export function waitBeforeRetry(
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  // "Full jitter": Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
  const backoffMs = random() * Math.min(longestWaitMs, firstWaitMs * 2 ** (attempts - 1));
  if (retryAfterMs === undefined) return backoffMs;
  return retryAfterMs <= longestRetryAfterMs ? Math.max(backoffMs, retryAfterMs) : undefined;
}

/**
 * Reads `Retry-After` in milliseconds. By RFC 9110 §10.2.3 it holds seconds or a date, which is compared with the
 * server's own clock.
 */
export function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const milliseconds = Date.parse(value) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}

/** Whether a retry may succeed after this status. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Runs `work` until `signal` aborts. Then throws `aborted` at once, even if the work does not listen to the signal. */
export async function unlessAborted<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return await work();
  throwIfAborted(signal);
  let forget = () => {};
  try {
    return await new Promise<Result>((resolve, reject) => {
      forget = onAbort(signal, () => reject(signal.reason));
      // A model of the caller may return a value that is not a promise.
      Promise.resolve(work()).then(resolve, reject);
    });
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    forget();
  }
}

/**
 * Like {@link unlessAborted}, for work that can be stopped. It stops when `signal` aborts, or when the time of `limit`
 * is over; then its `result` is returned.
 */
export async function stoppable<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal | undefined,
  limit?: {
    readonly milliseconds: number;
    readonly result: Result;
  },
): Promise<Result> {
  const stop = new AbortController();
  const inTime = async () => {
    if (!limit) return work(stop.signal);
    const { milliseconds, result } = limit;
    return Promise.race([work(stop.signal), systemSleep(milliseconds, stop.signal).then(() => result)]);
  };
  try {
    return await unlessAborted(inTime, signal);
  } finally {
    stop.abort();
  }
}

export function systemSleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}
