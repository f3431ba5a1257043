import { throwIfAborted } from '../domain/errors.ts';
import { onAbort } from '../domain/on-abort.ts';

/** Runs a call in its turn. Throws `aborted` if the signal aborts while the call waits for it. */
export type Turns = <Result>(call: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

/** Lets at most `most` calls run at once. Further calls wait, and begin in the order in which they came. */
export function createTurns(most: number): Turns {
  const waiting = new Set<() => void>();
  let running = 0;
  const turn = async (signal: AbortSignal | undefined) => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    waiting.add(begin);
    const forget = signal && onAbort(signal, begin);
    await begun;
    forget?.();
    // Only a call that was aborted is still waiting.
    if (waiting.delete(begin)) throwIfAborted(signal);
  };
  return async (call, signal) => {
    if (running < most) running++;
    else {
      throwIfAborted(signal);
      await turn(signal);
    }
    try {
      return await call();
    } finally {
      // The next call takes this one's place, so that a new call cannot take it first.
      const [begin] = waiting;
      if (begin) {
        waiting.delete(begin);
        begin();
      } else running--;
    }
  };
}
