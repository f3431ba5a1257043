import { grow } from './grow.ts';

/** The rows of an index by the store's keys. */
export interface KeyRows extends Iterable<readonly [key: number, row: number]> {
  readonly size: number;
  get(key: number): number | undefined;
  has(key: number): boolean;
  set(key: number, row: number): void;
  delete(key: number): void;
  /** Sets the keys of some rows. */
  take(keys: ArrayLike<number>, from: number, to: number): void;
  /** About how many bytes are taken. */
  bytes(): number;
}

/** Keys that are at most so many times as large as there are rows have a place of their own. */
const SPREAD = 4;
const LEAST = 1024;
/** Of an entry of a map. */
const ENTRY_BYTES = 40;

/**
 * Stores count their keys up: as long as no memory was changed or removed, a row is its key less the first one. After that, an
 * array by key takes a tenth of the room and of the time of a map. Keys that lie far apart are in a map all the same. `expected`
 * are keys that there will be: room for them is made at once.
 */
export function createKeyRows(expected: ArrayLike<number> = []): KeyRows {
  /** As long as they are counted up: the first key, and how many there are. */
  let run: { first: number; count: number } | undefined = { first: 0, count: 0 };
  /** The row + 1; 0 for none. */
  let near = new Int32Array(0);
  const far = new Map<number, number>();
  const room = roomFor(expected);
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

  /** From now on each key has a place of its own. */
  const unpack = () => {
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
      for (let row = from; row < to; row++) set(keys[row]!, row);
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

/** How long an array has to be for all of them, if they may have one. */
function roomFor(keys: ArrayLike<number>, count = keys.length): number {
  let largest = -1;
  for (let row = 0; row < keys.length; row++) if (keys[row]! > largest) largest = keys[row]!;
  return largest < Math.max(LEAST, SPREAD * count) ? Math.ceil(largest) + 1 : 0;
}
