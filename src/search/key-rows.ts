import { grow } from './grow.ts';

/** The rows of an index by the store's keys. */
export interface KeyRows extends Iterable<readonly [key: number, row: number]> {
  readonly size: number;
  get(key: number): number | undefined;
  has(key: number): boolean;
  set(key: number, row: number): void;
  delete(key: number): void;
  /** Sets the keys of the rows from `from` to before `to`. If an array is needed, it has room for all of `keys` at once. */
  take(keys: ArrayLike<number>, from: number, to: number): void;
  /** Returns the approximate size in bytes. */
  bytes(): number;
}

/** Keys below this many times the number of keys are stored in an array, as are all keys below `LEAST`. */
const SPREAD = 4;
const LEAST = 1024;
/** The size of a map entry. */
const ENTRY_BYTES = 40;

/**
 * Maps keys to rows. Stores number memories consecutively, so as long as none was changed or removed, a row is its key
 * minus the first key. After that an array by key is used, which takes a tenth of the space and time of a map. Keys
 * that are too large for it go into a map.
 */
export function createKeyRows(): KeyRows {
  /** The first key and how many there are, as long as keys are consecutive. */
  let run: { first: number; count: number } | undefined = { first: 0, count: 0 };
  /** By key: the row + 1; 0 for none. */
  let near = new Int32Array(0);
  const far = new Map<number, number>();
  let count = 0;

  const isNear = (key: number) => key >= 0 && key < near.length && Number.isInteger(key);
  const get = (key: number) => {
    if (run) {
      const row = key - run.first;
      return row >= 0 && row < run.count && Number.isInteger(row) ? row : undefined;
    }
    if (!isNear(key)) return far.get(key);
    const found = near[key]!;
    return found === 0 ? undefined : found - 1;
  };
  const reach = (key: number) => {
    if (!(key >= near.length && key < Math.max(LEAST, SPREAD * count) && Number.isInteger(key))) return;
    near = grow(near, key + 1);
    for (const [each, row] of far) {
      if (!isNear(each)) continue;
      near[each] = row + 1;
      far.delete(each);
    }
  };

  /** Ends the run: each key gets an entry of its own. `room` is the least length of the array. */
  const unpack = (room = 0) => {
    if (!run) return;
    const { first, count: rows } = run;
    run = undefined;
    count = 0;
    near = new Int32Array(Math.max(room, roomFor([first + rows - 1], rows)));
    for (let row = 0; row < rows; row++) set(first + row, row);
  };
  const set = (key: number, row: number) => {
    if (run && row === run.count && (row === 0 || key === run.first + row)) {
      if (row === 0) run.first = key;
      run.count++;
      count++;
      return;
    }
    unpack();
    if (get(key) === undefined) count++;
    reach(key);
    if (isNear(key)) near[key] = row + 1;
    else far.set(key, row);
  };

  return {
    get size() {
      return count;
    },
    get,
    has: (key) => get(key) !== undefined,
    set,
    take(keys, from, to) {
      let row = from;
      if (run && from === run.count && from < to) {
        if (from === 0) run.first = keys[0]!;
        row = endOfRun(keys, from, to, run.first);
        run.count = row;
        count = row;
        if (row < to) unpack(roomFor(keys));
      }
      for (; row < to; row++) set(keys[row]!, row);
    },
    delete(key) {
      if (get(key) === undefined) return;
      unpack();
      count--;
      if (isNear(key)) near[key] = 0;
      else far.delete(key);
    },
    bytes: () => near.byteLength + far.size * ENTRY_BYTES,
    *[Symbol.iterator]() {
      for (let row = 0; run && row < run.count; row++) yield [run.first + row, row] as const;
      for (let key = 0; key < near.length; key++) if (near[key] !== 0) yield [key, near[key]! - 1] as const;
      yield* far;
    },
  };
}

/** Returns the first row from `from` on whose key does not continue the run; `to` if all do. */
function endOfRun(keys: ArrayLike<number>, from: number, to: number, first: number): number {
  let row = from;
  while (row < to && keys[row] === first + row) row++;
  return row;
}

/** Returns the length of an array by key that holds all of these keys; 0 if they need a map. */
function roomFor(keys: ArrayLike<number>, count = keys.length): number {
  let largest = -1;
  for (let row = 0; row < keys.length; row++) if (keys[row]! > largest) largest = keys[row]!;
  return largest < Math.max(LEAST, SPREAD * count) ? Math.ceil(largest) + 1 : 0;
}
