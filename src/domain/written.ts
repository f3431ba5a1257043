import { AsyncLocalStorage } from 'node:async_hooks';
import { SalienceError } from './errors.ts';

/** Whether work has written. */
export interface Written {
  isWritten: boolean;
}

const current = new AsyncLocalStorage<Written>();

/** Runs work, and sets `written.isWritten` once any of its writes is committed, even if the work fails afterwards. */
export function notingWrites<Result>(written: Written, work: () => Promise<Result>): Promise<Result> {
  return current.run(written, work);
}

/** Records that the current work has written. */
export function noteWritten(): void {
  const written = current.getStore();
  if (written) written.isWritten = true;
}

/** Whether an error says that the write was committed and only a later step failed. */
export function isDone(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['written'] === true;
}

/** Whether an error leaves open if a write was committed, so that a retry could write twice. */
export function isInDoubt(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['inDoubt'] === true;
}
