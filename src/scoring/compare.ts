import { invalidArgument } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { isPlain } from '../domain/options.ts';
import { checkExplanation, type Explanation } from './explain.ts';
import { operatorOf } from './operators/index.ts';
import { visible } from './show.ts';

/** How one term contributes to the difference of two scores. */
export interface ComparisonTerm {
  readonly name: string;
  /** The term's value in `a` and in `b`. */
  readonly a: number;
  readonly b: number;
  /** Its part of the difference; positive if it raises `a` above `b`. */
  readonly contribution: number;
}

export interface Comparison {
  /** The score of `a` minus that of `b`. */
  readonly difference: number;
  /** Strongest first. Their contributions add up to the difference. */
  readonly terms: readonly ComparisonTerm[];
}

/**
 * Explains why `a` scores above `b` (or below): divides the difference among the terms of the formula. Terms of a sum
 * or a mean count by what each adds, factors of a product by their share of the logarithm, scaled to the difference.
 * References, clamps, choices and tables around the formula are passed through; a clamp that cut off a score is a term
 * of its own. If a choice or table gave the two memories different formulas, it is the only term.
 *
 * Throws `incomparable_scores` if the trees are not of one formula with the same parameters, and `invalid_argument` for
 * a value that is not an explanation.
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
  const inner = [formulaOf(checkExplanation(a, 'a')), formulaOf(checkExplanation(b, 'b'))] as const;
  const reason = otherShape(...inner);
  const parting = reason === undefined ? undefined : partingOf(a, b);
  if (reason !== undefined && !parting) throw incomparable(reason);
  const [left, right] = parting ?? inner;
  const difference = a.value - b.value;
  const terms = parting ? [wholeTerm(left, right)] : termsOf(left, right);
  const cutOff = difference - (left.value - right.value);
  if (left.value !== a.value || right.value !== b.value) {
    terms.push({ name: 'bounds', a: a.value - left.value, b: b.value - right.value, contribution: cutOff });
  }
  terms.sort((one, other) => Math.abs(other.contribution) - Math.abs(one.contribution));
  return { difference, terms };
}

/**
 * A comparison as lines of text. Throws `invalid_argument` for a value that is not a comparison.
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
  const { difference, terms } = checkComparison(comparison);
  const width = Math.max(0, ...terms.map(({ name }) => visible(name).length));
  return [
    `${signed(difference)}  in all`,
    ...terms.map(
      ({ name, a, b, contribution }) =>
        `${signed(contribution)}  ${visible(name).padEnd(width)}  ${a.toFixed(4)} against ${b.toFixed(4)}`,
    ),
  ].join('\n');
}

function checkComparison(comparison: Comparison): Comparison {
  if (!isPlain(comparison) || typeof comparison.difference !== 'number' || !Array.isArray(comparison.terms)) {
    throw invalidArgument(
      'comparison',
      `expected a comparison, as compareExplanations returns, not ${describe(comparison)}`,
    );
  }
  for (const [index, term] of comparison.terms.entries()) checkTerm(term, `comparison.terms[${index}]`);
  return comparison;
}

function checkTerm(term: ComparisonTerm, field: string): void {
  const { name, a, b, contribution }: Partial<ComparisonTerm> = isPlain(term) ? term : {};
  if (typeof name === 'string' && [a, b, contribution].every((value) => typeof value === 'number')) return;
  throw invalidArgument(
    field,
    `expected a term of a comparison, as compareExplanations returns, not ${describe(term)}`,
  );
}

function formulaOf(tree: Explanation): Explanation {
  const [inner] = tree.inputs;
  return operatorOf(tree).lead && inner ? formulaOf(inner) : tree;
}

/**
 * Returns the nodes of the same choice or table at which the two trees took different branches; `undefined` if there is
 * none.
 */
function partingOf(a: Explanation, b: Explanation): readonly [Explanation, Explanation] | undefined {
  const [one, other] = [a.inputs[0], b.inputs[0]];
  if (!one || !other || !operatorOf(a).lead || a.op !== b.op || nameOf(a) !== nameOf(b)) return undefined;
  if (a.detail.held !== b.detail.held || a.detail.key !== b.detail.key) return [a, b];
  return partingOf(one, other);
}

/** Returns a reason why the two trees cannot be of one formula, or `undefined`. */
function otherShape(a: Explanation, b: Explanation): string | undefined {
  if (a.op !== b.op) return `one is a ${a.op}, the other a ${b.op}`;
  // An unknown age leaves a decay without terms.
  const isDefaulted = a.detail.defaulted === true || b.detail.defaulted === true;
  if (!isDefaulted && a.inputs.length !== b.inputs.length) return 'they have different numbers of terms';
  for (const [index, input] of isDefaulted ? [] : a.inputs.entries()) {
    const [one, other] = [nameOf(input), nameOf(b.inputs[index] as Explanation)];
    if (one !== other) return `term ${index + 1} is ${one} in one and ${other} in the other`;
    if (a.detail.weights?.[index] !== b.detail.weights?.[index]) {
      return `the weight of ${one} is ${a.detail.weights?.[index]} and ${b.detail.weights?.[index]}`;
    }
  }
  return nameOf(a) === nameOf(b) ? undefined : `one is ${nameOf(a)}, the other ${nameOf(b)}`;
}

function termsOf(a: Explanation, b: Explanation): ComparisonTerm[] {
  const shares = operatorOf(a).shares?.(a, b);
  if (!shares) return [wholeTerm(a, b)];
  return a.inputs.map((input, index) => ({
    name: nameOf(input),
    a: input.value,
    b: (b.inputs[index] as Explanation).value,
    contribution: shares[index] ?? 0,
  }));
}

function wholeTerm(a: Explanation, b: Explanation): ComparisonTerm {
  return { name: nameOf(a), a: a.value, b: b.value, contribution: a.value - b.value };
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
}

/** Returns what to call a term: its name, or its operator and the names of its inputs. */
function nameOf(tree: Explanation): string {
  const title = tree.detail.name ?? operatorOf(tree).title?.(tree);
  if (title !== undefined) return title;
  const named = tree.inputs.map((input) => input.detail.name).filter((name) => name !== undefined);
  return named.length > 0 ? `${tree.op} of ${named.join(', ')}` : tree.op;
}

function incomparable(reason: string): SalienceError {
  return new SalienceError(
    'incomparable_scores',
    `the explanations are not of one formula: ${reason}; explain both memories with the same profile and parameters`,
    { details: { reason } },
  );
}
