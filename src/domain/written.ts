import { AsyncLocalStorage } from 'node:async_hooks';
import { SalienceError } from './errors.ts';

/** Whether work has written. */
export interface Written {
  isWritten: boolean;
}

/** The current work, and the work that it is part of. */
interface Noting {
  readonly written: Written;
  readonly outer: Noting | undefined;
}

const current = new AsyncLocalStorage<Noting>();

/** Runs work, and sets `written.isWritten` once any of its writes is committed, even if the work fails afterwards. */
export function notingWrites<Result>(written: Written, work: () => Promise<Result>): Promise<Result> {
  return current.run({ written, outer: current.getStore() }, work);
}

/** Records that the current work has written, and all work that it is part of. */
export function noteWritten(): void {
  for (let noting = current.getStore(); noting; noting = noting.outer) noting.written.isWritten = true;
}

/** Whether an error says that the write was committed and only a later step failed. */
export function isDone(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['written'] === true;
}

/** Whether an error leaves open if a write was committed, so that a retry could write twice. */
export function isInDoubt(error: unknown): boolean {
  return SalienceError.isInstance(error) && error.details['inDoubt'] === true;
}

/** What a store says of a write that failed. It is not true of work that wrote before. */
export const UNCHANGED = 'nothing was changed';

/** Returns the message of an error without {@link UNCHANGED}. */
export function withoutUnchanged({ message }: SalienceError): string {
  return message.replace(`; ${UNCHANGED}`, '');
}
