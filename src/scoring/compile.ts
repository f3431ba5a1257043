import type { Instant } from '../domain/time.ts';
import { compileCondition, type ResolvedCondition } from './condition.ts';
import { childrenOf, namesRead } from './evaluate.ts';
import { type Node, operatorOf } from './operators/index.ts';
import type { Interval } from './operators/interval.ts';
import {
  BLOCK_SIZE,
  type Block,
  type Columns,
  emptyBlock,
  type Facts,
  type KeptColumn,
  type Lane,
  laneOf,
  type Rooms,
  type Sides,
} from './operators/lanes.ts';
import type { Compilation } from './operators/operator.ts';
import { rangeOf } from './range.ts';
import { isQuerySignal, isSignalName } from './signals.ts';

export {
  BLOCK_SIZE,
  type Block,
  type Columns,
  createRooms,
  emptyBlock,
  type Facts,
  type KeptColumn,
  type MutableBlock,
  type Sides,
  valueAt,
} from './operators/lanes.ts';

/** A formula made ready to bound many memories at once: interval arithmetic over columns, a loop for each node. */
export interface CompiledFormula {
  /**
   * Bounds the score of every row of the block, up to the rounding of `exp` and `log`. The result is overwritten by
   * the next call. A row whose formula cannot be evaluated (an unknown age) has NaN.
   */
  bounds(block: Block): Sides;
}

/** Of a query about which nothing is known beforehand. */
const NO_FACTS: Facts = { known: () => undefined };

/** How formulas are compiled. */
interface CompileOptions {
  /** What is folded. Default is nothing. */
  readonly facts?: Facts;
  /** `high`: the upper side alone, which stands for both. Default is `both`. */
  readonly wanted?: 'high' | 'both';
  /** Blocks hold for a span of time. Default is no. */
  readonly spans?: boolean;
  /** Where lanes get their arrays. Default is new ones. */
  readonly rooms?: Pick<Rooms, 'next'>;
}

const NEW_ROOMS: Pick<Rooms, 'next'> = { next: () => new Float64Array(BLOCK_SIZE) };

/** What the facts say of the query is folded, and what `columns` keep is only read: the rest is a loop for each node. */
export function compile(root: Node, columns: Columns, options?: CompileOptions): CompiledFormula {
  const { bounds } = compileAll([root], columns, options);
  return { bounds: (block) => bounds(block)[0]! };
}

/** The same for several formulas at once: what they have in common is computed once for each block. */
export function compileAll(
  roots: readonly Node[],
  columns: Columns,
  { facts = NO_FACTS, wanted = 'both', spans = false, rooms = NEW_ROOMS }: CompileOptions = {},
): { bounds(block: Block): readonly Sides[] } {
  const lanes = new Map<Node, Lane>();
  const compilation: Compilation = {
    columns,
    steps: [],
    rooms,
    spans,
    of(node) {
      const known = lanes.get(node);
      if (known) return known;
      const kept = isKept(node) ? columns.kept?.(node) : undefined;
      const lane = kept ? loadKept(kept, compilation) : operatorOf(node).compile(node, compilation);
      lanes.set(node, lane);
      return lane;
    },
    range: rangeOf,
    cancels,
    facts,
  };
  const bounds = roots.map((root): Sides => {
    const lane = compilation.of(root);
    const { high } = lane;
    return { low: wanted === 'both' ? lane.low : high, high };
  });
  const { steps } = compilation;
  return {
    bounds(block) {
      for (const step of steps) step(block);
      return bounds;
    },
  };
}

/**
 * Bounds are computed with much the same operations as scores, but `exp` and `log` need not be monotone in their last
 * bit, nor are sums added up in the same order: everything closer than this counts as equal when deciding what to
 * evaluate.
 */
export const SLACK = 1e-9;

/** At least as high as any score whose upper bound this is: a score is added up in another order, and rounded otherwise. */
export function certain(bound: number): number {
  return bound > 0 ? bound + ROUNDING_64 : bound;
}

/**
 * Whether terms of a formula may cancel each other out: then it can be 0 by the rounding of one order of adding up, and a
 * little more by that of another.
 */
export function cancels(node: Node): boolean {
  let found = cancelling.get(node);
  if (found === undefined) {
    const isSigned =
      node.op === 'sum' &&
      // Two are added up alike in either order.
      node.of.length > 2 &&
      node.of.some((each, at) => node.weights[at]! < 0 || rangeOf(each)[0] < 0) &&
      rangeOf(node)[0] <= SLACK;
    found = isSigned || childrenOf(node).some(cancels);
    cancelling.set(node, found);
  }
  return found;
}

const cancelling = new WeakMap<Node, boolean>();

/** More than the roundings of a formula within 0 and 1 add up to. */
const ROUNDING_64 = 1e-12;

/** Whether a value with these bounds is at least so much: 0 no, 1 yes, 2 undecided, as it is for a value that is unknown. */
export function reaches(low: number, high: number, atLeast: number): 0 | 1 | 2 {
  if (low - SLACK >= atLeast) return 1;
  return high + SLACK < atLeast ? 0 : 2;
}

/** Whether a formula is the same for every query, and dearer than reading a column. */
export function isKept(node: Node): boolean {
  let is = keptNodes.get(node);
  if (is === undefined) {
    const names = [...namesRead(node)];
    const readsQuery = names.some((name) => isSignalName(name) && isQuerySignal(name));
    is = names.length > 0 && !readsQuery && operatorOf(node).children(node).length > 0 && node.op !== 'ref';
    keptNodes.set(node, is);
  }
  return is;
}

const keptNodes = new WeakMap<Node, boolean>();

function loadKept({ low, high }: KeptColumn, compilation: Compilation): Lane {
  const kept = { low, high };
  return laneOf(compilation, true, (side, out) => {
    const values = kept[side];
    return ({ rows, count }) => {
      for (let at = 0; at < count; at++) out[at] = values[rows[at]!]!;
    };
  });
}

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
  const kept = { low: new Float32Array(size), high: new Float32Array(size), range: undefined };
  const rows = new Int32Array(size);
  for (let row = 0; row < size; row++) rows[row] = row;
  const range = yield* keepRows(node, columns, rows, kept, from, until);
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
  into: Omit<KeptColumn, 'range'>,
  from: Instant,
  until: Instant,
): Generator<undefined, Interval | undefined> {
  const formula = compile(node, columns, { spans: true });
  let lowest = Infinity;
  let highest = -Infinity;
  let isKnown = true;
  const block = emptyBlock(from, until);
  for (let start = 0; start < rows.length; start += BLOCK_SIZE) {
    block.count = Math.min(BLOCK_SIZE, rows.length - start);
    block.rows.set(rows.subarray(start, start + block.count));
    const { low, high } = formula.bounds(block);
    for (let at = 0; at < block.count; at++) {
      const row = rows[start + at]!;
      const down = outward(low[at]!, -1);
      const up = outward(high[at]!, 1);
      into.low[row] = down;
      into.high[row] = up;
      if (down < lowest) lowest = down;
      if (up > highest) highest = up;
      if (Number.isNaN(up)) isKnown = false;
    }
    yield;
  }
  return isKnown ? [lowest, highest] : undefined;
}

/** More than the rounding of a 32-bit float, relative to its value. */
const ROUNDING_32 = 1e-7;

/** A value moved so far in a direction that its 32-bit float still lies beyond it, whatever order it is added up in. */
function outward(value: number, direction: 1 | -1): number {
  if (Math.abs(value) > 1e38) return direction * Infinity;
  return value + direction * (Math.abs(value) * ROUNDING_32 + ROUNDING_64);
}

/** For each row of the block, whether all conditions hold: 0 no, 1 yes, 2 undecided. */
export function compileConditions(
  conditions: readonly ResolvedCondition[],
  columns: Columns,
): (block: Block) => Uint8Array {
  const compiled = conditions.map((condition) => compileCondition(condition, columns));
  const verdict = new Uint8Array(BLOCK_SIZE);
  return (block) => {
    verdict.fill(1);
    for (const condition of compiled) {
      const each = condition(block);
      for (let at = 0; at < block.count; at++) {
        if (each[at] === 0 || verdict[at] === 0) verdict[at] = 0;
        else if (each[at] === 2) verdict[at] = 2;
      }
    }
    return verdict;
  };
}
