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
export function checkScoreRange(root: Node, profile: string): Node {
  checkOperands(root, profile);
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

function checkOperands(node: Node, profile: string): void {
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
