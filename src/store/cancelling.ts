import { AsyncLocalStorage } from 'node:async_hooks';
import { throwIfAborted } from '../domain/errors.ts';

const current = new AsyncLocalStorage<AbortSignal | undefined>();

/** Does work on behalf of a caller who may give it up: a store cancels what it is at for it. */
export function onBehalf<Result>(
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  return signal === current.getStore() ? work() : current.run(signal, work);
}

/** The signal of the verb that this is done for. */
export function signalOfCaller(): AbortSignal | undefined {
  return current.getStore();
}

/** The same steps, until the signal aborts. */
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
    // Statements that are under way end here.
    steps.return(undefined as never);
  }
}
