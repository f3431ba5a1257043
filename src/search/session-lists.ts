import { valueAt } from '../scoring/compile.ts';
import type { ResidentIndex } from './resident-index.ts';

/** The living rows of each session, by its number from 1 on, in the order of creation, then ordinal. */
export interface SessionLists {
  /** Returns the rows of a session. Valid until the session changes. */
  of(session: number): Int32Array | number[];
  insert(session: number, place: number, row: number): void;
  remove(session: number, place: number): void;
  /** Returns the approximate size in bytes. */
  bytes(): number;
}

/** Arrays by the number of a session. */
interface Packed {
  /** How many rows it has. */
  readonly counts: Uint32Array;
  /** Its first row, if its rows are consecutive, as most are; else −1 − the place of its first row in `rows`. */
  readonly places: Int32Array;
  /** The rows of one session after another. */
  readonly rows: Int32Array;
}

/** The size of a changed list: its entry, the array and its header. */
const LIST_BYTES = 80;

/** Creates lists from packed ones. A list that changes is copied first; a session has a few hundred rows. */
export function createSessionLists({ counts, places, rows }: Packed = NONE): SessionLists {
  const changed = new Map<number, number[]>();
  let entries = 0;
  const packed = (session: number) => {
    const [count, place] = [counts[session] ?? 0, places[session] ?? -1];
    return place < 0 ? rows.subarray(-1 - place, -1 - place + count) : upFrom(place, count);
  };
  const own = (session: number) => {
    const known = changed.get(session);
    if (known) return known;
    const list = [...packed(session)];
    changed.set(session, list);
    entries += list.length;
    return list;
  };
  return {
    of: (session) => changed.get(session) ?? packed(session),
    insert(session, place, row) {
      own(session).splice(place, 0, row);
      entries++;
    },
    remove(session, place) {
      own(session).splice(place, 1);
      entries--;
    },
    bytes: () =>
      rows.byteLength + counts.byteLength + places.byteLength + changed.size * LIST_BYTES + entries * 8,
  };
}

const NONE: Packed = { counts: new Uint32Array(0), places: new Int32Array(0), rows: new Int32Array(0) };

function upFrom(first: number, count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let at = 0; at < count; at++) rows[at] = first + at;
  return rows;
}

/** How many rows one step handles. */
const STEP = 2048;

/** Packs the lists of an index without dead rows, in steps. */
export function* packing(index: ResidentIndex): Generator<undefined, SessionLists> {
  const { size, sessions } = index;
  const length = sessions.dictionary.texts.length + 1;
  const found: Found = {
    counts: new Uint32Array(length),
    places: new Int32Array(length),
    lasts: new Int32Array(length).fill(-1),
    apart: new Uint8Array(length),
  };
  for (let row = 0; row < size; row += STEP) {
    count(index, row, Math.min(size, row + STEP), found);
    yield;
  }
  const { counts, places, apart } = found;
  let total = 0;
  for (let session = 1; session < length; session++) {
    if (apart[session] === 0) continue;
    places[session] = -1 - total;
    total += counts[session]!;
  }
  const rows = new Int32Array(total);
  if (total === 0) return createSessionLists({ counts, places, rows });
  const ends = places.map((place) => -1 - place);
  const unordered = new Set<number>();
  for (let row = 0; row < size; row += STEP) {
    put(index, row, Math.min(size, row + STEP), found, rows, ends, unordered);
    yield;
  }
  for (const session of unordered) {
    rows
      .subarray(-1 - places[session]!, ends[session]!)
      .sort((a, b) => (standsBefore(index, a, b) ? -1 : standsBefore(index, b, a) ? 1 : 0));
    yield;
  }
  return createSessionLists({ counts, places, rows });
}

/** Arrays by the number of a session. */
interface Found {
  readonly counts: Uint32Array;
  /** See {@link Packed}. */
  readonly places: Int32Array;
  readonly lasts: Int32Array;
  /** 1 if its rows are not consecutive or not in order. */
  readonly apart: Uint8Array;
}

function count(
  index: ResidentIndex,
  from: number,
  to: number,
  { counts, places, lasts, apart }: Found,
): void {
  const { codes } = index.sessions;
  for (let row = from; row < to; row++) {
    const session = codes[row]!;
    if (session === 0) continue;
    const last = lasts[session]!;
    if (last < 0) places[session] = row;
    else if (last !== row - 1 || !standsBefore(index, last, row)) apart[session] = 1;
    lasts[session] = row;
    counts[session]!++;
  }
}

function put(
  index: ResidentIndex,
  from: number,
  to: number,
  { places, apart }: Found,
  rows: Int32Array,
  ends: Int32Array,
  unordered: Set<number>,
): void {
  const { codes } = index.sessions;
  for (let row = from; row < to; row++) {
    const session = codes[row]!;
    if (apart[session] === 0) continue;
    const place = ends[session]!++;
    rows[place] = row;
    if (place > -1 - places[session]! && !standsBefore(index, rows[place - 1]!, row)) unordered.add(session);
  }
}

/** Returns the place of a row in the list of its session, or where it would be inserted. */
export function placeAmong(index: ResidentIndex, list: ArrayLike<number>, row: number): number {
  // Most rows come last.
  if (list.length === 0 || standsBefore(index, list[list.length - 1]!, row)) return list.length;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (standsBefore(index, list[middle]!, row)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether row `a` comes before row `b` in a session: by creation, then ordinal. */
function standsBefore({ columns, ordinals }: ResidentIndex, a: number, b: number): boolean {
  const { createdAt } = columns.clocks;
  const difference = valueAt(createdAt, a) - valueAt(createdAt, b);
  return difference < 0 || (difference === 0 && ordinals[a]! < ordinals[b]!);
}
