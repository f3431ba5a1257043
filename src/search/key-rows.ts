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
 * Stores count their keys up from 1: an array by key then takes a tenth of the room and of the time of a map. Keys that lie far
 * apart are in a map all the same. `expected` are keys that there will be: room for them is made at once.
 */
export function createKeyRows(expected: ArrayLike<number> = []): KeyRows {
  /** The row + 1; 0 for none. */
  let near = new Int32Array(roomFor(expected));
  const far = new Map<number, number>();
  let count = 0;

  const isNear = (key: number) => key >= 0 && key < near.length && Number.isInteger(key);
  const get = (key: number) => {
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

  return {
    get size() {
      return count;
    },
    get,
    has: (key) => get(key) !== undefined,
    set(key, row) {
      if (get(key) === undefined) count++;
      reach(key);
      if (isNear(key)) near[key] = row + 1;
      else far.set(key, row);
    },
    take(keys, from, to) {
      for (let row = from; row < to; row++) {
        const key = keys[row]!;
        if (near[key] === 0) {
          near[key] = row + 1;
          count++;
        } else {
          this.set(key, row);
        }
      }
    },
    delete(key) {
      if (get(key) === undefined) return;
      count--;
      if (isNear(key)) near[key] = 0;
      else far.delete(key);
    },
    bytes: () => near.byteLength + far.size * ENTRY_BYTES,
    *[Symbol.iterator]() {
      for (let key = 0; key < near.length; key++) if (near[key] !== 0) yield [key, near[key]! - 1] as const;
      yield* far;
    },
  };
}

/** How long an array has to be for all of them, if they may have one. */
function roomFor(keys: ArrayLike<number>): number {
  let largest = -1;
  for (let row = 0; row < keys.length; row++) if (keys[row]! > largest) largest = keys[row]!;
  return largest < Math.max(LEAST, SPREAD * keys.length) ? Math.ceil(largest) + 1 : 0;
}
