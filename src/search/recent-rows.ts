import type { MemoryRecord } from '../domain/memory.ts';
import { createRecent, type Recent } from '../domain/recent.ts';
import type { Awaitable, KeyedRows } from '../store/rows.ts';

/**
 * A cache of what recalls have read of single memories: records, the vectors of those that could have been among the
 * best, and which id belongs to which key. Recalls of one space mostly find the same memories. An entry is kept until
 * its memory changes.
 */
export interface RecentRows {
  /** Returns the same rows with this cache in front of them; `rows` itself if the store reads along. */
  over(rows: KeyedRows): KeyedRows;
  /** Drops memories that have changed. */
  forget(keys: Iterable<number>): void;
  clear(): void;
  bytes(): number;
}

/** The most bytes of records, vectors, terms and ids. */
const RECORD_BYTES = 8 << 20;
const VECTOR_BYTES = 16 << 20;
const TERM_BYTES = 1 << 20;
const ID_BYTES = 2 << 20;

/** The size of a record without its texts: its fields and its entry. */
const FIELD_BYTES = 1000;
/** The overhead of a vector, a term or an id. */
const ENTRY_BYTES = 200;

export function createRecentRows(recordBytes = RECORD_BYTES, vectorBytes = VECTOR_BYTES): RecentRows {
  const records = createRecent(recordBytes, sizeOfRecord);
  const vectors = createRecent<Float32Array>(vectorBytes, ({ byteLength }) => ENTRY_BYTES + byteLength);
  const terms = createRecent<number, string>(TERM_BYTES, (_, term) => ENTRY_BYTES + 2 * term.length);
  const keys = createRecent<number, string>(ID_BYTES, (_, id) => ENTRY_BYTES + 2 * id.length);
  const ids = createRecent<string>(ID_BYTES, (id) => ENTRY_BYTES + 2 * id.length);
  return {
    over(rows) {
      if (rows.readsAlong) return rows;
      return {
        ...rows,
        records: (asked) =>
          read(records, asked, (missing) => rows.records(missing)) as Awaitable<MemoryRecord[]>,
        vectors: (asked, soon) => read(vectors, asked, (missing) => rows.vectors(missing, soon)),
        termIds: (asked) => read(terms, asked, (missing) => rows.termIds(missing)),
        keysOf: (asked) => read(keys, asked, (missing) => rows.keysOf(missing)),
        idsOf: (asked) => read(ids, asked, (missing) => rows.idsOf(missing)),
      };
    },
    forget(changed) {
      for (const key of changed) {
        records.delete(key);
        vectors.delete(key);
        ids.delete(key);
      }
    },
    clear() {
      records.clear();
      vectors.clear();
      // Terms are removed with the last memory that contains them, and their numbers are reused. So are ids of
      // memories.
      terms.clear();
      keys.clear();
      ids.clear();
    },
    bytes: () => records.bytes() + vectors.bytes() + terms.bytes() + keys.bytes() + ids.bytes(),
  };
}

/** Returns the values of `keys`: from the cache where it has them, and read otherwise. */
function read<Value, Key>(
  recent: Recent<Value, Key>,
  keys: readonly Key[],
  readMissing: (keys: readonly Key[]) => Awaitable<readonly (Value | undefined)[]>,
): Awaitable<(Value | undefined)[]> {
  const found = keys.map((key) => recent.get(key));
  const missing = keys.filter((_, at) => found[at] === undefined);
  if (missing.length === 0) return found;
  const fill = (values: readonly (Value | undefined)[]) => {
    let next = 0;
    for (let at = 0; at < found.length; at++) {
      if (found[at] !== undefined) continue;
      const value = values[next++];
      found[at] = value;
      if (value !== undefined) recent.set(keys[at]!, value);
    }
    return found;
  };
  const values = readMissing(missing);
  return values instanceof Promise ? values.then(fill) : fill(values);
}

/** A string takes at most two bytes a character. */
function sizeOfRecord({ content, title = '', metadata, tags, relations }: MemoryRecord): number {
  const characters =
    content.length + title.length + lengthOf(metadata) + lengthOf(tags) + lengthOf(relations);
  return FIELD_BYTES + 2 * characters;
}

function lengthOf(value: unknown): number {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 0;
  return JSON.stringify(value).length;
}
