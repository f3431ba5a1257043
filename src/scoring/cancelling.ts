import { childrenOf } from './evaluate.ts';
import type { Node } from './operators/index.ts';
import { times } from './operators/interval.ts';
import { rangeOf } from './range.ts';

/**
 * Bounds are computed with much the same operations as scores, but `exp` and `log` need not be monotone in their last
 * bit, nor are sums added up in the same order: everything closer than this counts as equal when deciding what to
 * evaluate. Of a formula whose large terms cancel each other out, {@link slackOf} tells how close that is.
 */
export const SLACK = 1e-9;

/** More than the roundings of a formula within 0 and 1 add up to, see {@link roundingOf}. */
const ROUNDING_64 = 1e-12;

/** How close a bound and a score may be to count as equal. Infinite where bounds tell nothing. */
export function slackOf(root: Node): number {
  return SLACK * Math.max(1, cancellingOf(root).amount);
}

/** More than the roundings of a formula add up to. */
export function roundingOf(root: Node): number {
  return ROUNDING_64 * Math.max(1, cancellingOf(root).amount);
}

/** A score whose upper bound is this or less is none. */
export function nothingOf(root: Node): number {
  return cancels(root) ? -slackOf(root) : 0;
}

/** At least as high as any score whose upper bound this is: a score is added up in another order, and rounded otherwise. */
export function certain(bound: number, root: Node): number {
  return bound > nothingOf(root) ? Math.max(0, bound + roundingOf(root)) : 0;
}

/**
 * Whether terms of a formula may cancel each other out: then it can be 0 by the rounding of one order of adding up, and a
 * little more by that of another.
 */
export function cancels(node: Node): boolean {
  return cancellingOf(node).toNothing;
}

/** How terms of a formula, at any depth, may cancel each other out. */
interface Cancelling {
  /** What is added and taken away again, as far as it counts in the value: the rounding is a share of it, not of the value. */
  readonly amount: number;
  /** Nearly nothing may be left of them. */
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

/** Formulas do not change, and each search asks. */
const known = new WeakMap<Node, Cancelling>();

/** How much the terms of a sum itself may cancel out: no more than what is added, nor than what is taken away. */
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

/** What the amounts of its children come to in its value. */
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
      // The faster it decays, the more a rounding of the age comes to.
      const steepness = node.per === 'rate' ? high : 1 / low;
      return most * Math.max(1, steepness) > MODERATE ? Infinity : most;
    }
    case 'power':
      // It is not nearly straight either: what a large rounding comes to cannot be told.
      return most * Math.max(1, rangeOf(node.exponent)[1]) > MODERATE ? Infinity : most;
    default:
      return most;
  }
}

/** Amounts up to this leave roundings that bounds of a power or a decay have room for. */
const MODERATE = 1000;

/** By what each term of a sum or a mean is multiplied. */
function sharesOf({ op, weights }: Extract<Node, { op: 'sum' | 'mean' }>): readonly number[] {
  if (op === 'sum') return weights;
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / whole);
}

/** A count or an age without a limit: the slack is wide enough for those that memories have. */
function reach(end: number): number {
  return Number.isFinite(end) ? end : Math.sign(end);
}

/** Whether bounds and scores make the same of the same numbers: two are added up and multiplied alike in either order. */
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
