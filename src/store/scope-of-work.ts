import { AsyncLocalStorage } from 'node:async_hooks';
import { invalidArgument } from '../domain/check.ts';

/** The snapshot or write of a space that a caller's function runs in. It may itself run in one of another space. */
interface Work {
  readonly of: symbol;
  readonly what: 'a snapshot' | 'decide';
  readonly outer: Work | undefined;
}

const current = new AsyncLocalStorage<Work>();

/** Detects calls to a space from a function that the space itself is waiting for. */
export interface ScopeOfWork {
  within<Result>(what: Work['what'], work: () => Promise<Result>): Promise<Result>;
  /** Throws `invalid_argument` inside `within`, where the call would deadlock. */
  checkOutside(verb: string): void;
}

export function startScope(name: string): ScopeOfWork {
  const of = Symbol(name);
  return {
    within: (what, work) => current.run({ of, what, outer: current.getStore() }, work),
    checkOutside(verb) {
      for (let work = current.getStore(); work; work = work.outer) {
        if (work.of !== of) continue;
        throw invalidArgument(
          verb,
          work.what === 'a snapshot'
            ? `space ${JSON.stringify(name)} was asked within a snapshot of itself; use the snapshot that the function was given, and write after it`
            : `space ${JSON.stringify(name)} was asked within a write of itself; use the reader that \`decide\` was given`,
        );
      }
    },
  };
}
