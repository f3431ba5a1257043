import type { AttributeName, SignalName } from '../signals.ts';
import type { AgeNode } from './age.ts';
import type { Node } from './index.ts';

/** All values from `low` to `high`, both included. */
export type Interval = readonly [low: number, high: number];

/** An age in days that may be unknown. */
export interface Age {
  readonly interval: Interval;
  readonly unknown: 'never' | 'maybe' | 'always';
}

/**
 * What is known of a memory when its formula is bounded. Whatever is unknown widens the result: no assumption is made
 * about how a formula depends on its signals.
 */
export interface Knowledge {
  /** Returns the possible values of a signal; `missing` is its default if unknown. */
  signal(name: SignalName, missing: number): Interval;
  /** Returns the age in days, and whether it may be unknown. */
  age(node: AgeNode): Age;
  /** The attribute's text; `undefined` when it is not known. */
  attribute(name: AttributeName): string | undefined;
  /** Whether the signal or clock is known; `undefined` if even that is uncertain. */
  known(name: string): boolean | undefined;
  /** Returns the interval of a whole formula, if more is known of it than of the signals it reads. */
  formula?(node: Node): Interval | undefined;
}

/** The smallest interval that holds both. */
export function hull(a: Interval, b: Interval): Interval {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

export function eitherAge(a: Age, b: Age): Age {
  if (a.unknown === 'always')
    return { interval: b.interval, unknown: b.unknown === 'always' ? 'always' : 'maybe' };
  if (b.unknown === 'always') return { interval: a.interval, unknown: 'maybe' };
  return { interval: hull(a.interval, b.interval), unknown: a.unknown === b.unknown ? a.unknown : 'maybe' };
}

/** The extremes of a function that is monotone in each of its two arguments. */
export function corners(a: Interval, b: Interval, of: (a: number, b: number) => number): Interval {
  const values = [of(a[0], b[0]), of(a[0], b[1]), of(a[1], b[0]), of(a[1], b[1])].map((value) =>
    Number.isNaN(value) ? 0 : value,
  );
  return [Math.min(...values), Math.max(...values)];
}

/**
 * Returns the interval of all products of a value of each. For non-negative intervals, which most are, only the ends
 * are multiplied.
 */
export function productOf(a: Interval, b: Interval): Interval {
  return a[0] >= 0 && b[0] >= 0 ? [times(a[0], b[0]), times(a[1], b[1])] : corners(a, b, times);
}

/** Multiplies interval ends. 0·∞ is 0, because infinity stands for "however large", not for a value. */
export function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}
