import { AsyncLocalStorage } from 'node:async_hooks';
import { throwIfAborted } from '../domain/errors.ts';

const current = new AsyncLocalStorage<AbortSignal | undefined>();

/** Runs `work` on behalf of a caller. When `signal` aborts, a store cancels what it is doing for that caller. */
export function onBehalf<Result>(
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  return signal === current.getStore() ? work() : current.run(signal, work);
}

/** The signal of the caller on whose behalf this code runs. */
export function signalOfCaller(): AbortSignal | undefined {
  return current.getStore();
}

/** Runs the same steps, and throws `aborted` once the signal aborts. */
export function* unlessAborted<Result>(
  steps: Generator<undefined, Result>,
  signal: AbortSignal | undefined,
): Generator<undefined, Result> {
  try {
    for (;;) {
      throwIfAborted(signal);
      const step = steps.next();
      if (step.done) return step.value;
      yield;
    }
  } finally {
    // Ends statements in progress.
    steps.return(undefined as never);
  }
}
