import { childrenOf } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import { times } from './operators/interval.ts';
import { rangeOf } from './range.ts';

/**
 * How close a bound and a score may be to count as equal when deciding what to evaluate. Bounds use much the same
 * operations as scores, but `exp` and `log` need not be monotone in their last bit, and sums are added up in another
 * order. If large terms of a formula cancel each other out, {@link slackOf} returns a larger value.
 */
export const SLACK = 1e-9;

/** More than the rounding errors of a formula within [0, 1] add up to; see {@link roundingOf}. */
const ROUNDING_64 = 1e-12;

/** Returns how close a bound and a score may be to count as equal; `Infinity` if bounds tell nothing. */
export function slackOf(root: Node): number {
  return SLACK * Math.max(1, cancellingOf(root).amount);
}

/** Returns more than the rounding errors of a formula add up to. */
export function roundingOf(root: Node): number {
  return ROUNDING_64 * Math.max(1, cancellingOf(root).amount);
}

/** Returns the upper bound up to which a row has no score. */
export function nothingOf(root: Node): number {
  return cancels(root) ? -slackOf(root) : 0;
}

/**
 * Returns a value that no score with this upper bound exceeds: scores are added up in another order, and so rounded
 * differently.
 */
export function certain(bound: number, root: Node): number {
  return bound > nothingOf(root) ? Math.max(0, bound + roundingOf(root)) : 0;
}

/**
 * Whether terms of a formula may cancel each other out to nearly 0. The value may then be 0 in one order of addition
 * and slightly more in another.
 */
export function cancels(node: Node): boolean {
  return cancellingOf(node).toNothing;
}

/** How much the terms of a formula, at any depth, may cancel each other out. */
interface Cancelling {
  /**
   * How much is added and subtracted again, as it counts in the value. Rounding errors are a share of this, not of the
   * value.
   */
  readonly amount: number;
  /** Whether nearly nothing may be left of them. */
  readonly toNothing: boolean;
}

function cancellingOf(node: Node): Cancelling {
  let found = known.get(node);
  if (!found) {
    const own = isComputedAlike(node) ? 0 : cancelledIn(node);
    const amount = own + inherited(node);
    const isSigned = own > 0 && rangeOf(node)[0] <= SLACK * Math.max(1, amount);
    found = { amount, toNothing: isSigned || childrenOf(node).some(cancels) };
    known.set(node, found);
  }
  return found;
}

/** Cached because formulas do not change and each search asks. */
const known = new WeakMap<Node, Cancelling>();

/** Returns how much the terms of a sum itself may cancel out: at most what is added, and at most what is subtracted. */
function cancelledIn(node: Node): number {
  if (node.op !== 'sum' && node.op !== 'mean') return 0;
  let [added, taken] = [0, 0];
  sharesOf(node).forEach((share, at) => {
    const range = rangeOf(node.of[at]!);
    const ends = range.map((end) => share * reach(end));
    added += Math.max(0, ...ends);
    taken -= Math.min(0, ...ends);
  });
  return Math.min(added, taken);
}

/** Returns what the amounts of a node's children come to in its value. */
function inherited(node: Node): number {
  const inner = childrenOf(node).map((child) => cancellingOf(child).amount);
  const most = Math.max(0, ...inner);
  if (most === 0) return 0;
  switch (node.op) {
    case 'sum':
    case 'mean': {
      const shares = sharesOf(node);
      return inner.reduce((sum, amount, at) => sum + times(Math.abs(shares[at]!), amount), 0);
    }
    case 'product': {
      const highest = node.of.map((each) => Math.max(...rangeOf(each).map((end) => Math.abs(reach(end)))));
      const others = (at: number) =>
        highest.reduce((all, each, other) => (other === at ? all : all * each), 1);
      return inner.reduce((sum, amount, at) => sum + times(amount, others(at)), 0);
    }
    case 'capped':
      return most / node.cap;
    case 'decay': {
      const [low, high] = rangeOf(node.pace);
      // The faster it decays, the more a rounding error of the age matters.
      const steepness = node.per === 'rate' ? high : 1 / low;
      return most * Math.max(1, steepness) > MODERATE ? Infinity : most;
    }
    case 'power':
      // A power is not nearly linear, so the effect of a large rounding error cannot be told.
      return most * Math.max(1, rangeOf(node.exponent)[1]) > MODERATE ? Infinity : most;
    default:
      return most;
  }
}

/** Up to this amount, the bounds of a power or a decay have room for the rounding error. */
const MODERATE = 1000;

/** Returns the factor of each term of a sum or a mean. */
function sharesOf({ op, weights }: Extract<Node, { op: 'sum' | 'mean' }>): readonly number[] {
  if (op === 'sum') return weights;
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / whole);
}

/** Treats an unlimited count or age as 1: the slack is wide enough for the values that memories have. */
function reach(end: number): number {
  return Number.isFinite(end) ? end : Math.sign(end);
}

/** Whether bounds and scores compute a node alike. With two terms or factors, their order does not matter. */
function isComputedAlike(node: Node): boolean {
  let is = alike.get(node);
  if (is === undefined) {
    const isOrdered =
      node.op === 'mean' || ((node.op === 'sum' || node.op === 'product') && node.of.length > 2);
    is = !isOrdered && childrenOf(node).every(isComputedAlike);
    alike.set(node, is);
  }
  return is;
}

const alike = new WeakMap<Node, boolean>();
