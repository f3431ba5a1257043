import { AsyncLocalStorage } from 'node:async_hooks';
import { SalienceError } from './errors.ts';

/** Whether work has written. */
export interface Written {
  isWritten: boolean;
}

const current = new AsyncLocalStorage<Written>();

/** Runs work, and notes whether any of its writes was done: also where the work fails afterwards. */
export function notingWrites<Result>(written: Written, work: () => Promise<Result>): Promise<Result> {
  return current.run(written, work);
}

/** Notes that the work under way has written. */
export function noteWritten(): void {
  const written = current.getStore();
  if (written) written.isWritten = true;
}

/** Whether an error says that the write was committed, and only what came after it failed. */
export function isDone(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['written'] === true;
}

/** Whether it is unknown if a write was committed: done again, it could be done twice. */
export function isInDoubt(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['inDoubt'] === true;
}
