import { valueAt } from '../scoring/compile.ts';
import { contextShare, NEIGHBOUR_OFFSETS, type NeighbourOffset, neighbourWeight } from '../text/context.ts';
import { ELIGIBLE } from './eligible.ts';
import { grow } from './grow.ts';
import type { ResidentIndex } from './resident-index.ts';
import { placeAmong } from './session-lists.ts';

/** What a row is in its session, a bit each. Visible: */
export const SEEN = 1;
/** No words count beside it. */
export const APART = 2;
/** Its words count beside no others. */
const MUTE = 4;
/** The turn before it is the row before it; so it is with most. */
const NEAR_BEFORE = 8;
const NEAR_AFTER = 16;
/** The turn before it is another row. */
const FAR_BEFORE = 32;
const FAR_AFTER = 64;

/**
 * The visible memories of sessions, and what stands around each. It is brought up to date session by session.
 */
export interface Turns {
  /** What each row is in its session, such as {@link SEEN}; 0 for one that is not visible or in none. */
  states: Uint8Array;
  /** A bit for each row whose turn before it is the row before it. */
  joined: Uint32Array;
  /** A bit for each row with a turn up to two places off that is reached by the arrays below; others may have one too. */
  far: Uint32Array;
  /** The turns before and after each row, where they are not the rows beside it; no arrays as long as they all are. */
  previous: Int32Array;
  next: Int32Array;
  /** By the index's number of a session: its visible memories, and their terms. */
  sizes: Uint32Array;
  sessionLengths: Float64Array;
  /** Sessions with a visible memory, and the terms of all of them. */
  count: number;
  totalLength: number;
}

/** `standings` are those of each row to what a recall sees. */
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

/** Bytes that they take. */
export function bytesOfTurns(turns: Turns): number {
  const { states, joined, far, previous, next, sizes, sessionLengths } = turns;
  return [states, joined, far, previous, next, sizes, sessionLengths].reduce(
    (sum, { byteLength }) => sum + byteLength,
    0,
  );
}

/** Takes in what became of some rows. `sessions` are the numbers of all that something of changed. */
export function followTurns(
  index: ResidentIndex,
  turns: Turns,
  standings: Uint8Array,
  rows: Iterable<number>,
  sessions: Iterable<number>,
): void {
  makeRoom(turns, index);
  // A row that is gone is in no list of its session any more.
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

/** Also of the rows beside it: the turn after theirs may be reached from it. */
function setFar({ far }: Turns, row: number): void {
  for (const each of [row - 1, row, row + 1]) if (each >= 0) far[each >> 5]! |= 1 << (each & 31);
}

/** Works out anew what stands around each memory of a session. */
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
  for (let row = last; row >= 0; row = rowBefore(turns, row)) {
    // The last other memory of the session.
    const other = row === last ? rowBefore(turns, row) : last;
    if (wasReplaced(index, other, row)) states[row]! |= APART;
  }
}

// Of states and arrays, not of an object: a loop over many rows reads those once.

/** The turn before a row in this state, or `none`. */
export function turnBefore(state: number, row: number, previous: Int32Array, none: number): number {
  if ((state & NEAR_BEFORE) !== 0) return row - 1;
  return (state & FAR_BEFORE) !== 0 ? previous[row]! : none;
}

/** The turn after a row in this state, or `none`. */
export function turnAfter(state: number, row: number, next: Int32Array, none: number): number {
  if ((state & NEAR_AFTER) !== 0) return row + 1;
  return (state & FAR_AFTER) !== 0 ? next[row]! : none;
}

/** How much the words of a row in this state count beside others, and theirs beside it, by its length. */
export function shareOf(state: number, length: number): number {
  return (state & MUTE) === 0 ? contextShare(length) : 0;
}

/** The turn before a row that is visible in a session; −1 where there is none. */
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

/** The session that the words of a row are counted in, by the index's number; 0 without one that has a visible memory. */
export function sessionOf(index: ResidentIndex, turns: Turns, row: number): number {
  const code = index.sessions.codes[row]!;
  return turns.sizes[code]! > 0 ? code : 0;
}

/** Whether a row belongs to a session, and is not visible: nothing is known of what stands around it. */
export function isUnseenTurn(index: ResidentIndex, turns: Turns, row: number): boolean {
  return turns.states[row] === 0 && index.sessions.codes[row] !== 0;
}

/** A neighbour of a row, and how much of its words counts. */
export interface Neighbour {
  readonly offset: NeighbourOffset;
  readonly row: number;
  readonly weight: number;
}

/** The neighbours of a row whose words count for it, in the order in which they are added. */
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

/** One that is not visible stands between those that are. */
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

/** Summaries and consolidated memories stand for many turns: their words count beside no others, nor others' beside them. */
function isMute({ columns }: ResidentIndex, row: number): boolean {
  const { type, source } = columns.attributes;
  return (
    type.dictionary.texts[type.codes[row]!] === 'summary' ||
    source.dictionary.texts[source.codes[row]!] === 'consolidated'
  );
}

/**
 * Whether the text was replaced after the last other memory of the session, −1 where there is none: it is no part of that
 * conversation.
 */
function wasReplaced({ columns: { clocks } }: ResidentIndex, last: number, row: number): boolean {
  return last >= 0 && valueAt(clocks.textChangedAt, row) > valueAt(clocks.createdAt, last);
}
