import type { MemoryRecord } from '../domain/memory.ts';
import { createRecent, type Recent } from '../domain/recent.ts';
import type { Awaitable, KeyedRows } from '../store/rows.ts';

/**
 * What recalls have read of single memories: their records, the vectors of those that could have been among the best, and which
 * memory an id is that of, and the other way round. Kept until a memory changes, as recalls of one space mostly come upon the same ones.
 */
export interface RecentRows {
  /** The same rows, of which those that were read lately are not read again; where a store reads along, just these rows. */
  over(rows: KeyedRows): KeyedRows;
  /** These memories have changed. */
  forget(keys: Iterable<number>): void;
  clear(): void;
  bytes(): number;
}

/** Of records, of vectors, of terms, and of ids, at most. */
const RECORD_BYTES = 8 << 20;
const VECTOR_BYTES = 16 << 20;
const TERM_BYTES = 1 << 20;
const ID_BYTES = 2 << 20;

/** Of a record, beside its texts: its fields, and its entry. */
const FIELD_BYTES = 1000;
/** Of a vector, a term or an id, beside what it is. */
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
      // Terms go with the last memory that has them, and their numbers are given to others. So are the ids of memories.
      terms.clear();
      keys.clear();
      ids.clear();
    },
    bytes: () => records.bytes() + vectors.bytes() + terms.bytes() + keys.bytes() + ids.bytes(),
  };
}

/** What is known of these keys, and what is not is read. */
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

/** Strings take two bytes a character at most. */
function sizeOfRecord({ content, title = '', metadata, tags, relations }: MemoryRecord): number {
  const characters =
    content.length + title.length + lengthOf(metadata) + lengthOf(tags) + lengthOf(relations);
  return FIELD_BYTES + 2 * characters;
}

function lengthOf(value: unknown): number {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 0;
  return JSON.stringify(value).length;
}
