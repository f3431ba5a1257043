import { SalienceError } from '../model/errors.ts';
import type { MemoryRecord } from '../model/memory.ts';
import type {
  Change,
  Decision,
  IndexedText,
  LinkChange,
  MemoryEvent,
  SpaceReader,
  Verb,
} from '../store/store.ts';
import { DYNAMICS } from '../store/using.ts';
import { birthLinks } from './birth.ts';
import { deriveTexts, sameText } from './derive.ts';
import { type Engine, momentOf, notFound } from './engine.ts';
import { changedRecord, newRecord, toMemory } from './record.ts';
import type {
  Memory,
  MemoryChanges,
  OperationOptions,
  Remembered,
  RememberInput,
  RememberOptions,
} from './types.ts';

export interface BatchOptions extends OperationOptions {
  /** Called as texts are analysed and embedded, before the one write. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** Remembers one statement. Throws when anything about it is wrong; nothing is written then. */
export async function remember(
  engine: Engine,
  content: string,
  options: RememberOptions & OperationOptions = {},
): Promise<Remembered> {
  const { signal, now, ...fields } = options;
  const [remembered] = await rememberMany(engine, [{ ...fields, content }], { signal, now });
  return remembered as Remembered;
}

/** Remembers many statements in one transaction: all, or none. */
export async function rememberMany(
  engine: Engine,
  inputs: readonly RememberInput[],
  options: BatchOptions = {},
): Promise<readonly Remembered[]> {
  const now = momentOf(engine, options);
  const context = { now, newId: () => engine.newId(now), limits: engine.limits };
  const records = inputs.map((input, index) =>
    inContext(index, inputs.length, () => newRecord(input, context)),
  );
  return insertRecords(engine, records, 'remember', now, options);
}

/** Writes complete records as one transaction: what `remember` made, or what an export kept. */
export async function insertRecords(
  engine: Engine,
  records: readonly MemoryRecord[],
  verb: Verb,
  at: number,
  options: BatchOptions = {},
): Promise<readonly Remembered[]> {
  if (records.length === 0) return [];
  const indexed = await deriveTexts(records, engine, options);
  const born =
    engine.embedder && verb === 'remember'
      ? birthLinks(records, indexed, engine.embedder.thresholds.birthLink, at)
      : [];
  return engine.space.write({ verb, at }, async () => ({
    changes: [
      ...records.map(
        (memory, index): Change => ({ kind: 'insert', memory, indexed: indexed[index] as IndexedText }),
      ),
      ...born,
    ],
    result: records.map(({ id }): Remembered => ({ id, outcome: 'created' })),
    ...derivationOf(engine, indexed),
  }));
}

/** Changes a memory in place; its history keeps what it was. Throws `not_found`. */
export async function update(
  engine: Engine,
  id: string,
  changes: MemoryChanges,
  options: OperationOptions = {},
): Promise<Memory> {
  const now = momentOf(engine, options);
  for (;;) {
    const [seen] = await engine.space.get([id]);
    if (!seen) throw notFound(id, engine.space.name);
    const memory = changedRecord(seen, changes, { now, limits: engine.limits });
    const [indexed] = sameText(seen, memory) ? [] : await deriveTexts([memory], engine, options);
    const written = await engine.space.write({ verb: 'update', at: now }, async (reader) => {
      const [current] = await reader.get([id]);
      if (!current) throw notFound(id, engine.space.name);
      // Another process may have changed it while the text was embedded: then start again from what it is now.
      if (current.revisionCount !== seen.revisionCount) return { changes: [], result: undefined };
      return {
        changes: [{ kind: 'replace', memory: withDynamics(memory, current), indexed }],
        result: withDynamics(memory, current),
        ...derivationOf(engine, indexed ? [indexed] : []),
      };
    });
    if (written) return toMemory(written, engine.space.name);
  }
}

/**
 * Forgets a memory for good: afterwards its text is nowhere in the store, its history and its log included.
 * There is no undo. Throws `not_found`.
 */
export async function forget(engine: Engine, id: string, options: OperationOptions = {}): Promise<void> {
  await engine.space.write({ verb: 'forget', at: momentOf(engine, options) }, async (reader) => {
    const [memory] = await reader.get([id]);
    // A memory that an undo took away still has its text in the history.
    if (!memory && (await reader.history(id)).every((event) => event.redacted))
      throw notFound(id, engine.space.name);
    return { changes: [{ kind: 'redact', id }], result: undefined };
  });
}

export interface Undone {
  /** Sequence of the operation that was undone. */
  readonly operation: number;
  readonly verb: Verb;
  /** The memories it had written, as they are again; `undefined` for one that it had made. */
  readonly memories: readonly { readonly id: string; readonly memory: Memory | undefined }[];
}

/**
 * Takes back an operation: the latest that can be undone, or the one named. Throws `cannot_undo` when there is none,
 * when it was a `forget`, or when its memories have been changed since.
 */
export async function undo(
  engine: Engine,
  operation?: number,
  options: OperationOptions = {},
): Promise<Undone> {
  const events = await engine.space.operation(operation);
  const [first] = events;
  if (!first) {
    throw new SalienceError(
      'cannot_undo',
      operation === undefined
        ? 'there is nothing to undo'
        : `there is no operation ${operation} that can be undone; history lists them`,
    );
  }
  if (events.some((event) => event.redacted || event.verb === 'forget')) {
    throw new SalienceError(
      'cannot_undo',
      `operation ${first.operation} forgot a memory, and forgetting is for good`,
    );
  }
  const written = events.filter((event) => event.link === undefined);
  const earlier = [...new Map([...written].reverse().map((event) => [event.memoryId, event.before]))];
  const restored = earlier.flatMap(([, before]) => (before ? [before] : []));
  const indexed = await deriveTexts(restored, engine, options);
  const derived = new Map(restored.map((memory, index) => [memory.id, indexed[index] as IndexedText]));
  const entry = { verb: 'undo', at: momentOf(engine, options), undoes: first.operation } as const;
  return engine.space.write(entry, async (reader) => {
    // Links first: with one of its memories a link would already be gone.
    const changes: Change[] = [];
    for (const event of [...events].reverse()) {
      if (!event.link) continue;
      await checkUnchanged(reader, event.memoryId, events, ({ link }) => sameLink(link, event.link));
      changes.push(linkBefore(event.link));
    }
    for (const [id, before] of earlier) {
      await checkUnchanged(reader, id, events, ({ link }) => link === undefined);
      const [present] = await reader.get([id]);
      const text = derived.get(id);
      if (before && text && present) {
        // Maintenance changes tiers; every other write leaves alone what use has made of the memory since.
        const kept = first.verb === 'maintain' ? COUNTERS : DYNAMICS;
        changes.push({ kind: 'replace', memory: withDynamics(before, present, kept), indexed: text });
      } else if (before && text) changes.push({ kind: 'insert', memory: before, indexed: text });
      else if (present) changes.push({ kind: 'remove', id });
    }
    const memories = earlier.map(([id, before]) => ({
      id,
      memory: before && toMemory(before, engine.space.name),
    }));
    return {
      changes,
      result: { operation: first.operation, verb: first.verb, memories },
      ...derivationOf(engine, indexed),
    };
  });
}

const COUNTERS = ['stability', 'accessCount', 'lastAccessedAt', 'sessions'] as const;

/** A memory with what use has made of it: a concurrent recall must not lose what it taught. */
function withDynamics(
  memory: MemoryRecord,
  current: MemoryRecord,
  fields: readonly (keyof MemoryRecord)[] = DYNAMICS,
): MemoryRecord {
  return { ...memory, ...Object.fromEntries(fields.map((field) => [field, current[field]])) };
}

function linkBefore({ link, before }: LinkChange): Change {
  return before
    ? { kind: 'link', link: { ...link, ...before } }
    : { kind: 'unlink', ids: link.ids, kinds: [link.kind] };
}

function sameLink(a: LinkChange | undefined, b: LinkChange | undefined): boolean {
  return a?.link.kind === b?.link.kind && a?.link.ids.join('\0') === b?.link.ids.join('\0');
}

async function checkUnchanged(
  reader: SpaceReader,
  id: string,
  events: readonly MemoryEvent[],
  concerns: (event: MemoryEvent) => boolean,
): Promise<void> {
  const last = standing(await reader.history(id))
    .filter(concerns)
    .at(-1);
  if (last && events.some((event) => event.sequence === last.sequence)) return;
  throw new SalienceError(
    'cannot_undo',
    `memory ${JSON.stringify(id)} was changed again by operation ${last?.operation}; undo that first`,
    { details: { id, operation: last?.operation } },
  );
}

/** The events that still stand: without those that were undone, and without the undoing. */
function standing(history: readonly MemoryEvent[]): readonly MemoryEvent[] {
  const undone = new Set<number>();
  const left = [...history].reverse().filter((event) => {
    if (undone.has(event.operation)) return false;
    if (event.undoes !== undefined) undone.add(event.undoes);
    return event.undoes === undefined;
  });
  return left.reverse();
}

/** What the derived data of a write was made with. */
function derivationOf(
  engine: Engine,
  indexed: readonly IndexedText[],
): Pick<Decision<unknown>, 'embedding' | 'analyzer'> {
  const { embedder, analyzer } = engine;
  const embedded = embedder && indexed.some(({ vector }) => vector !== undefined);
  return {
    ...(embedded ? { embedding: { model: embedder.model, dimensions: embedder.dimensions } } : {}),
    ...(indexed.length > 0 ? { analyzer: analyzer.id } : {}),
  };
}

/** In a batch an error says which of its memories is wrong. */
export function inContext<Result>(index: number, count: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (count === 1 || !SalienceError.isInstance(error)) throw error;
    throw new SalienceError(
      error.code,
      `memory ${index + 1} of ${count}: ${error.message}; nothing was written`,
      {
        details: { ...error.details, index },
        cause: error,
      },
    );
  }
}
