import { bound, type Interval, type Knowledge } from './bound.ts';
import { childrenOf } from './evaluate.ts';
import { invalidProfile } from './faults.ts';
import type { Node } from './node.ts';
import { SIGNALS } from './signals.ts';

/** Everything that a memory may be: each signal anywhere in its range. */
const anything: Knowledge = {
  signal: (name) => SIGNALS[name].range,
  age: () => ({ interval: [0, Infinity], unknown: 'maybe' }),
  attribute: () => undefined,
  known: () => undefined,
};

/** All values that a formula can take, whatever the memory. */
export function rangeOf(node: Node): Interval {
  return bound(node, anything);
}

/** Sums of decimal weights may miss 1 by a rounding; a formula that is off by more is wrong. */
const rounding = 1e-9;

/**
 * Checks that a formula stays within [0, 1] and that none of its operators can leave the numbers; gives it back,
 * clamped where only rounding could exceed 1. Throws `invalid_profile`.
 */
export function checkScoreRange(root: Node, parts: { readonly [name: string]: Node }, profile: string): Node {
  const formulas = [...Object.values(parts), root];
  const measured = new Map<Node, Extent>();
  for (const formula of formulas) checkExtent(formula, measured, profile);
  for (const formula of formulas) checkOperands(formula, profile);
  const [low, high] = rangeOf(root);
  if (low < -rounding || high > 1 + rounding || Number.isNaN(low + high)) {
    throw invalidProfile(
      profile,
      root.path,
      `the score can lie anywhere from ${round(low)} to ${round(high)}, and must stay within 0 and 1: adjust its weights (those of a sum usually add up to 1) or put it into a clamp`,
    );
  }
  return low < 0 || high > 1 ? { op: 'clamp', min: 0, max: 1, of: root, path: root.path } : root;
}

/** Parts that refer to each other can double with every line; a formula is evaluated once for every memory. */
const maximumNodes = 10_000;
/** Deeper formulas would exhaust the stack of the walks over them. */
const maximumDepth = 400;

interface Extent {
  readonly nodes: number;
  readonly depth: number;
}

/** `measured` is filled with inner parts first, so that no walk goes deeper than what it refuses. */
function checkExtent(root: Node, measured: Map<Node, Extent>, profile: string): void {
  const measure = (node: Node): Extent => {
    const known = measured.get(node);
    if (known) return known;
    let nodes = 1;
    let depth = 0;
    for (const child of childrenOf(node)) {
      const inner = measure(child);
      nodes += inner.nodes;
      depth = Math.max(depth, inner.depth);
    }
    measured.set(node, { nodes, depth: depth + 1 });
    return { nodes, depth: depth + 1 };
  };
  const { nodes, depth } = measure(root);
  if (nodes <= maximumNodes && depth <= maximumDepth) return;
  throw invalidProfile(
    profile,
    root.path,
    `with its parts written out it has ${nodes} operators, ${depth} deep, and may have ${maximumNodes}, ${maximumDepth} deep: refer to fewer parts`,
  );
}

/**
 * Weights that miss their total by more than rounding are a slip of the pen: every score would be too low, and none out
 * of range. Parts of one thing are from 0 to below 1 each; where one is 1 or negative, something is added or taken away.
 */
function checkTotal(node: Extract<Node, { op: 'sum' }>, profile: string): void {
  const sum = node.weights.reduce((total, weight) => total + weight, 0);
  if (node.total !== undefined) {
    if (Math.abs(sum - node.total) <= rounding) return;
    throw invalidProfile(
      profile,
      `${node.path}.total`,
      `it is ${node.total}, and the weights sum to ${round(sum)}: correct the weights or the total`,
    );
  }
  if (Math.abs(sum - 1) <= rounding || node.weights.length < 2) return;
  if (node.weights.some((weight) => weight < 0 || weight >= 1)) return;
  const areShares = node.of.every((term) => {
    const [low, high] = rangeOf(term);
    return low >= 0 && high <= 1;
  });
  if (!areShares) return;
  throw invalidProfile(
    profile,
    node.path,
    `the weights sum to ${round(sum)}, not to 1: correct them, write "total": ${round(sum)} if that is meant, or use "mean", which divides by the sum`,
  );
}

function checkOperands(node: Node, profile: string): void {
  if (node.op === 'sum') checkTotal(node, profile);
  if (node.op === 'power') {
    const [base] = rangeOf(node.base);
    const [exponent] = rangeOf(node.exponent);
    if (base < 0)
      throw invalidProfile(profile, `${node.path}.base`, `it can be ${round(base)}, and must not be below 0`);
    if (exponent < 0) {
      throw invalidProfile(
        profile,
        `${node.path}.exponent`,
        `it can be ${round(exponent)}, and must not be below 0`,
      );
    }
  }
  if (node.op === 'decay') {
    const [pace] = rangeOf(node.pace);
    if (node.per === 'rate' ? pace < 0 : pace <= 0) {
      throw invalidProfile(
        profile,
        `${node.path}.${node.per}`,
        `it can be ${round(pace)}, and must be above 0`,
      );
    }
    const [age] = rangeOf(node.age);
    if (age < 0)
      throw invalidProfile(profile, `${node.path}.age`, `it can be ${round(age)}, and must not be below 0`);
  }
  for (const child of childrenOf(node)) checkOperands(child, profile);
}

function round(value: number): string {
  return String(Math.round(value * 1e6) / 1e6);
}
