import type { MemoryRecord } from '../../domain/memory.ts';
import type { Snapshot, SpaceReader, SpaceStore, Standing, StatedRelationRow } from '../../store/store.ts';
import { subjectOf } from './view.ts';

/** Rows that are kept of one space at most. */
const MOST_ROWS = 1_000_000;

/** What walks have read of a space since anything was written to it. */
interface Kept {
  readonly version: unknown;
  readonly ends: Map<string, readonly StatedRelationRow[]>;
  readonly subjects: Map<string, readonly StatedRelationRow[]>;
  readonly rows: Map<string, StatedRelationRow>;
  readonly standing: Map<string, Standing | undefined>;
  readonly newer: Map<string, readonly MemoryRecord[]>;
}

const keptOf = new WeakMap<object, Kept>();

/**
 * A reader for walks over relations: what one of them has read, the next ones need not read again, until something is
 * written. Rows are kept, not what follows from them: that depends on the moment and on who looks.
 */
export async function walkingReader(space: SpaceStore, snapshot: Snapshot): Promise<SpaceReader> {
  const kept = keptAt(space, await snapshot.version());
  const interned = (row: StatedRelationRow): StatedRelationRow => {
    const { memory, relation } = row;
    const key = JSON.stringify([memory.id, relation.from, relation.name, relation.to, relation.validFrom]);
    const known = kept.rows.get(key);
    if (known) return known;
    kept.rows.set(key, row);
    return row;
  };
  return {
    ...snapshot,
    async stated(query) {
      if ('ends' in query) {
        return through(kept.ends, query.ends, async (missing) => {
          const rows = (await snapshot.stated({ ends: missing })).map(interned);
          return rows.flatMap((row) => [[row.relation.from, row] as const, [row.relation.to, row] as const]);
        });
      }
      const asked = new Map(query.subjects.map((subject) => [subjectOf(subject), subject]));
      return through(kept.subjects, [...asked.keys()], async (missing) => {
        const subjects = missing.flatMap((key) => asked.get(key) ?? []);
        const rows = (await snapshot.stated({ subjects })).map(interned);
        return rows.map((row) => [subjectOf(row.relation), row] as const);
      });
    },
    async standing(ids) {
      const missing = ids.filter((id) => !kept.standing.has(id));
      const read = missing.length === 0 ? [] : await snapshot.standing(missing);
      for (const [at, id] of missing.entries()) kept.standing.set(id, read[at]);
      return ids.map((id) => kept.standing.get(id));
    },
    async find(by, values) {
      if (by !== 'supersedes') return snapshot.find(by, values);
      return through(kept.newer, values, async (missing) =>
        (await snapshot.find(by, missing)).flatMap((memory) =>
          memory.supersedes.map((older) => [older, memory] as const),
        ),
      );
    },
  };
}

function keptAt(space: SpaceStore, version: unknown): Kept {
  const known = keptOf.get(space);
  if (known && known.version === version && known.rows.size < MOST_ROWS) return known;
  const kept: Kept = {
    version,
    ends: new Map(),
    subjects: new Map(),
    rows: new Map(),
    standing: new Map(),
    newer: new Map(),
  };
  keptOf.set(space, kept);
  return kept;
}

/** The values of these keys, each once; those that are not known are read, by key. */
async function through<Value>(
  known: Map<string, readonly Value[]>,
  keys: readonly string[],
  read: (missing: readonly string[]) => Promise<readonly (readonly [key: string, value: Value])[]>,
): Promise<readonly Value[]> {
  const missing = [...new Set(keys)].filter((key) => !known.has(key));
  if (missing.length > 0) {
    const found = new Map<string, Value[]>(missing.map((key) => [key, []]));
    for (const [key, value] of await read(missing)) found.get(key)?.push(value);
    for (const [key, values] of found) known.set(key, values);
  }
  const all = new Set<Value>();
  for (const key of keys) for (const value of known.get(key) ?? []) all.add(value);
  return [...all];
}
