import type { Instant } from '../domain/time.ts';
import { cancels, roundingOf } from './cancelling.ts';
import { BLOCK_SIZE, type Columns, compile, emptyBlock, type KeptColumn } from './compile.ts';
import { namesRead } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import type { Interval } from './operators/interval.ts';
import { rangeOf } from './range.ts';
import { isClockName } from './signals.ts';

/** How many rows are sampled to judge how wide the bounds are. */
const SAMPLE = 256;
/** The widest that bounds may be, as a share of the largest of them. */
const WIDEST = 1 / 64;

/**
 * Returns the longest of the ascending `spans` for which the bounds of a sample of rows stay narrow, else the first
 * one.
 */
export function longestSpan(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  size: number,
  from: Instant,
  spans: readonly number[],
): number {
  const formula = compile(node, columns, { spans: true });
  const count = Math.min(size, SAMPLE);
  const isNarrow = (span: number) => {
    const block = emptyBlock(from, from + span);
    block.count = count;
    for (let at = 0; at < count; at++)
      block.rows[at] = Math.floor((at * (size - 1)) / Math.max(1, count - 1));
    const { low, high } = formula.bounds(block);
    let widest = 0;
    let largest = 0;
    for (let at = 0; at < count; at++) {
      widest = Math.max(widest, high[at]! - low[at]!);
      largest = Math.max(largest, Math.abs(low[at]!), Math.abs(high[at]!));
    }
    return widest <= WIDEST * largest;
  };
  const narrow = spans.findLastIndex((span, at) => at > 0 && isNarrow(span));
  return spans[Math.max(0, narrow)]!;
}

/**
 * Bounds a formula that reads nothing of a query, for rows 0 to `size`, from `from` until `until`. Each step handles
 * one block. Nothing that the formula reads may change between steps.
 */
export function* keepFormula(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  size: number,
  from: Instant,
  until: Instant,
): Generator<undefined, KeptColumn> {
  const kept = { low: new Float32Array(size), high: new Float32Array(size) };
  const range = yield* keepRows(node, columns, firstRows(size), kept, from, until);
  return { ...kept, range };
}

/**
 * Writes the bounds of some rows into `into`, in the same steps. Returns the interval of all of them, `undefined` if
 * the formula cannot be evaluated for one.
 */
export function* keepRows(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  rows: Int32Array,
  into: Arrays,
  from: Instant,
  until: Instant,
): Generator<undefined, Interval | undefined> {
  const { take, range } = keeping(node, columns, into, from, until);
  for (let start = 0; start < rows.length; start += BLOCK_SIZE) {
    take(rows.subarray(start, start + BLOCK_SIZE));
    yield;
  }
  return range();
}

/**
 * Bounds each row when it is first read: most recalls read few. Returns `undefined` if it is not certain that the
 * formula can be evaluated for every row.
 */
export function keepLazily(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  size: number,
  from: Instant,
  until: Instant,
): KeptColumn | undefined {
  const clocks = [...namesRead(node)].filter(isClockName);
  if (clocks.some((name) => columns.clock(name).includes(Number.NaN))) return undefined;
  const kept = { low: new Float32Array(size), high: new Float32Array(size).fill(MISSING) };
  return { ...kept, range: rangeOf(node), workOut: whereMissing(node, columns, kept, from, until) };
}

type Arrays = Pick<KeptColumn, 'low' | 'high'>;

/** The upper bound of a row that was not bounded yet. No real bound is this low. */
const MISSING = -Infinity;

/** Returns a function that bounds those of the first `count` rows that were not bounded yet. */
export function whereMissing(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  into: Arrays,
  from: Instant,
  until: Instant,
): (rows: Int32Array, count: number) => void {
  const missing = new Int32Array(BLOCK_SIZE);
  let made: Keeping | undefined;
  return (rows, count) => {
    let found = 0;
    for (let at = 0; at < count; at++) if (into.high[rows[at]!] === MISSING) missing[found++] = rows[at]!;
    if (found === 0) return;
    made ??= keeping(node, columns, into, from, until);
    made.take(missing.subarray(0, found));
  };
}

interface Keeping {
  /** Bounds rows, one block at most. */
  take(rows: Int32Array): void;
  /** Returns the interval of all rows bounded so far. */
  range(): Interval | undefined;
}

function keeping(
  node: Node,
  columns: Omit<Columns, 'kept'>,
  { low, high }: Arrays,
  from: Instant,
  until: Instant,
): Keeping {
  const formula = compile(node, columns, { spans: true });
  const rounding = roundingOf(node);
  const least = leastOf(node);
  const block = emptyBlock(from, until);
  let lowest = Infinity;
  let highest = -Infinity;
  let isKnown = true;
  return {
    take(rows) {
      block.count = rows.length;
      block.rows.set(rows);
      const bounds = formula.bounds(block);
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at]!;
        const down = Math.max(least, outward(bounds.low[at]!, -1, rounding));
        const up = outward(bounds.high[at]!, 1, rounding);
        low[row] = down;
        high[row] = up;
        if (down < lowest) lowest = down;
        if (up > highest) highest = up;
        if (Number.isNaN(up)) isKnown = false;
      }
    },
    range: () => (isKnown ? [lowest, highest] : undefined),
  };
}

/** Returns the rows 0 to `count` (exclusive). */
export function firstRows(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** More than the relative rounding error of a 32-bit float. */
const ROUNDING_32 = 1e-7;

/**
 * Returns what no row can be below. A value that is never negative must not be rounded below 0, where powers and paces
 * are undefined. If terms cancel each other out, a value can lie below its range by a rounding error, for which powers
 * have room.
 */
function leastOf(node: Node): number {
  const [low] = rangeOf(node);
  if (low < 0 || cancels(node)) return -Infinity;
  return Math.max(low / 2, outward(low, -1, roundingOf(node)));
}

/**
 * Moves a value so far in `direction` that its 32-bit float lies beyond it, in whatever order the value is added up.
 */
function outward(value: number, direction: 1 | -1, rounding: number): number {
  if (Math.abs(value) > 1e38) return direction * Infinity;
  return value + direction * (Math.abs(value) * ROUNDING_32 + rounding);
}
