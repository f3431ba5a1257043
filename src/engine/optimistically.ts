import { throwIfAborted } from '../domain/errors.ts';
import type { Decision, SpaceReader, SpaceStore, WriteEntry } from '../store/store.ts';

/** The two steps of a write that needs slow work before it can be decided. */
export interface Steps<Prepared, Result> {
  /** Reads and prepares outside of the write. It may ask a model or an embedder. */
  prepare(reader: SpaceReader): Promise<Prepared>;
  /** Decides within the write, on the current memories. Returns `undefined` if `prepared` no longer fits them. */
  decide(reader: SpaceReader, prepared: Prepared): Promise<Decision<Result> | undefined>;
}

/**
 * Runs a write with slow preparation without blocking other writers. `prepare` runs outside of the write, `decide`
 * within it; if `decide` returns `undefined`, both run again. Throws what the steps throw, and `aborted`.
 */
export async function optimistically<Prepared, Result>(
  space: SpaceStore,
  entry: WriteEntry,
  { prepare, decide }: Steps<Prepared, Result>,
  signal?: AbortSignal | undefined,
): Promise<{ readonly prepared: Prepared; readonly result: Result }> {
  for (;;) {
    throwIfAborted(signal);
    const prepared = await prepare(space);
    const done = await space.write(entry, async (reader) => {
      const decision = await decide(reader, prepared);
      if (!decision) return { changes: [], result: undefined };
      return { ...decision, result: { prepared, result: decision.result } };
    });
    if (done) return done;
  }
}
