import { AsyncLocalStorage } from 'node:async_hooks';
import type { MemoryRecord } from './memory.ts';

/** What must hold of a memory when a write is decided. */
export interface Precondition {
  readonly id: string;
  /** Throws where it does not hold. */
  check(memory: MemoryRecord): void;
}

interface Held extends Precondition {
  /** Work may write more than once; only its first write is checked. */
  isMet: boolean;
}

const current = new AsyncLocalStorage<Held>();

/** Runs work whose first write is refused unless `check` accepts the memory, within the transaction of that write. */
export function provided<Result>({ id, check }: Precondition, work: () => Promise<Result>): Promise<Result> {
  return current.run({ id, check, isMet: false }, work);
}

/** What must hold before the work under way writes. */
export function preconditionOfWork(): Held | undefined {
  const held = current.getStore();
  return held?.isMet === false ? held : undefined;
}
