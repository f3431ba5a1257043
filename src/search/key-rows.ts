import { grow } from './grow.ts';

/** The rows of an index by the store's keys. */
export interface KeyRows extends Iterable<readonly [key: number, row: number]> {
  readonly size: number;
  get(key: number): number | undefined;
  has(key: number): boolean;
  set(key: number, row: number): void;
  delete(key: number): void;
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
 * apart are in a map all the same.
 */
export function createKeyRows(): KeyRows {
  /** The row + 1; 0 for none. */
  let near = new Int32Array(0);
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
