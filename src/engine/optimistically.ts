import { throwIfAborted } from '../domain/errors.ts';
import type { Decision, SpaceReader, SpaceStore, WriteEntry } from '../store/store.ts';

/** What a write is made of that must think before it is decided. */
export interface Steps<Prepared, Result> {
  /** Reads, and takes its time: a model or an embedder may be asked. */
  prepare(reader: SpaceReader): Promise<Prepared>;
  /** Decides within the write, on what the memories are by then; `undefined` when what was prepared is for others. */
  decide(reader: SpaceReader, prepared: Prepared): Promise<Decision<Result> | undefined>;
}

/**
 * Writes what takes thought without keeping the space from anybody else meanwhile: what was prepared outside of the
 * write is decided within it, and prepared anew for as long as others come first. Throws what the steps throw, and
 * `aborted`.
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
