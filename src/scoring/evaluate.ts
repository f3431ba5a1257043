import { SalienceError } from '../domain/errors.ts';
import type { ClockName } from '../domain/fields.ts';
import type { Instant } from '../domain/time.ts';
import { namesOfCondition } from './condition.ts';
import { type Node, operatorOf } from './operators/index.ts';
import type { Walk } from './operators/operator.ts';
import type { ResolvedFormulas } from './resolve.ts';
import { isClockName, type Signals } from './signals.ts';

/**
 * What a walk records for each node: only the value, or a tree that shows it. Both come from the same walk, so a score
 * and its explanation cannot differ.
 */
export interface Recorder<Result> {
  value(result: Result): number;
  record(node: Node, value: number, inputs: readonly Result[]): Result;
}

/** Evaluates a formula bottom-up in a fixed order. Throws `missing_signal` or `non_finite_score`. */
export function walk<Result>(
  root: Node,
  signals: Signals,
  now: Instant,
  { value, record }: Recorder<Result>,
): Result {
  const each: Walk<Result> = {
    signals,
    now,
    of: (node) => operatorOf(node).evaluate(node, each),
    value,
    leaf: (node, result) => record(node, result, []),
    combine: (node, inputs) => record(node, combine(node, inputs.map(value)), inputs),
    unknownAge,
  };
  return each.of(root);
}

/** Evaluates a formula. Throws `missing_signal` for an unknown age, and `non_finite_score` with path and operands. */
export function evaluate(root: Node, signals: Signals, now: Instant): number {
  // The same as `walk` with a recorder that only keeps values, but without its allocations.
  const each: Walk<number> = {
    signals,
    now,
    of: (node) => operatorOf(node).evaluate(node, each),
    value: (result) => result,
    leaf: (_node, result) => result,
    combine,
    unknownAge,
  };
  const value = each.of(root);
  if (Number.isNaN(value)) throw unknownAge(root);
  return value;
}

function combine(node: Node, values: readonly number[]): number {
  const operator = operatorOf(node);
  const value = operator.combine(node, values);
  // References and choices pass on an unknown age, so that the decay around them can use its default.
  if (!Number.isFinite(value) && !(Number.isNaN(value) && operator.passes))
    throw nonFinite(node, value, values);
  return value;
}

export function childrenOf(node: Node): readonly Node[] {
  return operatorOf(node).children(node);
}

/** Returns the names of the signals, clocks and attributes that a formula reads. */
export function namesRead(node: Node): ReadonlySet<string> {
  let names = read.get(node);
  if (!names) {
    names = new Set([
      ...(operatorOf(node).reads?.(node) ?? []),
      ...childrenOf(node).flatMap((child) => [...namesRead(child)]),
    ]);
    read.set(node, names);
  }
  return names;
}

/** Cached because formulas do not change and a recall asks about each node many times. */
const read = new WeakMap<Node, ReadonlySet<string>>();

/** Returns the names that a profile reads: in its formula, its parts and its requirements. */
export function signalsRead(formulas: ResolvedFormulas): ReadonlySet<string> {
  let names = readBy.get(formulas);
  if (!names) {
    const { root, parts, require } = formulas;
    names = new Set([
      ...require.flatMap(namesOfCondition),
      ...[root, ...Object.values(parts)].flatMap((node) => [...namesRead(node)]),
    ]);
    readBy.set(formulas, names);
  }
  return names;
}

const readBy = new WeakMap<ResolvedFormulas, ReadonlySet<string>>();

/** Returns the clocks from which a formula computes ages. */
export function clocksRead(node: Node): ReadonlySet<ClockName> {
  return new Set([
    ...(node.op === 'age' ? node.clocks : []),
    ...childrenOf(node).flatMap((child) => [...clocksRead(child)]),
  ]);
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
