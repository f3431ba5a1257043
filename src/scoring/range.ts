import { childrenOf } from './evaluate.ts';
import { invalidProfile } from './faults.ts';
import { type Node, operatorOf } from './operators/index.ts';
import type { Interval, Knowledge } from './operators/interval.ts';
import type { Check, Intervals } from './operators/operator.ts';
import { SIGNALS } from './signals.ts';

/**
 * The lowest and highest value of a formula, given what is known: interval arithmetic node by node. An age that may
 * be unknown and has no default is left out: evaluation reports it.
 */
export function intervalOf(root: Node, knowledge: Knowledge): Interval {
  return intervalsOf(knowledge).of(root);
}

/** The same for many formulas, or for one again when something else is known. */
export function intervalsOf(knowledge: Knowledge): Intervals {
  const intervals: Intervals = {
    of: (node) => knowledge.formula?.(node) ?? operatorOf(node).interval(node, intervals),
    // An age that is unknown below any other operator is an error of evaluation, not a value.
    ageOf: (node) =>
      operatorOf(node).age?.(node, intervals) ?? { interval: intervals.of(node), unknown: 'never' },
    ...knowledge,
  };
  return intervals;
}

/** Everything that a memory may be: each signal anywhere in its range. */
export const anything: Knowledge = {
  signal: (name) => SIGNALS[name].range,
  age: () => ({ interval: [0, Infinity], unknown: 'maybe' }),
  attribute: () => undefined,
  known: () => undefined,
};

/** All values that a formula can take, whatever the memory. */
export function rangeOf(node: Node): Interval {
  let range = ranges.get(node);
  if (!range) {
    range = intervalOf(node, anything);
    ranges.set(node, range);
  }
  return range;
}

/** Formulas do not change, and each compilation asks. */
const ranges = new WeakMap<Node, Interval>();

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
  const check: Check = { range: rangeOf, fault: (path, problem) => invalidProfile(profile, path, problem) };
  for (const formula of formulas) checkOperands(formula, check);
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

function checkOperands(node: Node, check: Check): void {
  operatorOf(node).check?.(node, check);
  for (const child of childrenOf(node)) checkOperands(child, check);
}

function round(value: number): string {
  return String(Math.round(value * 1e6) / 1e6);
}
