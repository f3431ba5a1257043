import { valueAt } from '../scoring/compile.ts';
import { contextShare, NEIGHBOUR_OFFSETS, type NeighbourOffset, neighbourWeight } from '../text/context.ts';
import { ELIGIBLE } from './eligible.ts';
import { grow } from './grow.ts';
import type { ResidentIndex } from './resident-index.ts';
import { placeAmong } from './session-lists.ts';

/** Bits of a row's state in its session. The row is visible: */
export const SEEN = 1;
/** Its neighbours' words do not count for it. */
export const APART = 2;
/** Its words do not count for its neighbours. */
const MUTE = 4;
/** The turn before it is the row before it, as for most. */
const NEAR_BEFORE = 8;
const NEAR_AFTER = 16;
/** The turn before it is some other row. */
const FAR_BEFORE = 32;
const FAR_AFTER = 64;

/** The visible memories of sessions, and the neighbours of each. Updated session by session. */
export interface Turns {
  /** The state of each row, a sum of bits such as {@link SEEN}; 0 if it is not visible or in no session. */
  states: Uint8Array;
  /** A bit for each row whose previous turn is the row before it. */
  joined: Uint32Array;
  /**
   * A bit for each row with a turn up to two places off that is found only by `previous` or `next`. Other rows may have
   * the bit too.
   */
  far: Uint32Array;
  /** The turns before and after each row, where they are not the adjacent rows. Empty as long as all turns are. */
  previous: Int32Array;
  next: Int32Array;
  /** By the index's number of a session: its visible memories, and how many terms they have. */
  sizes: Uint32Array;
  sessionLengths: Float64Array;
  /** How many sessions have a visible memory, and how many terms those have in all. */
  count: number;
  totalLength: number;
}

/** Creates the turns of an index. `standings` is how the recall sees each row. */
export function turnsOf(index: ResidentIndex, standings: Uint8Array): Turns {
  const turns: Turns = {
    states: new Uint8Array(0),
    joined: new Uint32Array(0),
    far: new Uint32Array(0),
    previous: new Int32Array(0),
    next: new Int32Array(0),
    sizes: new Uint32Array(0),
    sessionLengths: new Float64Array(0),
    count: 0,
    totalLength: 0,
  };
  makeRoom(turns, index);
  for (let code = 1; code <= index.sessions.dictionary.texts.length; code++)
    setSession(index, turns, standings, code);
  return turns;
}

/** Returns the size in bytes. */
export function bytesOfTurns(turns: Turns): number {
  const { states, joined, far, previous, next, sizes, sessionLengths } = turns;
  return [states, joined, far, previous, next, sizes, sessionLengths].reduce(
    (sum, { byteLength }) => sum + byteLength,
    0,
  );
}

/** Updates the turns for changed rows. `sessions` are the numbers of all sessions in which something changed. */
export function followTurns(
  index: ResidentIndex,
  turns: Turns,
  standings: Uint8Array,
  rows: Iterable<number>,
  sessions: Iterable<number>,
): void {
  makeRoom(turns, index);
  // A removed row is no longer in the list of its session.
  for (const row of rows) setState(turns, row, 0);
  for (const code of sessions) if (code > 0) setSession(index, turns, standings, code);
}

function makeRoom(turns: Turns, { size, sessions }: ResidentIndex): void {
  turns.states = grow(turns.states, size);
  turns.joined = grow(turns.joined, (size >> 5) + 1);
  turns.far = grow(turns.far, (size >> 5) + 1);
  turns.sizes = grow(turns.sizes, sessions.dictionary.texts.length + 1);
  turns.sessionLengths = grow(turns.sessionLengths, sessions.dictionary.texts.length + 1);
}

function makeRoomForFar(turns: Turns, size: number): void {
  turns.previous = grow(turns.previous, size);
  turns.next = grow(turns.next, size);
}

function setState({ states, joined }: Turns, row: number, state: number): void {
  states[row] = state;
  joined[row >> 5]! &= ~(1 << (row & 31));
}

/** Marks a row and the rows beside it: their neighbours two places off may be reached through it. */
function setFar({ far }: Turns, row: number): void {
  for (const each of [row - 1, row, row + 1]) if (each >= 0) far[each >> 5]! |= 1 << (each & 31);
}

/** Recomputes the neighbours of each memory of a session. */
function setSession(index: ResidentIndex, turns: Turns, standings: Uint8Array, code: number): void {
  const { states, sizes, sessionLengths } = turns;
  if (sizes[code]! > 0) {
    turns.count--;
    turns.totalLength -= sessionLengths[code]!;
  }
  const members = index.sessions.lists.of(code);
  let size = 0;
  let length = 0;
  let last = -1;
  for (let at = 0; at < members.length; at++) {
    const row = members[at]!;
    if (standings[row] !== ELIGIBLE) {
      setState(turns, row, 0);
      continue;
    }
    setState(turns, row, isMute(index, row) ? SEEN + APART + MUTE : SEEN);
    if (last >= 0) {
      if (last === row - 1) {
        states[last]! |= NEAR_AFTER;
        states[row]! |= NEAR_BEFORE;
        turns.joined[row >> 5]! |= 1 << (row & 31);
      } else {
        makeRoomForFar(turns, index.size);
        states[last]! |= FAR_AFTER;
        states[row]! |= FAR_BEFORE;
        turns.next[last] = row;
        turns.previous[row] = last;
        setFar(turns, last);
        setFar(turns, row);
      }
    }
    size++;
    length += index.lengths[row]!;
    last = row;
  }
  sizes[code] = size;
  sessionLengths[code] = length;
  if (size === 0) return;
  turns.count++;
  turns.totalLength += length;
  const { shared, clocks } = index.columns;
  // No text was ever replaced.
  if (Number.isNaN(shared.get(clocks.textChangedAt))) return;
  for (let row = last; row >= 0; row = rowBefore(turns, row)) {
    // The last memory of the session other than this row.
    const other = row === last ? rowBefore(turns, row) : last;
    if (wasReplaced(index, other, row)) states[row]! |= APART;
  }
}

// These take the state and arrays, not an object, so that a loop over many rows reads them once.

/** Returns the turn before a row with this state, or `none`. */
export function turnBefore(state: number, row: number, previous: Int32Array, none: number): number {
  if ((state & NEAR_BEFORE) !== 0) return row - 1;
  return (state & FAR_BEFORE) !== 0 ? previous[row]! : none;
}

/** Returns the turn after a row with this state, or `none`. */
export function turnAfter(state: number, row: number, next: Int32Array, none: number): number {
  if ((state & NEAR_AFTER) !== 0) return row + 1;
  return (state & FAR_AFTER) !== 0 ? next[row]! : none;
}

/** Returns how much the words of a row count for its neighbours, and theirs for it, by its state and length. */
export function shareOf(state: number, length: number): number {
  return (state & MUTE) === 0 ? contextShare(length) : 0;
}

/** Returns the turn before a visible row of a session, −1 if there is none. */
function rowBefore({ states, previous }: Turns, row: number): number {
  return turnBefore(states[row]!, row, previous, -1);
}

function rowAfter({ states, next }: Turns, row: number): number {
  return turnAfter(states[row]!, row, next, -1);
}

function rowAt(turns: Turns, row: number, offset: NeighbourOffset): number {
  const beside = offset < 0 ? rowBefore : rowAfter;
  const next = beside(turns, row);
  return next < 0 || offset === -1 || offset === 1 ? next : beside(turns, next);
}

/**
 * Returns the number of the session in which the words of a row are counted; 0 if it is in none with a visible memory.
 */
export function sessionOf(index: ResidentIndex, turns: Turns, row: number): number {
  const code = index.sessions.codes[row]!;
  return turns.sizes[code]! > 0 ? code : 0;
}

/** Whether a row belongs to a session but is not visible, so that its neighbours are not known. */
export function isUnseenTurn(index: ResidentIndex, turns: Turns, row: number): boolean {
  return turns.states[row] === 0 && index.sessions.codes[row] !== 0;
}

/** A neighbour of a row, and the weight of its words. */
export interface Neighbour {
  readonly offset: NeighbourOffset;
  readonly row: number;
  readonly weight: number;
}

/** Returns the neighbours whose words count for a row, in the order in which they are added. */
export function neighboursOf(index: ResidentIndex, turns: Turns, row: number): readonly Neighbour[] {
  const state = turns.states[row]!;
  if (state === 0) return aroundUnseen(index, turns, row);
  if ((state & APART) !== 0) return [];
  const found: Neighbour[] = [];
  for (const offset of NEIGHBOUR_OFFSETS) {
    const other = rowAt(turns, row, offset);
    if (other < 0) continue;
    const own = shareOf(state, index.lengths[row]!);
    const weight = weightBeside(index, turns, offset, own, other);
    if (weight > 0) found.push({ offset, row: other, weight });
  }
  return found;
}

function weightBeside(
  { asks, lengths }: ResidentIndex,
  { states }: Turns,
  offset: NeighbourOffset,
  own: number,
  other: number,
): number {
  return neighbourWeight(offset, asks[other] === 1, own, shareOf(states[other]!, lengths[other]!));
}

/** Finds the visible neighbours of a row that is not visible itself. */
function aroundUnseen(index: ResidentIndex, turns: Turns, row: number): readonly Neighbour[] {
  const session = sessionOf(index, turns, row);
  if (session === 0 || isMute(index, row)) return [];
  const own = contextShare(index.lengths[row]!);
  const seen = Array.from(index.sessions.lists.of(session)).filter((each) => turns.states[each] !== 0);
  if (wasReplaced(index, seen.at(-1) ?? -1, row)) return [];
  const before = placeAmong(index, seen, row);
  return NEIGHBOUR_OFFSETS.flatMap((offset) => {
    const other = seen[(offset < 0 ? before : before - 1) + offset];
    if (other === undefined) return [];
    const weight = weightBeside(index, turns, offset, own, other);
    return weight > 0 ? [{ offset, row: other, weight }] : [];
  });
}

/**
 * Whether a memory is a summary or consolidated. Those stand for many turns, so their words do not count for
 * neighbours, nor the reverse.
 */
function isMute({ columns }: ResidentIndex, row: number): boolean {
  const { type, source } = columns.attributes;
  return (
    type.dictionary.texts[type.codes[row]!] === 'summary' ||
    source.dictionary.texts[source.codes[row]!] === 'consolidated'
  );
}

/**
 * Whether the text of a row was replaced after `last`, the last other memory of the session, was created (−1 if there
 * is none). Such a text is not part of that conversation.
 */
function wasReplaced({ columns: { clocks } }: ResidentIndex, last: number, row: number): boolean {
  return last >= 0 && valueAt(clocks.textChangedAt, row) > valueAt(clocks.createdAt, last);
}
