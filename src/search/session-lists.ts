import { valueAt } from '../scoring/compile.ts';
import type { ResidentIndex } from './resident-index.ts';

/** Of each session, by its number from 1 on: its living rows, by creation, then ordinal. */
export interface SessionLists {
  /** Valid until the session changes. */
  of(session: number): Int32Array | number[];
  insert(session: number, place: number, row: number): void;
  remove(session: number, place: number): void;
  /** About how many bytes are taken. */
  bytes(): number;
}

interface Packed {
  /** The rows of one session after the other. */
  readonly rows: Int32Array;
  /** Where each session begins; one more than there are sessions. */
  readonly starts: Uint32Array;
}

/** Of a list that changed: its entry, the array and its header. */
const LIST_BYTES = 80;

/** Lists that begin as packed ones. Of one that changes a copy is made: a session has some hundred rows. */
export function createSessionLists({ rows, starts }: Packed = NONE): SessionLists {
  const changed = new Map<number, number[]>();
  let entries = 0;
  const packed = (session: number) =>
    session < starts.length ? rows.subarray(starts[session - 1]!, starts[session]!) : rows.subarray(0, 0);
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
      rows.byteLength +
      (starts === NONE.starts ? 0 : starts.byteLength) +
      changed.size * LIST_BYTES +
      entries * 8,
  };
}

const NONE: Packed = { rows: new Int32Array(0), starts: new Uint32Array(1) };

/** Rows of one step. */
const STEP = 2048;

/** The lists of an index without dead rows, in steps. */
export function* packing(index: ResidentIndex): Generator<undefined, SessionLists> {
  const { size, sessions } = index;
  const starts = new Uint32Array(sessions.dictionary.texts.length + 1);
  for (let row = 0; row < size; row += STEP) {
    count(sessions.codes, row, Math.min(size, row + STEP), starts);
    yield;
  }
  for (let session = 1; session < starts.length; session++) starts[session]! += starts[session - 1]!;
  const rows = new Int32Array(starts.at(-1)!);
  const ends = starts.slice();
  const unordered = new Set<number>();
  for (let row = 0; row < size; row += STEP) {
    put(index, row, Math.min(size, row + STEP), { rows, starts }, ends, unordered);
    yield;
  }
  for (const session of unordered) {
    rows
      .subarray(starts[session - 1]!, starts[session]!)
      .sort((a, b) => (standsBefore(index, a, b) ? -1 : standsBefore(index, b, a) ? 1 : 0));
    yield;
  }
  return createSessionLists({ rows, starts });
}

function count(codes: Uint32Array, from: number, to: number, counts: Uint32Array): void {
  for (let row = from; row < to; row++) {
    const session = codes[row]!;
    if (session > 0) counts[session]!++;
  }
}

function put(
  index: ResidentIndex,
  from: number,
  to: number,
  { rows, starts }: Packed,
  ends: Uint32Array,
  unordered: Set<number>,
): void {
  const { codes } = index.sessions;
  for (let row = from; row < to; row++) {
    const session = codes[row]!;
    if (session === 0) continue;
    const place = ends[session - 1]!++;
    rows[place] = row;
    if (place > starts[session - 1]! && !standsBefore(index, rows[place - 1]!, row)) unordered.add(session);
  }
}

/** Where a row stands, or would stand, among rows in the order of a session. */
export function placeAmong(index: ResidentIndex, list: ArrayLike<number>, row: number): number {
  // Most are the last of it.
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

/** Turns of a session stand in the order of creation, then ordinal. */
function standsBefore({ columns, ordinals }: ResidentIndex, a: number, b: number): boolean {
  const { createdAt } = columns.clocks;
  const difference = valueAt(createdAt, a) - valueAt(createdAt, b);
  return difference < 0 || (difference === 0 && ordinals[a]! < ordinals[b]!);
}
