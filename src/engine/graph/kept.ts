import type { MemoryRecord } from '../../domain/memory.ts';
import { isSameTriple } from '../../domain/relation.ts';
import type {
  MemoryEvent,
  Snapshot,
  SpaceReader,
  SpaceStore,
  Standing,
  StatedRelationRow,
} from '../../store/store.ts';
import { subjectOf } from './view.ts';

/** Most cached rows per space, and most events that are followed instead of starting anew. */
const MOST_ROWS = 1_000_000;
const MOST_EVENTS = 500;

/** Identifies the last event that a cache includes; `undefined` if there is none. */
type Place = Pick<MemoryEvent, 'sequence' | 'operation' | 'at' | 'verb' | 'memoryId'> | undefined;

/** What walks have read of a space: a cache of one moment. */
interface Kept {
  version: unknown;
  last: Place;
  /** Replaced after each change, so that readers of an earlier moment notice it and stop using the cache. */
  moment: object;
  readonly ends: Map<string, readonly StatedRelationRow[]>;
  readonly subjects: Map<string, readonly StatedRelationRow[]>;
  /** The rows by the memory that states them: each row is stored once. */
  readonly rows: Map<string, StatedRelationRow[]>;
  readonly standing: Map<string, Standing | undefined>;
  readonly newer: Map<string, readonly MemoryRecord[]>;
}

const keptOf = new WeakMap<object, Kept>();

/** Makes the entries of one row, each with its key. Called only once the cache is known to be of the right moment. */
type Keyed<Value> = () => readonly (readonly [key: string, value: Value])[];

/**
 * Returns a reader that caches what walks over relations read. The cache follows all writes, by any process: everything
 * about a written memory is read anew. It stores rows and not conclusions, which depend on the moment and the scope. It
 * does not follow changes of the tier by use, which no walk reads (docs/decisions/0081-kept-relations-follow.md).
 */
export async function walkingReader(
  { close: owner }: Pick<SpaceStore, 'close'>,
  snapshot: Snapshot,
): Promise<SpaceReader> {
  // Recorded recalls wrap the space in another object. Its `close` function is the same, and serves as the key.
  const kept = await keptAt(owner, snapshot);
  if (!kept) return snapshot;
  const { moment } = kept;
  const isPresent = () => kept.moment === moment;
  const interned = (row: StatedRelationRow): StatedRelationRow => {
    const stated = kept.rows.get(row.memory.id);
    const known = stated?.find(
      ({ relation }) => isSameTriple(relation, row.relation) && relation.validFrom === row.relation.validFrom,
    );
    if (known) return known;
    if (stated) stated.push(row);
    else kept.rows.set(row.memory.id, [row]);
    return row;
  };
  return {
    ...snapshot,
    async stated(query) {
      if ('ends' in query) {
        const found = await readThrough(kept.ends, query.ends, isPresent, async (missing) => {
          const rows = await snapshot.stated({ ends: missing });
          return rows.map((row) => () => {
            const one = interned(row);
            return [[row.relation.from, one] as const, [row.relation.to, one] as const];
          });
        });
        return found ?? snapshot.stated(query);
      }
      const asked = new Map(query.subjects.map((subject) => [subjectOf(subject), subject]));
      const found = await readThrough(kept.subjects, [...asked.keys()], isPresent, async (missing) => {
        const rows = await snapshot.stated({ subjects: missing.flatMap((key) => asked.get(key) ?? []) });
        return rows.map((row) => () => [[subjectOf(row.relation), interned(row)] as const]);
      });
      return found ?? snapshot.stated(query);
    },
    async standing(ids) {
      if (!isPresent()) return snapshot.standing(ids);
      const missing = ids.filter((id) => !kept.standing.has(id));
      const read = missing.length === 0 ? [] : await snapshot.standing(missing);
      if (!isPresent()) return snapshot.standing(ids);
      for (const [at, id] of missing.entries()) kept.standing.set(id, read[at]);
      return ids.map((id) => kept.standing.get(id));
    },
    async find(by, values) {
      if (by !== 'supersedes') return snapshot.find(by, values);
      const found = await readThrough(kept.newer, values, isPresent, async (missing) => {
        const memories = await snapshot.find(by, missing);
        return memories.map((memory) => () => memory.supersedes.map((older) => [older, memory] as const));
      });
      return found ?? snapshot.find(by, values);
    },
  };
}

/**
 * Returns the cache, brought up to the moment of a snapshot; `undefined` if another reader has brought it to a
 * different moment.
 */
async function keptAt(owner: object, snapshot: Snapshot): Promise<Kept | undefined> {
  const version = await snapshot.version();
  const known = keptOf.get(owner);
  if (known?.version === version) return known;
  const last = known?.last;
  const written = last && (await writtenSince(snapshot, last));
  const fresh = written ? undefined : await lastEvent(snapshot);
  // Another reader may have moved the cache meanwhile.
  if (keptOf.get(owner) !== known || known?.last !== last) return undefined;
  if (known && written && sizeOf(known) < MOST_ROWS) return follow(known, version, written);
  const kept: Kept = {
    version,
    last: written?.last ?? fresh,
    moment: {},
    ends: new Map(),
    subjects: new Map(),
    rows: new Map(),
    standing: new Map(),
    newer: new Map(),
  };
  keptOf.set(owner, kept);
  return kept;
}

interface Written {
  readonly last: Place;
  /** The ids of the written memories. */
  readonly ids: ReadonlySet<string>;
  /** Those that exist now. */
  readonly present: readonly MemoryRecord[];
}

/**
 * Returns what was written after an event; `undefined` if the log does not contain this event as it was, or too much
 * was written.
 */
async function writtenSince(snapshot: Snapshot, last: NonNullable<Place>): Promise<Written | undefined> {
  const events = await eventsAfter(snapshot, last.sequence - 1, MOST_EVENTS);
  const [same, ...rest] = events;
  if (!same || !isSameEvent(same, last) || events.length === MOST_EVENTS) return undefined;
  const ids = new Set(rest.flatMap(({ link, memoryId }) => (link || memoryId === '' ? [] : [memoryId])));
  const found = ids.size === 0 ? [] : await snapshot.get([...ids]);
  const present = found.filter((memory) => memory !== undefined);
  return { last: events[events.length - 1], ids, present };
}

async function lastEvent(snapshot: Snapshot): Promise<Place> {
  return (await eventsAfter(snapshot, (await snapshot.sequence()) - 1, 1))[0];
}

async function eventsAfter(
  snapshot: Snapshot,
  sequence: number,
  limit: number,
): Promise<readonly MemoryEvent[]> {
  const { entries } = await snapshot.activity({ sequence, usage: Number.MAX_SAFE_INTEGER }, limit);
  return entries.filter((entry): entry is MemoryEvent => 'operation' in entry);
}

function isSameEvent(a: MemoryEvent, b: NonNullable<Place>): boolean {
  return (['sequence', 'operation', 'at', 'verb', 'memoryId'] as const).every((name) => a[name] === b[name]);
}

/** Drops all entries that contain a written memory, or contained it before. */
function follow(kept: Kept, version: unknown, { last, ids, present }: Written): Kept {
  kept.version = version;
  kept.last = last;
  if (ids.size === 0) return kept;
  kept.moment = {};
  const drop = ({ from, name, to }: StatedRelationRow['relation']) => {
    kept.ends.delete(from);
    kept.ends.delete(to);
    kept.subjects.delete(subjectOf({ from, name }));
  };
  for (const id of ids) {
    kept.standing.delete(id);
    for (const { relation } of kept.rows.get(id) ?? []) drop(relation);
    kept.rows.delete(id);
  }
  for (const { relations = [], supersedes } of present) {
    for (const relation of relations) drop(relation);
    for (const older of supersedes) kept.newer.delete(older);
  }
  for (const [older, newer] of kept.newer) if (newer.some(({ id }) => ids.has(id))) kept.newer.delete(older);
  return kept;
}

function sizeOf({ rows, standing, newer }: Kept): number {
  return rows.size + standing.size + newer.size;
}

/**
 * Returns the values of these keys, each once, and reads the keys that are not cached. Returns `undefined` if the cache
 * is of another moment by then.
 */
async function readThrough<Value>(
  known: Map<string, readonly Value[]>,
  keys: readonly string[],
  isPresent: () => boolean,
  read: (missing: readonly string[]) => Promise<readonly Keyed<Value>[]>,
): Promise<readonly Value[] | undefined> {
  if (!isPresent()) return undefined;
  const missing = [...new Set(keys)].filter((key) => !known.has(key));
  if (missing.length > 0) {
    const rows = await read(missing);
    if (!isPresent()) return undefined;
    const found = new Map<string, Value[]>(missing.map((key) => [key, []]));
    for (const row of rows) for (const [key, value] of row()) found.get(key)?.push(value);
    for (const [key, values] of found) known.set(key, values);
  }
  const all = new Set<Value>();
  for (const key of keys) for (const value of known.get(key) ?? []) all.add(value);
  return [...all];
}
