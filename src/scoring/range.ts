import { childrenOf } from './evaluate.ts';
import { invalidProfile } from './faults.ts';
import { type Node, operatorOf } from './operators/index.ts';
import type { Interval, Knowledge } from './operators/interval.ts';
import type { Check, Intervals } from './operators/operator.ts';
import { SIGNALS } from './signals.ts';

/**
 * Returns the lowest and highest value of a formula, given what is known, by interval arithmetic. An age that may be
 * unknown and has no default is ignored: evaluation reports it.
 */
export function intervalOf(root: Node, knowledge: Knowledge): Interval {
  return intervalsOf(knowledge).of(root);
}

/** Creates the intervals for several formulas, or for one formula with changing knowledge. */
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

/** Knows nothing of a memory: each signal may have any value in its range. */
export const anything: Knowledge = {
  signal: (name) => SIGNALS[name].range,
  age: () => ({ interval: [0, Infinity], unknown: 'maybe' }),
  attribute: () => undefined,
  known: () => undefined,
};

/** Returns the interval of all values that a formula can take for any memory. */
export function rangeOf(node: Node): Interval {
  let range = ranges.get(node);
  if (!range) {
    range = intervalOf(node, anything);
    ranges.set(node, range);
  }
  return range;
}

/** Cached because formulas do not change and each compilation asks. */
const ranges = new WeakMap<Node, Interval>();

/** A sum of decimal weights may differ from 1 by a rounding error. A formula that differs by more is wrong. */
const rounding = 1e-9;

/**
 * Checks that a formula stays within [0, 1] and that no operator gets operands it is not defined for. Returns the
 * formula, clamped if only rounding could exceed 1. Throws `invalid_profile`.
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

/** Parts that refer to each other can double the size with every line, and a formula is evaluated for every memory. */
const maximumNodes = 10_000;
/** Deeper formulas would overflow the stack. */
const maximumDepth = 400;

interface Extent {
  readonly nodes: number;
  readonly depth: number;
}

/** Fills `measured` with inner parts first, so that no walk goes deeper than what it refuses. */
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
