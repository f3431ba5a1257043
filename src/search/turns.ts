import { valueAt } from '../scoring/compile.ts';
import { contextShare, NEIGHBOUR_OFFSETS, type NeighbourOffset, neighbourWeight } from '../text/context.ts';
import { ELIGIBLE } from './eligible.ts';
import { grow } from './grow.ts';
import type { ResidentIndex } from './resident-index.ts';
import { placeAmong } from './session-lists.ts';

/**
 * The visible memories of sessions, and what stands around each. It is brought up to date session by session.
 */
export interface Turns {
  /** The index's number of the session of each row; 0 for one that is not visible or in none. */
  codes: Uint32Array;
  /** The row before each, −1 where there is none; read only where `codes` is not 0, as are the next four. */
  previous: Int32Array;
  /** The row after each, −1 where there is none. */
  next: Int32Array;
  /** How much the words of each row count beside others, and theirs beside it. */
  shares: Float64Array;
  /** 1 for a row beside which no words count. */
  apart: Uint8Array;
  /** The terms of each row and the shares of its neighbours'. */
  lengths: Float64Array;
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
    codes: new Uint32Array(0),
    previous: new Int32Array(0),
    next: new Int32Array(0),
    shares: new Float64Array(0),
    apart: new Uint8Array(0),
    lengths: new Float64Array(0),
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
  const { codes, previous, next, shares, apart, lengths, sizes, sessionLengths } = turns;
  return [codes, previous, next, shares, apart, lengths, sizes, sessionLengths].reduce(
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
  for (const row of rows) turns.codes[row] = 0;
  for (const code of sessions) if (code > 0) setSession(index, turns, standings, code);
}

function makeRoom(turns: Turns, { size, sessions }: ResidentIndex): void {
  turns.codes = grow(turns.codes, size);
  // Where no session is, nothing more is read.
  if (sessions.dictionary.texts.length > 0) {
    turns.previous = grow(turns.previous, size);
    turns.next = grow(turns.next, size);
    turns.shares = grow(turns.shares, size);
    turns.apart = grow(turns.apart, size);
    turns.lengths = grow(turns.lengths, size);
  }
  turns.sizes = grow(turns.sizes, sessions.dictionary.texts.length + 1);
  turns.sessionLengths = grow(turns.sessionLengths, sessions.dictionary.texts.length + 1);
}

/** Works out anew what stands around each memory of a session. */
function setSession(index: ResidentIndex, turns: Turns, standings: Uint8Array, code: number): void {
  const { codes, previous, next, shares, apart, lengths, sizes, sessionLengths } = turns;
  if (sizes[code]! > 0) {
    turns.count--;
    turns.totalLength -= sessionLengths[code]!;
  }
  const members = index.sessions.lists.of(code);
  const own = index.lengths;
  let size = 0;
  let length = 0;
  let last = -1;
  for (let at = 0; at < members.length; at++) {
    const row = members[at]!;
    if (standings[row] !== ELIGIBLE) {
      codes[row] = 0;
      continue;
    }
    codes[row] = code;
    previous[row] = last;
    next[row] = -1;
    if (last >= 0) next[last] = row;
    shares[row] = shareOf(index, row);
    size++;
    length += own[row]!;
    last = row;
  }
  sizes[code] = size;
  sessionLengths[code] = length;
  if (size === 0) return;
  turns.count++;
  turns.totalLength += length;
  for (let row = last; row >= 0; row = previous[row]!) {
    // The last other memory of the session.
    const other = row === last ? previous[row]! : last;
    apart[row] = shares[row] === 0 || wasReplaced(index, other, row) ? 1 : 0;
  }
  // Weight by weight in the order of `neighboursOf`, without making objects of a million rows.
  for (let row = last; row >= 0; row = previous[row]!) {
    let around = own[row]!;
    if (apart[row] === 0) {
      for (const offset of NEIGHBOUR_OFFSETS) {
        const other = rowAt(turns, row, offset);
        if (other >= 0) around += weightOf(index, turns, row, offset, other) * own[other]!;
      }
    }
    lengths[row] = around;
  }
}

/** The row that stands at an offset from one that is visible in a session; −1 where there is none. */
function rowAt({ previous, next }: Turns, row: number, offset: NeighbourOffset): number {
  const side = offset < 0 ? previous : next;
  const beside = side[row]!;
  return beside < 0 || offset === -1 || offset === 1 ? beside : side[beside]!;
}

/** The session that the words of a row are counted in, by the index's number; 0 without one that has a visible memory. */
export function sessionOf(index: ResidentIndex, turns: Turns, row: number): number {
  const code = index.sessions.codes[row]!;
  return turns.sizes[code]! > 0 ? code : 0;
}

/** Whether a row belongs to a session, and is not visible: nothing is known of what stands around it. */
export function isUnseenTurn(index: ResidentIndex, turns: Turns, row: number): boolean {
  return turns.codes[row] === 0 && index.sessions.codes[row] !== 0;
}

/** A neighbour of a row, and how much of its words counts. */
export interface Neighbour {
  readonly offset: NeighbourOffset;
  readonly row: number;
  readonly weight: number;
}

/** The neighbours of a row whose words count for it, in the order in which they are added. */
export function neighboursOf(index: ResidentIndex, turns: Turns, row: number): readonly Neighbour[] {
  if (turns.codes[row] === 0) return aroundUnseen(index, turns, row);
  if (turns.apart[row] === 1) return [];
  const found: Neighbour[] = [];
  for (const offset of NEIGHBOUR_OFFSETS) {
    const other = rowAt(turns, row, offset);
    if (other < 0) continue;
    const weight = weightOf(index, turns, row, offset, other);
    if (weight > 0) found.push({ offset, row: other, weight });
  }
  return found;
}

function weightOf(
  index: ResidentIndex,
  { shares }: Turns,
  row: number,
  offset: NeighbourOffset,
  other: number,
) {
  return neighbourWeight(offset, index.asks[other] === 1, shares[row]!, shares[other]!);
}

/** One that is not visible stands between those that are. */
function aroundUnseen(index: ResidentIndex, turns: Turns, row: number): readonly Neighbour[] {
  const session = sessionOf(index, turns, row);
  const own = shareOf(index, row);
  if (session === 0 || own === 0) return [];
  const seen = Array.from(index.sessions.lists.of(session)).filter((each) => turns.codes[each] === session);
  if (wasReplaced(index, seen.at(-1) ?? -1, row)) return [];
  const before = placeAmong(index, seen, row);
  return NEIGHBOUR_OFFSETS.flatMap((offset) => {
    const other = seen[(offset < 0 ? before : before - 1) + offset];
    if (other === undefined) return [];
    const weight = neighbourWeight(offset, index.asks[other] === 1, own, shareOf(index, other));
    return weight > 0 ? [{ offset, row: other, weight }] : [];
  });
}

/** How much the words of a row count beside others, and theirs beside it; summaries and consolidated memories stand for many turns, and have no part in it. */
function shareOf(index: ResidentIndex, row: number): number {
  const { type, source } = index.columns.attributes;
  if (type.dictionary.texts[type.codes[row]!] === 'summary') return 0;
  if (source.dictionary.texts[source.codes[row]!] === 'consolidated') return 0;
  return contextShare(index.lengths[row]!);
}

/**
 * Whether the text was replaced after the last other memory of the session, −1 where there is none: it is no part of that
 * conversation.
 */
function wasReplaced(index: ResidentIndex, last: number, row: number): boolean {
  const { signals, clocks } = index.columns;
  if (valueAt(signals.revisionCount, row) <= 1) return false;
  return last >= 0 && valueAt(clocks.updatedAt, row) > valueAt(clocks.createdAt, last);
}
