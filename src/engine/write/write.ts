import { SalienceError } from '../../domain/errors.ts';
import { DYNAMICS } from '../../domain/fields.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type { Change, Decision, IndexedText, SpaceReader, WriteEntry } from '../../store/store.ts';
import { affirmed } from '../../store/tiers.ts';
import { readAfterWrite } from '../after-write.ts';
import { type Dependencies, momentOf, notFound } from '../dependencies.ts';
import { optimistically } from '../optimistically.ts';
import { shown } from '../recall/shown.ts';
import type { Memory, MemoryChanges, OperationOptions } from '../types.ts';
import { deriveTexts, sameText } from './derive.ts';
import { changedRecord } from './record.ts';

/** Changes a memory in place. Its history keeps the earlier version. Throws `not_found`. */
export async function update(
  engine: Dependencies,
  id: string,
  changes: MemoryChanges,
  options: OperationOptions = {},
): Promise<Memory> {
  const now = momentOf(engine, options);
  return changeOne(engine, { verb: 'update', at: now }, id, options, async (before) => ({
    memory: changedRecord(before, changes, { now, limits: engine.limits }),
  }));
}

/**
 * Changes one memory as one logged operation. `decide` gets the memory as it is once it is hot again. If it returns the
 * stored memory itself, nothing is written. Throws `not_found`.
 */
export async function changeOne(
  engine: Dependencies,
  entry: WriteEntry,
  id: string,
  options: OperationOptions,
  decide: (
    memory: MemoryRecord,
    reader: SpaceReader,
  ) => Promise<{ readonly memory: MemoryRecord; readonly changes?: readonly Change[] }>,
): Promise<Memory> {
  const decideIn = async (reader: SpaceReader) => {
    const [before] = await reader.get([id]);
    if (!before) throw notFound(id, engine.space.name);
    return { before, ...(await decide(await affirmed(reader, before, entry.at), reader)) };
  };
  const { result } = await optimistically(
    engine.space,
    entry,
    {
      async prepare(reader) {
        const seen = await decideIn(reader);
        const same = sameText(seen.before, seen.memory);
        return { seen, indexed: same ? [] : await deriveTexts([seen.memory], engine, options) };
      },
      async decide(reader, { seen, indexed }) {
        // Another writer may have changed the memory while the text was embedded. Deciding again keeps that change; if
        // a text differs now, the embedding is stale and is made again.
        const { before, memory, changes = [] } = await decideIn(reader);
        if (!sameText(before, seen.before) || !sameText(memory, seen.memory)) return undefined;
        if (memory === before) return { changes: [], result: memory };
        return {
          changes: [{ kind: 'replace', memory, indexed: indexed[0] }, ...changes],
          result: memory,
          ...derivationOf(engine, indexed),
        };
      },
    },
    options.signal,
  );
  return readAfterWrite(() => shown(engine, result, entry.at));
}

/** Returns `memory` with the fields that use changes taken from `current`, so that what a concurrent recall wrote is not lost. */
export function withDynamics(
  memory: MemoryRecord,
  current: MemoryRecord,
  fields: readonly (keyof MemoryRecord)[] = DYNAMICS,
): MemoryRecord {
  return { ...memory, ...Object.fromEntries(fields.map((field) => [field, current[field]])) };
}

/** Returns the model and the analyzer that made the derived data of a write. */
export function derivationOf(
  engine: Dependencies,
  indexed: readonly IndexedText[],
): Pick<Decision<unknown>, 'embedding' | 'analyzer'> {
  const { embedder, analyzer } = engine;
  const embedded = embedder && indexed.some(({ vector }) => vector !== undefined);
  return {
    ...(embedded ? { embedding: { model: embedder.model, dimensions: embedder.dimensions } } : {}),
    ...(indexed.length > 0 ? { analyzer: analyzer.id } : {}),
  };
}

/** Runs `work` for one memory of a batch. An error that it throws names the position of the memory. */
export function inContext<Result>(index: number, count: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw placed(error, index, count);
  }
}

/** Returns the error with the position of the memory in the batch; unchanged if the batch has one memory. */
export function placed(error: unknown, index: number, count: number): unknown {
  if (count === 1 || !SalienceError.isInstance(error)) return error;
  return new SalienceError(
    error.code,
    `memory ${index + 1} of ${count}: ${error.message}; nothing was written`,
    {
      details: { ...error.details, index },
      cause: error,
    },
  );
}
