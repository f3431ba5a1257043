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

/** What holds for all writes of the work under way. */
interface Work {
  readonly precondition?: Held | undefined;
  readonly run?: string | undefined;
}

/** One for both: up to Node.js 22 each promise costs time for every `AsyncLocalStorage` that was ever used. */
const current = new AsyncLocalStorage<Work>();

/** Runs work whose first write is refused unless `check` accepts the memory, within the transaction of that write. */
export function provided<Result>({ id, check }: Precondition, work: () => Promise<Result>): Promise<Result> {
  return current.run({ ...current.getStore(), precondition: { id, check, isMet: false } }, work);
}

/** What must hold before the work under way writes. */
export function preconditionOfWork(): Held | undefined {
  const held = current.getStore()?.precondition;
  return held?.isMet === false ? held : undefined;
}

/** Runs work whose writes belong to a run: one `undo` takes all of them back. */
export function inRun<Result>(run: string, work: () => Promise<Result>): Promise<Result> {
  return current.run({ ...current.getStore(), run }, work);
}

/** The run that writes of the work under way belong to. */
export function runOfWork(): string | undefined {
  return current.getStore()?.run;
}
