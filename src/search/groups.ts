import { grow } from './grow.ts';
import { GROUP_ROWS, NO_PRODUCT } from './kernel/scan.ts';
import { ROUNDING } from './quantise.ts';

/**
 * What `GROUP_ROWS` consecutive rows have in common: bounds of their scales and residuals, which with the highest of
 * their products limit the similarity of all of them, and their sessions. Rows are only appended, and never change
 * their vector or session, so what is known of a group stays true.
 */
export interface Groups {
  /** By group: the largest scale and the largest residual; NaN if one of its rows has no vector. */
  scales: Float32Array;
  residuals: Float32Array;
  /** The least scale of all rows with a vector; `Infinity` if there are none. */
  leastScale: number;
  /** By group, `MOST_SESSIONS` entries each: the index's numbers of the sessions of its rows. */
  sessions: Uint32Array;
  /** By group: how many sessions it has; `MOST_SESSIONS + 1` if they are not all listed. */
  sessionCounts: Uint8Array;
  /**
   * A run is consecutive rows of the same session, or of none. The first row of each run, ascending, and its session.
   */
  runStarts: Int32Array;
  runSessions: Uint32Array;
  runCount: number;
  /** How many rows belong to a session. */
  inSessions: number;
  /** How many rows are included so far. */
  taken: number;
}

/** The most sessions that are listed for a group. Turns of a session are mostly consecutive. */
export const MOST_SESSIONS = 8;

export function createGroups(): Groups {
  return {
    scales: new Float32Array(0),
    residuals: new Float32Array(0),
    leastScale: Infinity,
    sessions: new Uint32Array(0),
    sessionCounts: new Uint8Array(0),
    runStarts: new Int32Array(0),
    runSessions: new Uint32Array(0),
    runCount: 0,
    inSessions: 0,
    taken: 0,
  };
}

export function bytesOfGroups(groups: Groups): number {
  const { scales, residuals, sessions, sessionCounts, runStarts, runSessions } = groups;
  const arrays = [scales, residuals, sessions, sessionCounts, runStarts, runSessions];
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

export function groupOf(row: number): number {
  return Math.floor(row / GROUP_ROWS);
}

/** The fields of an index that groups are made from. */
interface Rows {
  readonly groups: Groups;
  readonly size: number;
  readonly scales: Float32Array;
  readonly residuals: Float32Array;
  readonly sessions: { readonly codes: Uint32Array };
}

/** Adds the rows that were appended since the last call. */
export function followRows({ groups, size, scales, residuals, sessions: { codes } }: Rows): void {
  if (groups.taken === size) return;
  const count = groupOf(size) + 1;
  groups.scales = grow(groups.scales, count);
  groups.residuals = grow(groups.residuals, count);
  groups.sessions = grow(groups.sessions, count * MOST_SESSIONS);
  groups.sessionCounts = grow(groups.sessionCounts, count);
  for (let row = groups.taken; row < size; ) {
    const group = groupOf(row);
    const end = Math.min(size, (group + 1) * GROUP_ROWS);
    // `Math.max` keeps NaN: a row without a vector cannot be skipped by its similarity.
    groups.scales[group] = Math.max(groups.scales[group]!, highestOf(scales, row, end));
    groups.residuals[group] = Math.max(groups.residuals[group]!, highestOf(residuals, row, end));
    groups.leastScale = Math.min(groups.leastScale, leastOf(scales, row, end));
    addSessions(groups, group, codes, row, end);
    row = end;
  }
  groups.taken = size;
}

// Small functions: V8 compiles them after a few groups, while a single loop over all rows of a large index would stay
// interpreted for long.

function highestOf(values: Float32Array, start: number, end: number): number {
  let highest = 0;
  for (let row = start; row < end; row++) highest = Math.max(highest, values[row]!);
  return highest;
}

/** Returns the least value, ignoring NaN. */
function leastOf(values: Float32Array, start: number, end: number): number {
  let least = Infinity;
  for (let row = start; row < end; row++) {
    const value = values[row]!;
    if (value < least) least = value;
  }
  return least;
}

function addSessions(groups: Groups, group: number, sessions: Uint32Array, start: number, end: number): void {
  let last = -1;
  for (let row = start; row < end; row++) {
    const session = sessions[row]!;
    if (session !== last) {
      addSession(groups, group, session);
      addRun(groups, row, session);
    }
    if (session !== 0) groups.inSessions++;
    last = session;
  }
}

/** Starts a run, unless the row continues the last run of the previous group. */
function addRun(groups: Groups, row: number, session: number): void {
  const { runCount } = groups;
  if (runCount > 0 && groups.runSessions[runCount - 1] === session) return;
  groups.runStarts = grow(groups.runStarts, runCount + 1);
  groups.runSessions = grow(groups.runSessions, runCount + 1);
  groups.runStarts[runCount] = row;
  groups.runSessions[runCount] = session;
  groups.runCount++;
}

function addSession({ sessions, sessionCounts }: Groups, group: number, session: number): void {
  const count = sessionCounts[group]!;
  if (count > MOST_SESSIONS) return;
  const start = group * MOST_SESSIONS;
  for (let at = start + count - 1; at >= start; at--) if (sessions[at] === session) return;
  if (count < MOST_SESSIONS) sessions[start + count] = session;
  sessionCounts[group] = count + 1;
}

/**
 * Returns a bit for each class that a row of the group may have. `classOf` is by session; `all` has the bits of all
 * classes.
 */
export function classesOfGroup(
  { sessions, sessionCounts }: Groups,
  group: number,
  classOf: Uint8Array,
  all: number,
): number {
  const count = sessionCounts[group]!;
  if (count > MOST_SESSIONS) return all;
  let classes = 0;
  for (let at = 0; at < count; at++) classes |= 1 << classOf[sessions[group * MOST_SESSIONS + at]!]!;
  return classes;
}

/** Bounds the similarities of the rows of a group by their products: see {@link reachOf}. */
export interface Line {
  factor: number;
  margin: number;
}

/** Sets the line of a group for a query with codes of this scale and residual. It is NaN if a row has no vector. */
export function setLine(line: Line, groups: Groups, group: number, scale: number, residual: number): void {
  line.factor = groups.scales[group]! * scale;
  // As `dotError`, and slightly more, since the steps are rounded in another order.
  line.margin = groups.residuals[group]! * (1 + residual) + residual + 2 * ROUNDING;
}

/** Returns an upper bound of the similarity of the rows with products of at most `product`. */
export function reachOf({ factor, margin }: Line, product: number): number {
  return Math.max(0, product) * factor + margin;
}

/** The largest product that there can be. */
const MOST = 0x7fff_ffff;

/** Returns the highest product whose reach is at most `limit`, or a slightly lower one; `NO_PRODUCT` if there is none. */
export function productWithin(line: Line, limit: number): number {
  let product = Math.min(MOST, Math.floor((limit - line.margin) / line.factor));
  // Division rounds, so the first product may be too high.
  while (product >= 0 && !(reachOf(line, product) <= limit)) product--;
  return product >= 0 ? product : NO_PRODUCT;
}
