import { AsyncLocalStorage } from 'node:async_hooks';

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
