import { invalidArgument } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { mapInSlices, startLongSlices } from '../../domain/slices.ts';
import type { Instant } from '../../domain/time.ts';
import { beliefStates, grouped } from '../../store/belief-state.ts';
import { exclusionOf, isBelieved, isLive } from '../../store/eligibility.ts';
import type { MemoryFilter, SpaceReader } from '../../store/store.ts';
import { notFound } from '../dependencies.ts';

/**
 * Reads the supersession chains above some memories. `memories` are all memories further up, by id; `successors` are
 * the ids of the memories that supersede each.
 */
export async function chainsAbove(
  reader: SpaceReader,
  ids: readonly string[],
): Promise<{
  readonly memories: ReadonlyMap<string, MemoryRecord>;
  readonly successors: ReadonlyMap<string, readonly string[]>;
}> {
  const memories = new Map<string, MemoryRecord>();
  const pairs: [older: string, newer: string][] = [];
  let level: readonly string[] = [...new Set(ids)];
  while (level.length > 0) {
    const wanted = new Set(level);
    const newer = await reader.find('supersedes', level);
    for (const { id, supersedes } of newer) {
      for (const older of supersedes) if (wanted.has(older)) pairs.push([older, id]);
    }
    const fresh = newer.filter(({ id }) => !memories.has(id));
    for (const memory of fresh) memories.set(memory.id, memory);
    level = fresh.map(({ id }) => id);
  }
  return { memories, successors: grouped(pairs) };
}

/** Returns which of these memories are superseded, as seen with `filter` at `now`. */
export async function supersededAmong(
  reader: SpaceReader,
  ids: readonly string[],
  filter: MemoryFilter,
  now: Instant,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const { memories, successors } = await chainsAbove(reader, ids);
  const states = beliefStates({ successors, newer: new Map() }, (id) => {
    const memory = memories.get(id);
    return memory !== undefined && isBelieved(memory, filter, now);
  });
  return new Set(ids.filter((id) => states.get(id)?.superseded));
}

/** Returns the memories that are believed, as seen with `filter` at `now`, whatever their tier. */
export async function believedAmong(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
  filter: MemoryFilter,
  now: Instant,
): Promise<readonly MemoryRecord[]> {
  const ids = memories.map(({ id }) => id);
  const superseded = await supersededAmong(reader, ids, filter, now);
  return memories.filter((memory) => {
    const state = { ...memory, tier: 'hot', superseded: superseded.has(memory.id) } as const;
    return exclusionOf(state, filter, now) === undefined;
  });
}

/** Returns the memories that are live and still have their text, by id. */
export async function liveAmong(
  reader: SpaceReader,
  ids: readonly string[],
  now: Instant,
): Promise<ReadonlyMap<string, MemoryRecord>> {
  const superseded = await supersededAmong(reader, ids, {}, now);
  const memories = await reader.get([...new Set(ids)]);
  const live = (memory: MemoryRecord | undefined) =>
    memory && memory.tier !== 'stub' && isLive(memory, superseded.has(memory.id), now) ? memory : undefined;
  // In slices: curation passes all memories of a space.
  const kept = await mapInSlices(memories, live, startLongSlices());
  return new Map(kept.flatMap((memory) => (memory ? [[memory.id, memory]] : [])));
}

/**
 * Checks `supersedes` of memories that are about to be written. Throws `invalid_argument` for a cycle, and `not_found`
 * for an id that is not in the space, unless `lenient`: an export may lack it. `failure` may replace an error, given
 * the index of the memory that it is about.
 */
export async function checkSupersession(
  reader: SpaceReader,
  memories: readonly MemoryRecord[],
  space: string,
  {
    lenient = false,
    failure = (error) => error,
  }: {
    readonly lenient?: boolean | undefined;
    readonly failure?: ((error: unknown, at: number) => unknown) | undefined;
  } = {},
): Promise<void> {
  if (memories.every(({ supersedes }) => supersedes.length === 0)) return;
  const written = new Map(memories.map((memory) => [memory.id, memory]));
  const named = [...new Set(memories.flatMap(({ supersedes }) => supersedes))].filter(
    (id) => !written.has(id),
  );
  const stored = new Map(
    (await reader.get(named)).flatMap((memory) => (memory ? [[memory.id, memory]] : [])),
  );
  const isCircular = await cyclesAmong(reader, written);
  for (const [at, { id, supersedes }] of memories.entries()) {
    try {
      if (supersedes.includes(id)) {
        throw invalidArgument('supersedes', `memory ${JSON.stringify(id)} cannot supersede itself`);
      }
      const missing = supersedes.find((each) => !written.has(each) && !stored.has(each));
      if (missing !== undefined && !lenient) throw notFound(missing, space);
      if (isCircular(id)) {
        throw invalidArgument(
          'supersedes',
          `memory ${JSON.stringify(id)} would supersede itself by a chain of others; leave out the id that leads back to it`,
        );
      }
    } catch (error) {
      throw failure(error, at);
    }
  }
}

/** Returns a test for memories that would be part of a cycle. Reads each memory below them once. */
async function cyclesAmong(
  reader: SpaceReader,
  written: ReadonlyMap<string, MemoryRecord>,
): Promise<(id: string) => boolean> {
  // A memory that nothing supersedes is in no cycle, however long its chain.
  const superseding = [...written.values()].filter(({ supersedes }) => supersedes.length > 0);
  const superseded = new Set(superseding.flatMap(({ supersedes }) => supersedes));
  const rest = superseding.filter(({ id }) => !superseded.has(id)).map(({ id }) => id);
  for (const { supersedes } of await reader.find('supersedes', rest)) {
    for (const id of supersedes) superseded.add(id);
  }
  const older = new Map<string, readonly string[]>();
  let level: readonly string[] = superseding.flatMap(({ id }) => (superseded.has(id) ? [id] : []));
  while (level.length > 0) {
    const stored = await reader.get(level);
    for (const [at, id] of level.entries()) older.set(id, (written.get(id) ?? stored[at])?.supersedes ?? []);
    level = [...new Set(level.flatMap((id) => older.get(id) ?? []))].filter((id) => !older.has(id));
  }
  // Memories whose chains all end. Usually that is every memory, and the test below looks no further.
  const ending = new Set<string>();
  for (const start of older.keys()) {
    const path = [start];
    const onPath = new Set(path);
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      const next = older.get(id)?.find((each) => !ending.has(each));
      if (next !== undefined && onPath.has(next)) break;
      if (next !== undefined) {
        path.push(next);
        onPath.add(next);
      } else {
        path.pop();
        ending.add(id);
      }
    }
  }
  return (id) => {
    if (!older.has(id) || ending.has(id)) return false;
    const below = new Set(older.get(id));
    for (const each of below) for (const next of older.get(each) ?? []) below.add(next);
    return below.has(id);
  };
}

/** Returns the memories that supersede a removed one, changed to supersede what that one superseded: no chain breaks. */
export async function rejoined(
  reader: SpaceReader,
  gone: readonly MemoryRecord[],
): Promise<readonly MemoryRecord[]> {
  const going = new Map(gone.map((memory) => [memory.id, memory]));
  const newer = await reader.find('supersedes', [...going.keys()]);
  return newer
    .filter(({ id }) => !going.has(id))
    .map((memory) => {
      // Iterating over a set also visits ids that the loop adds.
      const below = new Set(memory.supersedes);
      for (const id of below) for (const older of going.get(id)?.supersedes ?? []) below.add(older);
      return { ...memory, supersedes: [...below].filter((id) => !going.has(id)) };
    });
}

/** Returns `newer` so that it supersedes `older` and inherits its importance. */
export function superseding(newer: MemoryRecord, older: MemoryRecord): MemoryRecord {
  const supersedes = [...new Set([...newer.supersedes, older.id])];
  return { ...newer, ...inheritedImportance(newer, older), supersedes };
}

/**
 * Returns the importance of a statement that supersedes, or may contradict, an older one: the higher of the two. An
 * importance that a person has set stays.
 */
export function inheritedImportance(
  newer: Pick<MemoryRecord, 'importance' | 'importanceSource'>,
  older: Pick<MemoryRecord, 'importance' | 'importanceSource'>,
): Pick<MemoryRecord, 'importance' | 'importanceSource'> {
  const { importance, importanceSource } =
    newer.importanceSource === 'person' || newer.importance >= older.importance ? newer : older;
  return { importance, importanceSource };
}
