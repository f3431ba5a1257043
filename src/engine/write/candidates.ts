import type { MemoryRecord } from '../../domain/memory.ts';
import { namesOfEntity } from '../../domain/relation.ts';
import { visibleScopes } from '../../domain/scope.ts';
import { normalisedContent } from '../../domain/statement.ts';
import type { Instant } from '../../domain/time.ts';
import { isSuperseded } from '../../store/belief-state.ts';
import { compareCreated } from '../../store/comparison.ts';
import { isBelieved, isLive } from '../../store/eligibility.ts';
import type { SpaceReader } from '../../store/store.ts';
import { withFullText } from '../../store/tiers.ts';
import { chainsAbove } from '../belief/supersession.ts';
import { isEndedBefore } from '../graph/restate.ts';

/** The stored memories that the statements of a batch may restate, kept up to date while the batch is planned. */
export interface Candidates {
  /**
   * Returns the memories with a key (of a topic, a statement or a name) that are live in their own scope, ordered by
   * creation, then insertion.
   */
  live(key: string): readonly MemoryRecord[];
  /** Returns the last added memory with this statement that was invalidated. */
  invalidated(statement: string): MemoryRecord | undefined;
  /** Returns a candidate, a memory above one in its supersession chain, or one that a statement or candidate supersedes. */
  get(id: string): MemoryRecord | undefined;
  /** Adds a memory, or replaces the one with its id. */
  add(memory: MemoryRecord, statement?: string): void;
}

export async function readCandidates(
  reader: SpaceReader,
  records: readonly MemoryRecord[],
  now: Instant,
): Promise<Candidates> {
  const topics = records.flatMap(({ topicKey }) => (topicKey === undefined ? [] : [topicKey]));
  const names = records.flatMap(namesOfEntity);
  const contents = records.map(({ content }) => content);
  // In parallel, so that a networked store needs one round trip.
  const found = await Promise.all([
    topics.length > 0 ? reader.find('topicKey', topics) : [],
    reader.find('content', contents),
    names.length > 0 ? reader.find('names', names) : [],
  ]);
  const each = new Map(found.flat().map((memory) => [memory.id, memory]));
  const older = new Set([...records, ...each.values()].flatMap(({ supersedes }) => supersedes));
  const [{ memories, successors }, superseded] = await Promise.all([
    chainsAbove(reader, [...each.keys()]),
    older.size > 0 ? reader.get([...older]) : [],
  ]);
  const known = new Map(memories);
  for (const memory of superseded) if (memory) known.set(memory.id, memory);
  /** By superseded id, the ids of the memories that supersede it. In `keyed`: by key, the ids of the memories that have it. */
  const newer = new Map([...successors].map(([id, ids]) => [id, new Set(ids)]));
  const keyed = new Map<string, Set<string>>();
  const invalid = new Map<string, MemoryRecord>();
  /** By id, the keys of each memory and its place in the order of insertion: memories that a batch adds have no ordinal yet. */
  const entries = new Map<string, { readonly place: number; readonly keys: readonly string[] }>();
  const placeOf = ({ id }: MemoryRecord) => entries.get(id)?.place ?? 0;
  const candidates: Candidates = {
    live(key) {
      const live = [...(keyed.get(key) ?? [])].flatMap((id) => {
        const memory = known.get(id);
        return memory && !isSupersededAtHome(memory) ? [memory] : [];
      });
      return live.sort((a, b) => a.createdAt - b.createdAt || placeOf(a) - placeOf(b));
    },
    invalidated: (statement) => invalid.get(statement),
    get: (id) => known.get(id),
    add(memory, statement = statementOf(memory)) {
      const { id, supersedes, invalidatedAt } = memory;
      const before = entries.get(id);
      for (const key of before?.keys ?? []) keyed.get(key)?.delete(id);
      const keys = isLive(memory, false, now) ? keysOf(memory, statement) : [];
      for (const key of keys) addTo(keyed, key, id);
      entries.set(id, { place: before?.place ?? entries.size, keys });
      known.set(id, memory);
      for (const older of supersedes) addTo(newer, older, id);
      if (invalidatedAt !== undefined && invalidatedAt <= now && !isEndedBefore(memory))
        invalid.set(statement, memory);
    },
  };
  /**
   * Whether a memory is superseded as seen from its own scope. Successors in scopes that are not visible from there do
   * not count.
   */
  function isSupersededAtHome({ id, scope }: MemoryRecord): boolean {
    if (!newer.has(id)) return false;
    const filter = { scopes: visibleScopes(scope) };
    return isSuperseded(id, newer, (other) => {
      const memory = known.get(other);
      return memory !== undefined && isBelieved(memory, filter, now);
    });
  }
  const whole = await Promise.all([...each.values()].map((memory) => withFullText(reader, memory)));
  for (const memory of whole.sort(compareCreated)) candidates.add(memory);
  return candidates;
}

export function topicOf({ scope, topicKey }: MemoryRecord): string {
  return JSON.stringify(['topic', scope, topicKey]);
}

export function statementOf({ scope, type, content }: MemoryRecord): string {
  return JSON.stringify(['statement', scope, type, normalisedContent(content)]);
}

/** Returns the key of a name in a scope. `name` must be folded already. */
export function nameIn(scope: string, name: string): string {
  return JSON.stringify(['name', scope, name]);
}

function keysOf(memory: MemoryRecord, statement: string): readonly string[] {
  return [
    statement,
    ...(memory.topicKey === undefined ? [] : [topicOf(memory)]),
    ...namesOfEntity(memory).map((name) => nameIn(memory.scope, name)),
  ];
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}
