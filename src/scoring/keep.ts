import type { Instant } from '../domain/time.ts';
import { cancels, roundingOf } from './cancelling.ts';
import { BLOCK_SIZE, type Columns, compile, emptyBlock, type KeptColumn } from './compile.ts';
import { namesRead } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import type { Interval } from './operators/interval.ts';
import { rangeOf } from './range.ts';
import { isClockName } from './signals.ts';

/** Rows whose bounds tell how wide those of all are. */
const SAMPLE = 256;
/** How far bounds may lie apart, as a share of the largest of them. */
const WIDEST = 1 / 64;

/** The longest of some spans, ascending, in which the bounds of a sample of the rows stay narrow; else the first one. */
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
 * Bounds of a formula that reads nothing of a query, for rows 0 to `size`, that hold from one moment to another. In steps of
 * one block each: between two of them nothing that it reads may change.
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
 * Writes into what is kept of a formula what it is for some rows, in the same steps; returns between which values these lie,
 * `undefined` where it cannot be evaluated for one.
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
 * The same, of each row when it is first asked for: most recalls ask for few. `undefined` where that the formula can be evaluated for
 * every row is not known beforehand.
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

/** In the place of the upper bound of a row that was not worked out: no bound is this low. */
const MISSING = -Infinity;

/** Works out rows of which nothing is known yet. */
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
  /** A block at most. */
  take(rows: Int32Array): void;
  /** Of all that was taken. */
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

/** Rows 0 to `count`. */
export function firstRows(count: number): Int32Array {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

/** More than the rounding of a 32-bit float, relative to its value. */
const ROUNDING_32 = 1e-7;

/**
 * What no row can be below. Below 0 there is no power, and no pace: what can only be more must not be moved there. Where terms cancel each other
 * out, a value can be below the range by a rounding, and a power has room for that.
 */
function leastOf(node: Node): number {
  const [low] = rangeOf(node);
  if (low < 0 || cancels(node)) return -Infinity;
  return Math.max(low / 2, outward(low, -1, roundingOf(node)));
}

/** A value moved so far in a direction that its 32-bit float still lies beyond it, whatever order it is added up in. */
function outward(value: number, direction: 1 | -1, rounding: number): number {
  if (Math.abs(value) > 1e38) return direction * Infinity;
  return value + direction * (Math.abs(value) * ROUNDING_32 + rounding);
}
