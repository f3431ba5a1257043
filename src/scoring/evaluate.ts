import { SalienceError } from '../model/errors.ts';
import type { ClockName } from '../model/fields.ts';
import { ageInDays, type Instant } from '../model/time.ts';
import { cappedLinear, clamp, exponentialDecay, halfLifeOfRate, power, powerDecay } from './arithmetic.ts';
import { type BoundCondition, type DecayNode, type Node, withinBounds } from './node.ts';
import { attributeText, isClockName, type Signals } from './signals.ts';

/**
 * What a walk makes of each node: the value alone, or a tree that shows it. Both come from the one walk below,
 * so a score and its explanation cannot differ.
 */
export interface Recorder<Result> {
  value(result: Result): number;
  record(node: Node, value: number, inputs: readonly Result[], facts: Facts): Result;
}

/** What a node found out on the way to its value. */
export interface Facts {
  /** The value is a default: the signal or the age is unknown. */
  readonly defaulted?: boolean;
  /** The case that a table took; `undefined` for its `otherwise`. */
  readonly key?: string | undefined;
  /** The attribute's text that a table looked up. */
  readonly text?: string;
  /** Whether the condition of a choice held. */
  readonly held?: boolean;
  /** The instant that an age counts from. */
  readonly at?: Instant | undefined;
}

const nothing: Facts = {};

/** Evaluates a formula bottom-up in a fixed order. Throws `missing_signal` or `non_finite_score`. */
export function walk<Result>(node: Node, signals: Signals, now: Instant, recorder: Recorder<Result>): Result {
  const visit = (inner: Node): Result => walk(inner, signals, now, recorder);
  switch (node.op) {
    case 'constant':
      return recorder.record(node, node.value, [], nothing);
    case 'signal': {
      const known = signals[node.name];
      return recorder.record(
        node,
        known ?? node.missing,
        [],
        known === undefined ? { defaulted: true } : nothing,
      );
    }
    case 'age': {
      const at = clockOf(node, signals);
      return recorder.record(node, at === undefined ? Number.NaN : ageInDays(at, now), [], { at });
    }
    case 'decay': {
      const age = visit(node.age);
      if (Number.isNaN(recorder.value(age))) {
        if (node.missing === undefined) throw unknownAge(node.age);
        return recorder.record(node, node.missing, [], { defaulted: true });
      }
      return combined(node, [age, visit(node.pace)], nothing, recorder);
    }
    case 'table': {
      const text = attributeText(signals, node.by);
      const chosen = node.cases.get(text);
      const facts = { key: chosen ? text : undefined, text };
      return combined(node, [visit(chosen ?? node.otherwise)], facts, recorder);
    }
    case 'when': {
      const held = conditionHolds(node.condition, signals, now);
      return combined(node, [visit(held ? node.then : node.else)], { held }, recorder);
    }
    case 'power':
      return combined(node, [visit(node.base), visit(node.exponent)], nothing, recorder);
    case 'ref':
    case 'clamp':
    case 'capped':
      return combined(node, [visit(node.of)], nothing, recorder);
    case 'sum':
    case 'mean':
    case 'product':
    case 'min':
    case 'max':
      return combined(node, node.of.map(visit), nothing, recorder);
  }
}

/** What {@link combine} needs of an inner node; an explanation carries the same data, so that it can be verified. */
export type Step =
  | { readonly op: 'ref' | 'table' | 'when' | 'product' | 'power' | 'min' | 'max' }
  | { readonly op: 'sum' | 'mean'; readonly weights: readonly number[] }
  | { readonly op: 'clamp'; readonly min: number; readonly max: number }
  | { readonly op: 'capped'; readonly cap: number }
  | Pick<DecayNode, 'op' | 'curve' | 'per' | 'exponent'>;

/** The value of an inner node from those of its inputs: the one place where a formula's arithmetic happens. */
export function combine(step: Step, inputs: readonly number[]): number {
  const [first = 0, second = 0] = inputs;
  switch (step.op) {
    case 'ref':
    case 'table':
    case 'when':
      return first;
    case 'sum':
    case 'mean': {
      let total = 0;
      let weight = 0;
      for (let index = 0; index < inputs.length; index++) {
        total += (step.weights[index] as number) * (inputs[index] as number);
        weight += step.weights[index] as number;
      }
      return step.op === 'sum' ? total : total / weight;
    }
    case 'product': {
      let total = 1;
      for (const input of inputs) total *= input;
      return total;
    }
    case 'power':
      return power(first, second);
    case 'min':
      return Math.min(...inputs);
    case 'max':
      return Math.max(...inputs);
    case 'clamp':
      return clamp(first, step.min, step.max);
    case 'capped':
      return cappedLinear(first, step.cap);
    case 'decay':
      return decay(step, first, second);
  }
}

/** The value of a decay at `age` days, its pace given as half-life, rate or scale. */
export function decay(
  step: Pick<DecayNode, 'curve' | 'per' | 'exponent'>,
  age: number,
  pace: number,
): number {
  if (step.curve === 'power') return powerDecay(age, pace, step.exponent);
  switch (step.per) {
    case 'halfLife':
      return exponentialDecay(age, pace);
    case 'rate':
      // A rate of 0 has an infinite half-life: no decay.
      return exponentialDecay(age, halfLifeOfRate(pace));
    case 'scale':
      return exponentialDecay(age, pace * Math.LN2);
  }
}

export function conditionHolds(condition: BoundCondition, signals: Signals, now: Instant): boolean {
  switch (condition.test) {
    case 'fixed':
      return condition.holds;
    case 'known':
      return signals[condition.name] !== undefined;
    case 'passed': {
      const at = signals[condition.clock];
      return at !== undefined && at <= now;
    }
    case 'attribute':
      return condition.values.includes(attributeText(signals, condition.attribute));
    case 'signal':
      return withinBounds(signals[condition.signal] ?? condition.missing, condition.bounds);
  }
}

const numbers: Recorder<number> = {
  value: (result) => result,
  record: (_node, value) => value,
};

/** The value of a formula. Throws `missing_signal` for an unknown age, `non_finite_score` with path and operands. */
export function evaluate(node: Node, signals: Signals, now: Instant): number {
  const value = walk(node, signals, now, numbers);
  if (Number.isNaN(value)) throw unknownAge(node);
  return value;
}

/** The instant that an age counts from, if any of its clocks is known. */
export function clockOf(node: Extract<Node, { op: 'age' }>, signals: Signals): Instant | undefined {
  let at: Instant | undefined;
  for (const clock of node.clocks) {
    const value = signals[clock];
    if (value === undefined) continue;
    if (at === undefined || (node.pick === 'latest' ? value > at : value < at)) at = value;
  }
  return at;
}

/** The names of the signals and clocks that a formula reads. */
export function namesRead(node: Node, into = new Set<string>()): ReadonlySet<string> {
  if (node.op === 'signal') into.add(node.name);
  if (node.op === 'age') for (const clock of node.clocks) into.add(clock);
  if (node.op === 'table') into.add(node.by);
  if (node.op === 'when') for (const name of namesOfCondition(node.condition)) into.add(name);
  for (const child of childrenOf(node)) namesRead(child, into);
  return into;
}

/** The clocks whose ages a formula counts. */
export function clocksRead(node: Node): ReadonlySet<ClockName> {
  return new Set([
    ...(node.op === 'age' ? node.clocks : []),
    ...childrenOf(node).flatMap((child) => [...clocksRead(child)]),
  ]);
}

export function namesOfCondition(condition: BoundCondition): readonly string[] {
  switch (condition.test) {
    case 'attribute':
      return [condition.attribute];
    case 'signal':
      return [condition.signal];
    case 'passed':
      return [condition.clock];
    case 'known':
      return [condition.name];
    case 'fixed':
      return [];
  }
}

export function childrenOf(node: Node): readonly Node[] {
  switch (node.op) {
    case 'constant':
    case 'signal':
    case 'age':
      return [];
    case 'decay':
      return [node.age, node.pace];
    case 'power':
      return [node.base, node.exponent];
    case 'table':
      return [...node.cases.values(), node.otherwise];
    case 'when':
      return [node.then, node.else];
    case 'ref':
    case 'clamp':
    case 'capped':
      return [node.of];
    case 'sum':
    case 'mean':
    case 'product':
    case 'min':
    case 'max':
      return node.of;
  }
}

function combined<Result>(
  node: Node & Step,
  inputs: readonly Result[],
  facts: Facts,
  recorder: Recorder<Result>,
): Result {
  const values = inputs.map((input) => recorder.value(input));
  const value = combine(node, values);
  // An unknown age passes through references and choices, so that the decay around them can use its default.
  const unknown = Number.isNaN(value) && (node.op === 'ref' || node.op === 'when' || node.op === 'table');
  if (!Number.isFinite(value) && !unknown) throw nonFinite(node, value, values);
  return recorder.record(node, value, inputs, facts);
}

function nonFinite(node: Node, value: number, operands: readonly number[]): SalienceError {
  const unknown = operands.findIndex((operand) => Number.isNaN(operand));
  const child = childrenOf(node)[unknown];
  if (child) return unknownAge(child);
  return new SalienceError(
    'non_finite_score',
    `the formula gives ${value} at ${node.path}, from ${node.op} of ${operands.join(', ')}; keep its inputs in range, for example with clamp`,
    { details: { path: node.path, operands } },
  );
}

function unknownAge(node: Node): SalienceError {
  const clocks = [...namesRead(node)].filter((name) => isClockName(name));
  return new SalienceError(
    'missing_signal',
    `the formula needs ${clocks.join(' or ') || 'an age'} at ${node.path}, and it is unknown; give it, or put "missing" on the decay`,
    { details: { path: node.path, signals: clocks } },
  );
}
