import { invalidArgument } from '../../domain/check.ts';
import type { MemoryRecord } from '../../domain/memory.ts';
import { mapInSlices, startLongSlices } from '../../domain/slices.ts';
import type { Instant } from '../../domain/time.ts';
import { beliefStates, grouped } from '../../store/belief-state.ts';
import { exclusionOf, isBelieved } from '../../store/eligibility.ts';
import type { MemoryFilter, SpaceReader } from '../../store/store.ts';
import { notFound } from '../dependencies.ts';

/** What took the place of memories: each memory further up their chains, and which superseded which. */
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

/** Which of these memories are superseded where and when a recall looks. */
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

/** Whether a memory is believed somewhere, whatever its tier, now or from a moment to come. */
export function isLive(memory: MemoryRecord, superseded: boolean, now: Instant): boolean {
  const state =
    memory.tier === 'hot' && !superseded ? memory : ({ ...memory, tier: 'hot', superseded } as const);
  const excluded = exclusionOf(state, {}, now);
  return excluded === undefined || excluded === 'not-yet-valid';
}

/** Those of these memories that are believed where and when a recall looks, whatever their tier. */
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

/** Those of these memories that are live and still have their text, by their ids. */
export async function liveAmong(
  reader: SpaceReader,
  ids: readonly string[],
  now: Instant,
): Promise<ReadonlyMap<string, MemoryRecord>> {
  const superseded = await supersededAmong(reader, ids, {}, now);
  const memories = await reader.get([...new Set(ids)]);
  const live = (memory: MemoryRecord | undefined) =>
    memory && memory.tier !== 'stub' && isLive(memory, superseded.has(memory.id), now) ? memory : undefined;
  // Of a whole space, as when it is curated.
  const kept = await mapInSlices(memories, live, startLongSlices());
  return new Map(kept.flatMap((memory) => (memory ? [[memory.id, memory]] : [])));
}

/**
 * Checks what memories about to be written supersede. Throws `not_found` for an id that is not in the space, unless
 * `lenient`: an export may lack it; and `invalid_argument` for a cycle. What it throws about one of them goes through `failure`.
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
  const written = new Map(memories.map((memory) => [memory.id, memory]));
  for (const [at, memory] of memories.entries()) {
    try {
      await checkChain(reader, memory, written, space, lenient);
    } catch (error) {
      throw failure(error, at);
    }
  }
}

async function checkChain(
  reader: SpaceReader,
  { id, supersedes }: MemoryRecord,
  written: ReadonlyMap<string, MemoryRecord>,
  space: string,
  lenient: boolean,
): Promise<void> {
  const seen = new Set<string>();
  let level: readonly string[] = supersedes;
  for (let depth = 0; level.length > 0; depth++) {
    if (level.includes(id)) {
      throw invalidArgument(
        'supersedes',
        depth === 0
          ? `memory ${JSON.stringify(id)} cannot supersede itself`
          : `memory ${JSON.stringify(id)} would supersede itself by a chain of others; leave out the id that leads back to it`,
      );
    }
    const stored = await reader.get(level);
    const older = level.map((each, at) => written.get(each) ?? stored[at]);
    const missing = level.find((_, at) => older[at] === undefined);
    if (missing !== undefined && depth === 0 && !lenient) throw notFound(missing, space);
    for (const each of level) seen.add(each);
    level = [...new Set(older.flatMap((memory) => memory?.supersedes ?? []))].filter(
      (each) => !seen.has(each),
    );
  }
}

/** The memories that supersede one that is going away for good take over what it superseded: no chain breaks. */
export async function rejoined(
  reader: SpaceReader,
  gone: readonly MemoryRecord[],
): Promise<readonly MemoryRecord[]> {
  const going = new Map(gone.map((memory) => [memory.id, memory]));
  const newer = await reader.find('supersedes', [...going.keys()]);
  return newer
    .filter(({ id }) => !going.has(id))
    .map((memory) => {
      // A set is walked through to what is added on the way.
      const below = new Set(memory.supersedes);
      for (const id of below) for (const older of going.get(id)?.supersedes ?? []) below.add(older);
      return { ...memory, supersedes: [...below].filter((id) => !going.has(id)) };
    });
}

/** A memory that takes the place of an older one, and counts for no less. */
export function superseding(newer: MemoryRecord, older: MemoryRecord): MemoryRecord {
  const supersedes = [...new Set([...newer.supersedes, older.id])];
  return { ...newer, ...inheritedImportance(newer, older), supersedes };
}

/**
 * What a statement counts for that takes the place of another one, or may contradict it: at least as much. What a
 * person has judged stays as it is.
 */
export function inheritedImportance(
  newer: Pick<MemoryRecord, 'importance' | 'importanceSource'>,
  older: Pick<MemoryRecord, 'importance' | 'importanceSource'>,
): Pick<MemoryRecord, 'importance' | 'importanceSource'> {
  const { importance, importanceSource } =
    newer.importanceSource === 'person' || newer.importance >= older.importance ? newer : older;
  return { importance, importanceSource };
}
