import { power as raise } from '../arithmetic.ts';
import type { Expression, Node } from './index.ts';
import { corners } from './interval.ts';
import { pairLane, widened } from './lanes.ts';
import type { Operator } from './operator.ts';

/** base^exponent = e^(exponent·log base), base ≥ 0; 0 to any power is 0. */
export interface PowerExpression {
  readonly op: 'power';
  readonly base: Expression;
  readonly exponent: Expression;
}

export interface PowerNode {
  readonly op: 'power';
  readonly path: string;
  readonly base: Node;
  readonly exponent: Node;
}

export const power: Operator<PowerExpression, PowerNode, object> = {
  name: 'power',
  keys: { base: 'formula', exponent: 'formula' },
  resolve: ({ base, exponent }, path, resolver) => ({
    op: 'power',
    base: resolver.formula(base, `${path}.base`),
    exponent: resolver.formula(exponent, `${path}.exponent`),
    path,
  }),
  formula: ({ base, exponent }, text) => `${text.tight(base)}^${text.tight(exponent)}`,
  isLoose: () => true,
  children: ({ base, exponent }) => [base, exponent],
  check(node, { range, fault }) {
    for (const operand of ['base', 'exponent'] as const) {
      const [low] = range(node[operand]);
      if (low < 0)
        throw fault(
          `${node.path}.${operand}`,
          `it can be ${Math.round(low * 1e6) / 1e6}, and must not be below 0`,
        );
    }
  },
  evaluate: (node, walk) => walk.combine(node, [walk.of(node.base), walk.of(node.exponent)]),
  combine: (_, [base = 0, exponent = 0]) => raise(base, exponent),
  takes: (inputs) => inputs === 2,
  detail: () => ({}),
  interval({ base, exponent }, intervals) {
    const [low, high] = intervals.of(base);
    const exponents = intervals.of(exponent);
    const isBetween = low < LEAST_BASE && low < high && exponents[0] < LEAST_EXPONENT;
    return corners(isBetween ? [0, Math.max(high, LEAST_BASE)] : [low, high], exponents, powerLimit);
  },
  compile({ base, exponent }, compilation) {
    const lane = compilation.of(base);
    const isSteep = base.op !== 'signal' && compilation.range(exponent)[0] < LEAST_EXPONENT;
    const by = compilation.cancels(base) ? ROUNDING : isSteep ? LEAST_BASE : 0;
    const known = by > 0 ? widened(compilation, lane, by) : lane;
    return pairLane(compilation, known, compilation.of(exponent), raise);
  },
  label: ({ inputs }, nameOf) => inputs.map(nameOf).join('^'),
  line: ({ inputs }) => ({
    words: 'power',
    branches: inputs.map((tree, index) => ({ tree, role: ['base', 'exponent'][index] })),
  }),
};

/**
 * If the base may be 0, a tiny error of the base can change the power by up to 1. `cancelling.ts` limits that error to
 * less than this.
 */
const ROUNDING = 1e-9;

/**
 * A product of small numbers may be 0 in one order of operations and 5e-324 in another. Raised to an exponent below
 * this, such a base gives more than a rounding error: 5e-324^0.02 is 3e-7.
 */
const LEAST_EXPONENT = 0.05;
/** A smaller base may be 0 instead. */
const LEAST_BASE = 1e-300;

/** Like {@link raise}, but ∞ stands for "however large", and anything but 0 to the power of 0 is 1. */
function powerLimit(base: number, exponent: number): number {
  return exponent === 0 && base !== 0 ? 1 : raise(base, exponent);
}
