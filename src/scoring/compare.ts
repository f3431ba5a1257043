import { SalienceError } from '../model/errors.ts';
import type { Explanation } from './explain.ts';
import { contributionsOf } from './format.ts';
import { visible } from './show.ts';

/** What one term does to the distance between two scores. */
export interface ComparisonTerm {
  readonly name: string;
  /** The term's value on either side. */
  readonly a: number;
  readonly b: number;
  /** Its share of the difference: positive where it speaks for `a`. */
  readonly contribution: number;
}

export interface Comparison {
  /** The score of `a` minus that of `b`. */
  readonly difference: number;
  /** Strongest first. Their contributions add up to the difference. */
  readonly terms: readonly ComparisonTerm[];
}

/**
 * Why `a` scores above `b` (or below): the difference, divided among the terms of the formula. Terms of a sum or a
 * mean count by what each adds; factors of a product by their share of the logarithm, scaled to the difference.
 * References, bounds, choices and tables around the formula are looked through; a bound that cut a score off is a
 * term of its own.
 *
 * Throws `incomparable_scores` when the trees are not of one formula with the same parameters.
 *
 * @example
 * ```ts
 * const now = '2026-04-20T00:00:00Z';
 * const newer = explain('scoped', { similarity: 0.8, updatedAt: '2026-04-19T00:00:00Z' }, { now });
 * const older = explain('scoped', { similarity: 0.9, updatedAt: '2026-01-19T00:00:00Z' }, { now });
 * const { difference, terms } = compareExplanations(newer, older);
 * console.log(difference, terms[0]?.name);
 * ```
 */
export function compareExplanations(a: Explanation, b: Explanation): Comparison {
  const [left, right] = [formulaOf(a), formulaOf(b)];
  checkSameShape(left, right);
  const difference = a.value - b.value;
  const terms = termsOf(left, right);
  const cutOff = difference - (left.value - right.value);
  if (left.value !== a.value || right.value !== b.value) {
    terms.push({ name: 'bounds', a: a.value - left.value, b: b.value - right.value, contribution: cutOff });
  }
  terms.sort((one, other) => Math.abs(other.contribution) - Math.abs(one.contribution));
  return { difference, terms };
}

/**
 * A comparison as lines of text.
 *
 * @example
 * ```ts
 * const now = '2026-04-20T00:00:00Z';
 * const newer = explain('scoped', { similarity: 0.8, updatedAt: '2026-04-19T00:00:00Z' }, { now });
 * const older = explain('scoped', { similarity: 0.9, updatedAt: '2026-01-19T00:00:00Z' }, { now });
 * console.log(formatComparison(compareExplanations(newer, older)));
 * ```
 */
export function formatComparison(comparison: Comparison): string {
  const { difference, terms } = comparison;
  const width = Math.max(0, ...terms.map(({ name }) => visible(name).length));
  return [
    `${signed(difference)}  in all`,
    ...terms.map(
      ({ name, a, b, contribution }) =>
        `${signed(contribution)}  ${visible(name).padEnd(width)}  ${a.toFixed(4)} against ${b.toFixed(4)}`,
    ),
  ].join('\n');
}

function formulaOf(tree: Explanation): Explanation {
  const [inner] = tree.inputs;
  const transparent = ['ref', 'clamp', 'when', 'table'].includes(tree.op);
  return transparent && inner ? formulaOf(inner) : tree;
}

function checkSameShape(a: Explanation, b: Explanation): void {
  if (a.op !== b.op) throw incomparable(`one is a ${a.op}, the other a ${b.op}`);
  if (a.inputs.length !== b.inputs.length) throw incomparable('they have different numbers of terms');
  for (const [index, input] of a.inputs.entries()) {
    const [one, other] = [nameOf(input), nameOf(b.inputs[index] as Explanation)];
    if (one !== other) throw incomparable(`term ${index + 1} is ${one} in one and ${other} in the other`);
    if (a.detail.weights?.[index] !== b.detail.weights?.[index]) {
      throw incomparable(
        `the weight of ${one} is ${a.detail.weights?.[index]} and ${b.detail.weights?.[index]}`,
      );
    }
  }
  if (nameOf(a) !== nameOf(b)) throw incomparable(`one is ${nameOf(a)}, the other ${nameOf(b)}`);
}

function termsOf(a: Explanation, b: Explanation): ComparisonTerm[] {
  switch (a.op) {
    case 'sum':
    case 'mean': {
      const [left, right] = [contributionsOf(a), contributionsOf(b)];
      return pair(a, b, (index) => (left[index] ?? 0) - (right[index] ?? 0));
    }
    case 'product': {
      const shares = productShares(valuesOf(a), valuesOf(b), a.value - b.value);
      return pair(a, b, (index) => shares[index] ?? 0);
    }
    default:
      return [{ name: nameOf(a), a: a.value, b: b.value, contribution: a.value - b.value }];
  }
}

function pair(a: Explanation, b: Explanation, contribution: (index: number) => number): ComparisonTerm[] {
  return a.inputs.map((input, index) => ({
    name: nameOf(input),
    a: input.value,
    b: (b.inputs[index] as Explanation).value,
    contribution: contribution(index),
  }));
}

/** Below this distance of logarithms the difference is too small a number to be divided by. */
const nearlyEqual = 1e-6;

/** Divides the difference of two products among their factors; the shares add up to it. */
function productShares(a: readonly number[], b: readonly number[], difference: number): readonly number[] {
  if ([...a, ...b].some((factor) => factor < 0)) return stepByStep(a, b);
  if ([...a, ...b].some((factor) => factor === 0)) return byZeros(a, b, difference);
  const logarithms = a.map((factor, index) => Math.log(factor) - Math.log(b[index] as number));
  const distance = logarithms.reduce((sum, each) => sum + each, 0);
  if (Math.abs(distance) >= nearlyEqual) return logarithms.map((each) => (difference * each) / distance);
  const level = (multiply(a) + multiply(b)) / 2;
  return logarithms.map((each) => level * each);
}

/** Zero has no logarithm: the whole difference is due to the factors that are zero on the lower side only. */
function byZeros(a: readonly number[], b: readonly number[], difference: number): readonly number[] {
  const lower = multiply(a) === 0 ? a : b;
  const upper = lower === a ? b : a;
  const guilty = lower.map((factor, index) => factor === 0 && upper[index] !== 0);
  const count = guilty.filter(Boolean).length;
  return guilty.map((is) => (is && difference !== 0 ? difference / count : 0));
}

/** Negative factors have no logarithm either: the factors change from `b` to `a` one after the other. */
function stepByStep(a: readonly number[], b: readonly number[]): readonly number[] {
  return a.map(
    (factor, index) =>
      multiply(a.slice(0, index)) * (factor - (b[index] as number)) * multiply(b.slice(index + 1)),
  );
}

function multiply(factors: readonly number[]): number {
  return factors.reduce((product, factor) => product * factor, 1);
}

function valuesOf(tree: Explanation): readonly number[] {
  return tree.inputs.map((input) => input.value);
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
}

/** What a reader calls a term: its name, or its operator and what that works on. */
function nameOf({ op, detail, inputs }: Explanation): string {
  if (detail.name !== undefined) return detail.name;
  switch (op) {
    case 'constant':
      return 'constant';
    case 'table':
      return `table by ${detail.by}`;
    case 'when':
      return `choice by ${detail.condition}`;
    case 'age':
      return `age of ${(detail.clocks ?? []).join(' or ')}`;
    case 'decay':
      return 'decay';
    default: {
      const named = inputs.map((input) => input.detail.name).filter((name) => name !== undefined);
      return named.length > 0 ? `${op} of ${named.join(', ')}` : op;
    }
  }
}

function incomparable(reason: string): SalienceError {
  return new SalienceError(
    'incomparable_scores',
    `the explanations are not of one formula: ${reason}; explain both memories with the same profile and parameters`,
    { details: { reason } },
  );
}
