import { throwIfAborted } from '../../domain/errors.ts';
import { onAbort } from '../../domain/on-abort.ts';
import { closedError } from '../../store/faults.ts';
import type { SpaceStore } from '../../store/store.ts';

/** Runs something once, after so many milliseconds; returns what cancels it. */
export type Timer = (run: () => void, milliseconds: number) => () => void;

/** Notices what any process commits to a space. All who wait share one look at the store. */
export interface Watch {
  /**
   * Reads, and reads again whenever something may have been committed, until there is something or the time is up.
   * Nothing is open meanwhile. Throws `aborted`, `closed` when the watch is and it would wait, and what `read` throws.
   */
  until<Result>(
    read: () => Promise<Result | undefined>,
    milliseconds: number,
    signal?: AbortSignal,
  ): Promise<Result | undefined>;
  /** Ends every waiting with `closed`. */
  close(): void;
}

/** Milliseconds between two looks at the version of the store, while anybody waits. */
export const LOOK_EVERY = 100;

export function createWatch(space: Pick<SpaceStore, 'name' | 'version'>, timer: Timer): Watch {
  /** Who waits, by what ends it, with the version that each has seen. */
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
    // What cannot be asked wakes all: reading says what is wrong.
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
          // Who does not wait is answered: closing waits for that.
          if (closed && milliseconds > 0) throw closedError(`space ${JSON.stringify(space.name)}`);
          // Asked before reading: what is committed in between ends the waiting at once.
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
