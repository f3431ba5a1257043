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

/** Rows that are kept of one space at most, and events that are taken in one by one. */
const MOST_ROWS = 1_000_000;
const MOST_EVENTS = 500;

/** The last event that something reflects, by what tells it from others; `undefined` where there is none. */
type Place = Pick<MemoryEvent, 'sequence' | 'operation' | 'at' | 'verb' | 'memoryId'> | undefined;

/** What walks have read of a space, as of one moment. */
interface Kept {
  version: unknown;
  last: Place;
  /** Another object after each change: whoever reads at an earlier moment takes no part in it any more. */
  moment: object;
  readonly ends: Map<string, readonly StatedRelationRow[]>;
  readonly subjects: Map<string, readonly StatedRelationRow[]>;
  /** What each memory states: every row is kept once. */
  readonly rows: Map<string, StatedRelationRow[]>;
  readonly standing: Map<string, Standing | undefined>;
  readonly newer: Map<string, readonly MemoryRecord[]>;
}

const keptOf = new WeakMap<object, Kept>();

/** Rows, each with the keys that it belongs to: known only once it is certain that they are of the right moment. */
type Keyed<Value> = () => readonly (readonly [key: string, value: Value])[];

/**
 * A reader for walks over relations: what one of them has read, the next ones need not read again. It follows what is
 * written, by any process: of a memory that was written everything is read anew. Rows are kept, not what follows from
 * them: that depends on the moment and on who looks. What use changes of a memory, its tier, is not followed, as no walk
 * asks for it (docs/decisions/0081-kept-relations-follow.md).
 */
export async function walkingReader(
  { close: owner }: Pick<SpaceStore, 'close'>,
  snapshot: Snapshot,
): Promise<SpaceReader> {
  // A space may be looked at through another object, as recalls that are recorded do: it is closed by the same function.
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

/** What is kept, brought up to the moment of a snapshot; `undefined` where others are at it, who are elsewhere. */
async function keptAt(owner: object, snapshot: Snapshot): Promise<Kept | undefined> {
  const version = await snapshot.version();
  const known = keptOf.get(owner);
  if (known?.version === version) return known;
  const last = known?.last;
  const written = last && (await writtenSince(snapshot, last));
  const fresh = written ? undefined : await lastEvent(snapshot);
  // Others may have brought it up to another moment meanwhile.
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
  /** The ids of the memories that were written. */
  readonly ids: ReadonlySet<string>;
  /** Those of them that are there. */
  readonly present: readonly MemoryRecord[];
}

/** What was written after an event; `undefined` where it is not in the log as it was, or too much was written. */
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

/** Drops everything in which memories stand that were written, or stood before. */
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
 * The values of these keys, each once; those that are not known are read, by key. `undefined` where what is known is that of
 * another moment by now.
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
