import { expect } from 'vitest';
import { SalienceError, type SalienceErrorCode } from '../../domain/errors.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import type {
  Change,
  Decision,
  EmbeddingInfo,
  Inspection,
  Link,
  MemoryEvent,
  NewUsage,
  SearchAnswer,
  SearchRequest,
  SpaceReader,
  SpaceStore,
  Store,
  WriteEntry,
} from '../../store/store.ts';
import { sampleIndexed, sampleMemory } from '../sample-memory.ts';
import type { MakeStore } from '../store-contract.ts';

export interface ContractTest {
  readonly title: string;
  run(given: { readonly store: Store; readonly makeStore: MakeStore }): Promise<void>;
}

/** Creates a test on one new, empty space. */
export function onSpace(
  title: string,
  run: (space: SpaceStore, store: Store) => Promise<void>,
): ContractTest {
  return {
    title,
    async run({ store }) {
      await run(await store.openSpace('alice'), store);
    },
  };
}

/** Returns the events of the latest operation that is not an undo, was not undone, and has no forgotten parts. */
export async function latestUndoable(
  reader: Pick<SpaceReader, 'operations' | 'operation'>,
): Promise<readonly MemoryEvent[]> {
  const found = (await reader.operations({ limit: 100, ids: 0 })).find(
    ({ problem }) => problem === undefined || problem === 'changed',
  );
  return found ? reader.operation(found.operation) : [];
}

export const start = Date.UTC(2026, 0, 1);

/** The model of the vectors in these tests. */
export const model: EmbeddingInfo = { model: 'test-3', dimensions: 3 };

export function insert(
  fields: Partial<MemoryRecord> & { readonly id: string },
  vector?: readonly number[],
): Change {
  const memory = sampleMemory(fields);
  return { kind: 'insert', memory, indexed: sampleIndexed(memory, vector) };
}

export function replace(
  fields: Partial<MemoryRecord> & { readonly id: string },
  vector?: readonly number[],
): Change {
  const memory = sampleMemory(fields);
  return { kind: 'replace', memory, indexed: sampleIndexed(memory, vector) };
}

/** Writes changes as one operation, and names the embedding model, as the engine does. */
export async function write(
  space: SpaceStore,
  changes: readonly Change[],
  entry: Partial<WriteEntry> = {},
  decision: Partial<Decision<void>> = {},
): Promise<void> {
  await space.write({ verb: 'remember', at: start, ...entry }, async () => ({
    changes,
    result: undefined,
    embedding: model,
    ...decision,
  }));
}

/** Records a use of memories, and applies `change` to those that exist. Returns the sequence of the use. */
export async function use(
  space: SpaceStore,
  ids: readonly string[],
  change: (memory: MemoryRecord) => Partial<MemoryRecord> = () => ({}),
  usage: Partial<NewUsage> = {},
  links: readonly Link[] = [],
): Promise<number> {
  const row: NewUsage = {
    at: start,
    strategy: 'retention',
    effect: 'reinforce',
    queryHash: 'hash',
    sessionId: undefined,
    used: ids.map((id) => ({ id, direct: true })),
    ...usage,
  };
  return space.use(row, async (reader) => ({
    memories: (await reader.get(ids)).flatMap((memory) => (memory ? [{ ...memory, ...change(memory) }] : [])),
    links,
  }));
}

export function searchIn(space: Searched, request: SearchRequest): Promise<SearchAnswer> {
  return space.snapshot((snapshot) => snapshot.search(request));
}

/** Inspects memories. Also checks that `visible` agrees with the result. */
export function inspectIn(
  space: Searched,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): Promise<readonly (Inspection | undefined)[]> {
  return space.snapshot(async (snapshot) => {
    const inspected = await snapshot.inspect(ids, request);
    expect(await snapshot.visible(ids, request)).toEqual(
      ids.filter((_, at) => inspected[at] !== undefined && inspected[at]?.excluded === undefined),
    );
    return inspected;
  });
}

export function vectorsIn(
  space: Searched,
  ids: readonly string[],
): Promise<readonly (Float32Array | undefined)[]> {
  return space.snapshot((snapshot) => snapshot.vectors(ids));
}

type Searched = Pick<SpaceStore, 'snapshot'>;

export async function getOne(reader: SpaceReader, id: string): Promise<MemoryRecord | undefined> {
  return (await reader.get([id]))[0];
}

/** Reads everything that a failed write must not change. */
export async function everything(space: SpaceStore): Promise<unknown> {
  const { bytes: _, ...info } = await space.info();
  const { memories } = await space.list({ filter: {}, limit: 10_000 });
  const histories = await Promise.all(memories.map(({ id }) => space.history(id)));
  const links = await space.links(memories.map(({ id }) => id));
  const pairs = await space.knownPairs(memories.map(({ id }) => id));
  const queues = [await space.pendingPairs(10_000), await space.uncompared(10_000)];
  return { info, memories, histories, links, pairs, queues, usage: await space.usage() };
}

/** Expects a rejection with this code, and returns the error. */
export async function expectCode(promise: Promise<unknown>, code: SalienceErrorCode): Promise<SalienceError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!SalienceError.isInstance(error)) {
    throw new Error(`expected the error ${code}, not ${String(error)}`, { cause: error });
  }
  expect(error.code).toBe(code);
  return error;
}
