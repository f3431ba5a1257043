import { clamp, power } from './arithmetic.ts';
import { decay } from './evaluate.ts';
import { type BoundCondition, type Node, withinBounds } from './node.ts';
import type { AttributeName, SignalName } from './signals.ts';

/** All values from `low` to `high`, both included. */
export type Interval = readonly [low: number, high: number];

/**
 * What is known of a memory when its formula is bounded. Whatever is unknown widens the result: nothing is assumed
 * about how a formula depends on its signals.
 */
export interface Knowledge {
  /** The signal's values, default included, when it is known or defaulted. */
  signal(name: SignalName, missing: number): Interval;
  /** Days, and whether the age may be unknown. */
  age(node: Extract<Node, { op: 'age' }>): {
    readonly interval: Interval;
    readonly unknown: 'never' | 'maybe' | 'always';
  };
  /** The attribute's text; `undefined` when it is not known. */
  attribute(name: AttributeName): string | undefined;
  /** Whether the signal or clock is known; `undefined` when that is not known either. */
  known(name: string): boolean | undefined;
}

/**
 * The lowest and highest value of a formula, given what is known: interval arithmetic node by node. An age that may
 * be unknown and has no default is left out: evaluation reports it.
 */
export function bound(node: Node, knowledge: Knowledge): Interval {
  switch (node.op) {
    case 'constant':
      return [node.value, node.value];
    case 'signal':
      return knowledge.signal(node.name, node.missing);
    case 'age':
      return knowledge.age(node).interval;
    case 'ref':
      return bound(node.of, knowledge);
    case 'sum':
    case 'mean': {
      const terms = node.of.map((each, index) =>
        scale(bound(each, knowledge), node.weights[index] as number),
      );
      const total = terms.reduce<Interval>((sum, term) => [sum[0] + term[0], sum[1] + term[1]], [0, 0]);
      if (node.op === 'sum') return total;
      const weight = node.weights.reduce((sum, each) => sum + each, 0);
      return [total[0] / weight, total[1] / weight];
    }
    case 'product':
      return node.of.map((each) => bound(each, knowledge)).reduce<Interval>(multiply, [1, 1]);
    case 'power':
      return corners(bound(node.base, knowledge), bound(node.exponent, knowledge), powerLimit);
    case 'min':
    case 'max': {
      const inner = node.of.map((each) => bound(each, knowledge));
      const pick = node.op === 'min' ? Math.min : Math.max;
      return [pick(...inner.map(([low]) => low)), pick(...inner.map(([, high]) => high))];
    }
    case 'clamp': {
      const [low, high] = bound(node.of, knowledge);
      return [clamp(low, node.min, node.max), clamp(high, node.min, node.max)];
    }
    case 'capped': {
      const [low, high] = bound(node.of, knowledge);
      return [clamp(low, 0, node.cap) / node.cap, clamp(high, 0, node.cap) / node.cap];
    }
    case 'decay': {
      const age = ageOf(node.age, knowledge);
      const missing: Interval | undefined =
        node.missing === undefined ? undefined : [node.missing, node.missing];
      if (age.unknown === 'always' && missing) return missing;
      const pace = bound(node.pace, knowledge);
      const known = corners(age.interval, pace, (days, each) => decay(node, days, each));
      return age.unknown === 'maybe' && missing ? hull(known, missing) : known;
    }
    case 'table': {
      const text = knowledge.attribute(node.by);
      if (text !== undefined) return bound(node.cases.get(text) ?? node.otherwise, knowledge);
      return [...node.cases.values(), node.otherwise].map((each) => bound(each, knowledge)).reduce(hull);
    }
    case 'when': {
      const holds = conditionKnown(node.condition, knowledge);
      if (holds !== undefined) return bound(holds ? node.then : node.else, knowledge);
      return hull(bound(node.then, knowledge), bound(node.else, knowledge));
    }
  }
}

/** Whether a condition holds; `undefined` when the knowledge does not decide it. */
export function conditionKnown(condition: BoundCondition, knowledge: Knowledge): boolean | undefined {
  switch (condition.test) {
    case 'fixed':
      return condition.holds;
    case 'passed':
      // Ages are never negative, so that they do not tell whether a moment is still to come.
      return knowledge.known(condition.clock) === false ? false : undefined;
    case 'known':
      return knowledge.known(condition.name);
    case 'attribute': {
      const text = knowledge.attribute(condition.attribute);
      return text === undefined ? undefined : condition.values.includes(text);
    }
    case 'signal': {
      const [low, high] = knowledge.signal(condition.signal, condition.missing);
      const { bounds } = condition;
      if (withinBounds(low, bounds) && withinBounds(high, bounds)) return true;
      const below = !withinBounds(high, { ...bounds, below: undefined, atMost: undefined });
      const above = !withinBounds(low, { ...bounds, above: undefined, atLeast: undefined });
      return below || above ? false : undefined;
    }
  }
}

export function hull(a: Interval, b: Interval): Interval {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

function ageOf(node: Node, knowledge: Knowledge): ReturnType<Knowledge['age']> {
  if (node.op === 'age') return knowledge.age(node);
  if (node.op === 'ref') return ageOf(node.of, knowledge);
  if (node.op === 'when') {
    const holds = conditionKnown(node.condition, knowledge);
    if (holds !== undefined) return ageOf(holds ? node.then : node.else, knowledge);
    return eitherAge(ageOf(node.then, knowledge), ageOf(node.else, knowledge));
  }
  if (node.op === 'table') {
    const text = knowledge.attribute(node.by);
    if (text !== undefined) return ageOf(node.cases.get(text) ?? node.otherwise, knowledge);
    return [...node.cases.values(), node.otherwise].map((each) => ageOf(each, knowledge)).reduce(eitherAge);
  }
  // An age that is unknown below any other operator is an error of evaluation, not a value.
  return { interval: bound(node, knowledge), unknown: 'never' };
}

type Age = ReturnType<Knowledge['age']>;

function eitherAge(a: Age, b: Age): Age {
  if (a.unknown === 'always')
    return { interval: b.interval, unknown: b.unknown === 'always' ? 'always' : 'maybe' };
  if (b.unknown === 'always') return { interval: a.interval, unknown: 'maybe' };
  return { interval: hull(a.interval, b.interval), unknown: a.unknown === b.unknown ? a.unknown : 'maybe' };
}

function scale([low, high]: Interval, weight: number): Interval {
  return weight >= 0 ? [times(weight, low), times(weight, high)] : [times(weight, high), times(weight, low)];
}

function multiply(a: Interval, b: Interval): Interval {
  return corners(a, b, times);
}

/** The extremes of a function that is monotone in each of its two arguments. */
function corners(a: Interval, b: Interval, of: (a: number, b: number) => number): Interval {
  const values = [of(a[0], b[0]), of(a[0], b[1]), of(a[1], b[0]), of(a[1], b[1])].map((value) =>
    Number.isNaN(value) ? 0 : value,
  );
  return [Math.min(...values), Math.max(...values)];
}

/** As {@link power}; ∞ stands for "however large", and anything but 0 to the power of 0 is 1. */
function powerLimit(base: number, exponent: number): number {
  return exponent === 0 && base !== 0 ? 1 : power(base, exponent);
}

/** In bounds 0·∞ is 0: the infinity stands for "however large", not for a value. */
function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}
