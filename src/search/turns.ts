import { contextShare, NEIGHBOUR_OFFSETS, type NeighbourOffset, neighbourWeight } from '../text/context.ts';
import { placeAmong, type ResidentIndex } from './resident-index.ts';

/** The visible memories of sessions: a place for each, session after session, in the order of creation. */
export interface Turns {
  /** The row in each place. */
  readonly rows: Int32Array;
  /** The place of each row; −1 for one that is not visible or in no session. */
  readonly places: Int32Array;
  /** The session in each place, counted from 0 over those that have a visible memory. */
  readonly sessions: Int32Array;
  /** Where each session begins, and after the last one where it ends. */
  readonly starts: Int32Array;
  /** The terms of each session. */
  readonly lengths: Float64Array;
  readonly totalLength: number;
  /** By the index's number of a session, 1 for the first: its number here; −1 without a visible memory. */
  readonly sessionOfCode: Int32Array;
}

export function turnsOf(index: ResidentIndex, visible: Int32Array): Turns {
  const isVisible = new Uint8Array(index.size);
  for (let at = 0; at < visible.length; at++) isVisible[visible[at]!] = 1;
  const rows = new Int32Array(visible.length);
  const places = new Int32Array(index.size).fill(-1);
  const sessions = new Int32Array(visible.length);
  const sessionOfCode = new Int32Array(index.sessions.rows.length + 1).fill(-1);
  const starts: number[] = [];
  const lengths: number[] = [];
  let totalLength = 0;
  let place = 0;
  index.sessions.rows.forEach((members, code) => {
    const start = place;
    let length = 0;
    for (let at = 0; at < members.length; at++) {
      const row = members[at]!;
      if (isVisible[row] === 0) continue;
      rows[place] = row;
      places[row] = place;
      sessions[place++] = starts.length;
      length += index.lengths[row]!;
    }
    if (place === start) return;
    sessionOfCode[code + 1] = starts.length;
    starts.push(start);
    lengths.push(length);
    totalLength += length;
  });
  return {
    rows: rows.slice(0, place),
    places,
    sessions: sessions.slice(0, place),
    starts: Int32Array.from([...starts, place]),
    lengths: Float64Array.from(lengths),
    totalLength,
    sessionOfCode,
  };
}

/** The session of a row, as it is counted here; −1 without one that has a visible memory. */
export function sessionOf(index: ResidentIndex, turns: Turns, row: number): number {
  const place = turns.places[row]!;
  return place >= 0 ? turns.sessions[place]! : turns.sessionOfCode[index.sessions.codes[row]!]!;
}

/** A neighbour of a row, and how much of its words counts. */
export interface Neighbour {
  readonly offset: NeighbourOffset;
  readonly row: number;
  readonly weight: number;
}

/** The neighbours of a row whose words count for it, in the order in which they are added. */
export function neighboursOf(index: ResidentIndex, turns: Turns, row: number): readonly Neighbour[] {
  const session = sessionOf(index, turns, row);
  if (session < 0 || wasReplaced(index, turns, row, session)) return [];
  const shareOf = sharesIn(index);
  const own = shareOf(row);
  if (own === 0) return [];
  const start = turns.starts[session]!;
  const end = turns.starts[session + 1]!;
  const place = turns.places[row]!;
  // One that is not visible stands between those that are.
  const before = place >= 0 ? place : start + placeAmong(index, turns.rows.subarray(start, end), row);
  const after = place >= 0 ? place : before - 1;
  const neighbours: Neighbour[] = [];
  for (const offset of NEIGHBOUR_OFFSETS) {
    const at = (offset < 0 ? before : after) + offset;
    if (at < start || at >= end) continue;
    const neighbour = turns.rows[at]!;
    const weight = neighbourWeight(offset, index.asks[neighbour] === 1, own, shareOf(neighbour));
    if (weight > 0) neighbours.push({ offset, row: neighbour, weight });
  }
  return neighbours;
}

/** What stands around each place, made ready for counting. */
export interface Context {
  /** For each place, in the order of `NEIGHBOUR_OFFSETS`: the share of that neighbour's words; 0 where there is none. */
  readonly weights: Float64Array;
  /** The terms of each place and the shares of its neighbours'. */
  readonly lengths: Float64Array;
}

export function contextOf(index: ResidentIndex, turns: Turns): Context {
  const { rows, sessions, starts } = turns;
  const shareOfRow = sharesIn(index);
  const shares = new Float64Array(rows.length);
  const weights = new Float64Array(NEIGHBOUR_OFFSETS.length * rows.length);
  const lengths = new Float64Array(rows.length);
  for (let place = 0; place < rows.length; place++) {
    shares[place] = shareOfRow(rows[place]!);
    lengths[place] = index.lengths[rows[place]!]!;
  }
  for (let place = 0; place < rows.length; place++) {
    const session = sessions[place]!;
    const own = shares[place]!;
    if (own === 0 || wasReplaced(index, turns, rows[place]!, session)) continue;
    for (let each = 0; each < NEIGHBOUR_OFFSETS.length; each++) {
      const offset = NEIGHBOUR_OFFSETS[each]!;
      const other = place + offset;
      if (other < starts[session]! || other >= starts[session + 1]!) continue;
      const row = rows[other]!;
      const weight = neighbourWeight(offset, index.asks[row] === 1, own, shares[other]!);
      weights[NEIGHBOUR_OFFSETS.length * place + each] = weight;
      lengths[place]! += weight * index.lengths[row]!;
    }
  }
  return { weights, lengths };
}

/** How much the words of a row count beside others, and theirs beside it; summaries and consolidated memories stand for many turns, and have no part in it. */
function sharesIn({ columns, lengths }: ResidentIndex): (row: number) => number {
  const { type, source } = columns.attributes;
  const summary = type.dictionary.codes.get('summary');
  const consolidated = source.dictionary.codes.get('consolidated');
  return (row) =>
    type.codes[row] === summary || source.codes[row] === consolidated ? 0 : contextShare(lengths[row]!);
}

/** Whether the text was replaced after the last other memory of the session: it is no part of that conversation. */
function wasReplaced(index: ResidentIndex, turns: Turns, row: number, session: number): boolean {
  const { signals, clocks } = index.columns;
  if (signals.revisionCount[row]! <= 1) return false;
  const start = turns.starts[session]!;
  let last = turns.starts[session + 1]! - 1;
  if (turns.rows[last] === row) last--;
  return last >= start && clocks.updatedAt[row]! > clocks.createdAt[turns.rows[last]!]!;
}
