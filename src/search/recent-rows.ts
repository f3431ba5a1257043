import type { MemoryRecord } from '../domain/memory.ts';
import type { Awaitable, KeyedRows } from '../store/rows.ts';

/**
 * What recalls have read of single memories: their records, the vectors of those that could have been among the best, and which
 * memory an id is that of. Kept until a memory changes, as recalls of one space mostly come upon the same ones.
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
  const ids = createRecent<number, string>(ID_BYTES, (_, id) => ENTRY_BYTES + 2 * id.length);
  return {
    over(rows) {
      if (rows.readsAlong) return rows;
      return {
        ...rows,
        records: (keys) =>
          read(records, keys, (missing) => rows.records(missing)) as Awaitable<MemoryRecord[]>,
        vectors: (keys, soon) => read(vectors, keys, (missing) => rows.vectors(missing, soon)),
        termIds: (asked) => read(terms, asked, (missing) => rows.termIds(missing)),
        keysOf: (asked) => read(ids, asked, (missing) => rows.keysOf(missing)),
      };
    },
    forget(keys) {
      for (const key of keys) {
        records.delete(key);
        vectors.delete(key);
      }
    },
    clear() {
      records.clear();
      vectors.clear();
      // Terms go with the last memory that has them, and their numbers are given to others. So are the ids of memories.
      terms.clear();
      ids.clear();
    },
    bytes: () => records.bytes() + vectors.bytes() + terms.bytes() + ids.bytes(),
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

/** Values by key, of which those that nobody asked for lately go when there is no room. */
interface Recent<Value, Key = number> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  bytes(): number;
}

/**
 * Two generations: what is asked for is in the younger one, or comes into it; when that has half of the room, it becomes the older one,
 * and what was left of that goes.
 */
function createRecent<Value, Key = number>(
  most: number,
  sizeOf: (value: Value, key: Key) => number,
): Recent<Value, Key> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  let youngBytes = 0;
  let oldBytes = 0;
  const set = (key: Key, value: Value) => {
    const size = sizeOf(value, key);
    if (size > most / 2 || young.has(key)) return;
    if (youngBytes + size > most / 2) {
      [old, oldBytes] = [young, youngBytes];
      [young, youngBytes] = [new Map(), 0];
    }
    young.set(key, value);
    youngBytes += size;
  };
  const remove = (from: Map<Key, Value>, key: Key) => {
    const value = from.get(key);
    if (value === undefined) return 0;
    from.delete(key);
    return sizeOf(value, key);
  };
  return {
    get(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const older = old.get(key);
      if (older === undefined) return undefined;
      oldBytes -= remove(old, key);
      set(key, older);
      return older;
    },
    set,
    delete(key) {
      youngBytes -= remove(young, key);
      oldBytes -= remove(old, key);
    },
    clear() {
      young = new Map();
      old = new Map();
      youngBytes = 0;
      oldBytes = 0;
    },
    bytes: () => youngBytes + oldBytes,
  };
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
