import { throwIfAborted } from '../../domain/errors.ts';
import { onAbort } from '../../domain/on-abort.ts';
import { closedError } from '../../store/faults.ts';
import type { SpaceStore } from '../../store/store.ts';

/** Runs a function once after a delay. Returns a function that cancels it. */
export type Timer = (run: () => void, milliseconds: number) => () => void;

/** Notices commits to a space by any process. All waiting calls share one poll of the store. */
export interface Watch {
  /**
   * Calls `read`, and again whenever something may have been committed, until it returns a value or the time is up.
   * Holds nothing open in between. Throws `aborted`, `closed` if the watch is closed and it would wait, and what `read`
   * throws.
   */
  until<Result>(
    read: () => Promise<Result | undefined>,
    milliseconds: number,
    signal?: AbortSignal,
  ): Promise<Result | undefined>;
  /** Ends all waiting calls with `closed`. */
  close(): void;
}

/** Milliseconds between two polls of the version of the store, while a call waits. */
export const LOOK_EVERY = 100;

export function createWatch(space: Pick<SpaceStore, 'name' | 'version'>, timer: Timer): Watch {
  /** The waiting calls: the function that wakes each, and the version that it has seen. */
  const waiting = new Map<() => void, unknown>();
  let planned: (() => void) | undefined;
  let isLooking = false;
  let closed = false;

  const plan = () => {
    if (waiting.size > 0 && !isLooking) planned ??= timer(look, LOOK_EVERY);
  };
  const look = async () => {
    planned = undefined;
    isLooking = true;
    // If the version cannot be read, all calls wake: their `read` reports what is wrong.
    const version = await space.version().catch(() => undefined);
    isLooking = false;
    for (const [wake, seen] of waiting) if (seen !== version) wake();
    plan();
  };
  const wakeAll = () => {
    for (const wake of waiting.keys()) wake();
  };

  return {
    async until(read, milliseconds, signal) {
      let isOver = milliseconds === 0;
      let wake = () => {};
      const wakeThis = () => wake();
      const cancel = timer(() => {
        isOver = true;
        wakeThis();
      }, milliseconds);
      const forget = signal && onAbort(signal, wakeThis);
      try {
        for (;;) {
          throwIfAborted(signal);
          // A call that does not wait is still answered: `close` waits for it.
          if (closed && milliseconds > 0) throw closedError(`space ${JSON.stringify(space.name)}`);
          // Read first: a commit in between then ends the wait at once.
          const seen = await space.version();
          const found = await read();
          if (found !== undefined || isOver) return found;
          if (signal?.aborted || closed) continue;
          await new Promise<void>((resolve) => {
            wake = () => {
              waiting.delete(wake);
              resolve();
            };
            waiting.set(wake, seen);
            plan();
          });
        }
      } finally {
        cancel();
        forget?.();
        if (waiting.size === 0) {
          planned?.();
          planned = undefined;
        }
      }
    },
    close() {
      closed = true;
      wakeAll();
    },
  };
}
