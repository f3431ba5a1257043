import { AsyncLocalStorage } from 'node:async_hooks';
import type { MemoryRecord } from './memory.ts';

/** A condition that a memory must meet when a write is decided. */
export interface Precondition {
  readonly id: string;
  /** Throws if the memory does not meet the condition. */
  check(memory: MemoryRecord): void;
}

interface Held extends Precondition {
  /** Only the first write of the work is checked. */
  isMet: boolean;
}

/** The context of all writes of the current work. */
interface Work {
  readonly precondition?: Held | undefined;
  readonly run?: string | undefined;
}

/** One storage for both: up to Node.js 22, every `AsyncLocalStorage` in use makes each promise slower. */
const current = new AsyncLocalStorage<Work>();

/** Runs `work`. Its first write fails unless `check`, called within the transaction of that write, accepts the memory. */
export function provided<Result>({ id, check }: Precondition, work: () => Promise<Result>): Promise<Result> {
  return current.run({ ...current.getStore(), precondition: { id, check, isMet: false } }, work);
}

/** The precondition of the current work; `undefined` once it was met. */
export function preconditionOfWork(): Held | undefined {
  const held = current.getStore()?.precondition;
  return held?.isMet === false ? held : undefined;
}

/** Runs work whose writes belong to a run, so that one `undo` can undo all of them. */
export function inRun<Result>(run: string, work: () => Promise<Result>): Promise<Result> {
  return current.run({ ...current.getStore(), run }, work);
}

/** The run that writes of the current work belong to. */
export function runOfWork(): string | undefined {
  return current.getStore()?.run;
}
