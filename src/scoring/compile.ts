import { compileCondition, type ResolvedCondition } from './condition.ts';
import { type Node, operatorOf } from './operators/index.ts';
import { BLOCK_SIZE, type Block, type Columns, type Lane } from './operators/lanes.ts';
import type { Compilation } from './operators/operator.ts';
import { rangeOf } from './range.ts';

export { BLOCK_SIZE, type Block, type Columns } from './operators/lanes.ts';

/** A formula made ready to bound many memories at once: interval arithmetic over columns, a loop for each node. */
export interface CompiledFormula {
  /**
   * Bounds the score of every row of the block, up to the rounding of `exp` and `log`. The result is overwritten by
   * the next call. A row whose formula cannot be evaluated (an unknown age) has NaN.
   */
  bounds(block: Block): Lane;
}

export function compile(root: Node, columns: Columns): CompiledFormula {
  const { bounds } = compileAll([root], columns);
  return { bounds: (block) => bounds(block)[0]! };
}

/** The same for several formulas at once: what they have in common is computed once for each block. */
export function compileAll(
  roots: readonly Node[],
  columns: Columns,
): { bounds(block: Block): readonly Lane[] } {
  const lanes = new Map<Node, Lane>();
  const compilation: Compilation = {
    columns,
    steps: [],
    of(node) {
      const known = lanes.get(node);
      if (known) return known;
      const lane = operatorOf(node).compile(node, compilation);
      lanes.set(node, lane);
      return lane;
    },
    range: rangeOf,
  };
  const found = roots.map((root) => compilation.of(root));
  const { steps } = compilation;
  return {
    bounds(block) {
      for (const step of steps) step(block);
      return found;
    },
  };
}

/**
 * Bounds are computed with the same operations as scores, but `exp` and `log` need not be monotone in their last
 * bit: everything closer than this counts as equal when deciding what to evaluate.
 */
export const SLACK = 1e-9;

/** Whether a value with these bounds is at least so much: 0 no, 1 yes, 2 undecided, as it is for a value that is unknown. */
export function reaches(low: number, high: number, atLeast: number): 0 | 1 | 2 {
  if (low - SLACK >= atLeast) return 1;
  return high + SLACK < atLeast ? 0 : 2;
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
