import { cancels, SLACK } from './cancelling.ts';
import { compileCondition, type ResolvedCondition } from './condition.ts';
import { namesRead } from './evaluate.ts';
import { type Node, operatorOf } from './operators/index.ts';
import {
  BLOCK_SIZE,
  type Block,
  type Columns,
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

/** A formula compiled to bound many memories at once: interval arithmetic over columns, one loop for each node. */
export interface CompiledFormula {
  /**
   * Bounds the score of every row of the block, up to the rounding of `exp` and `log`. The result is overwritten by
   * the next call. A row whose formula cannot be evaluated (an unknown age) has NaN.
   */
  bounds(block: Block): Sides;
}

/** The facts of a query about which nothing is known beforehand. */
const NO_FACTS: Facts = { known: () => undefined };

/** How formulas are compiled. */
interface CompileOptions {
  /** Facts to fold into the formula. Default is none. */
  readonly facts?: Facts;
  /** `high`: only the upper side is computed, and returned as both. Default is `both`. */
  readonly wanted?: 'high' | 'both';
  /** Whether blocks cover a span of time. Default is false. */
  readonly spans?: boolean;
  /** Where lanes get their arrays. Default is a new array each. */
  readonly rooms?: Pick<Rooms, 'next'>;
}

const NEW_ROOMS: Pick<Rooms, 'next'> = { next: () => new Float64Array(BLOCK_SIZE) };

/**
 * Compiles a formula. Facts are folded, parts that `columns` keep are only read, and every other node becomes a loop.
 */
export function compile(root: Node, columns: Columns, options?: CompileOptions): CompiledFormula {
  const { bounds } = compileAll([root], columns, options);
  return { bounds: (block) => bounds(block)[0]! };
}

/** Compiles several formulas at once. What they have in common is computed once for each block. */
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
 * Whether a value with these bounds is at least `atLeast`: 0 no, 1 yes, 2 undecided. An unknown value (NaN) is
 * undecided.
 */
export function reaches(low: number, high: number, atLeast: number, slack = SLACK): 0 | 1 | 2 {
  if (low - slack >= atLeast) return 1;
  return high + slack < atLeast ? 0 : 2;
}

/** Whether a part is the same for every query, and costs more to compute than to read from a column. */
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

function loadKept({ low, high, workOut }: KeptColumn, compilation: Compilation): Lane {
  const kept = { low, high };
  if (workOut) compilation.steps.push(({ rows, count }) => workOut(rows, count));
  return laneOf(compilation, true, (side, out) => {
    const values = kept[side];
    return ({ rows, count }) => {
      for (let at = 0; at < count; at++) out[at] = values[rows[at]!]!;
    };
  });
}

/** Returns a function that tests for each row of a block whether all conditions hold: 0 no, 1 yes, 2 undecided. */
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
