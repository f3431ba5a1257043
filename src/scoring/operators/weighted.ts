import { describe } from '../../domain/describe.ts';
import type { Explanation } from '../explain.ts';
import { scalarText } from '../show.ts';
import type { Node, Scalar, WeightedTerm } from './index.ts';
import { type Interval, times } from './interval.ts';
import { constantLane, isWide, type Lane, laneOf } from './lanes.ts';
import type { Compilation, FormulaText, Intervals, Line, Operator, Resolver } from './operator.ts';

/** Σ weight·of, in the order of the terms. */
export interface SumExpression {
  readonly op: 'sum';
  /** What the weights sum to, if not 1. */
  readonly total?: number | undefined;
  readonly terms: readonly WeightedTerm[];
}

/** Σ weight·of ÷ Σ weight. */
export interface MeanExpression {
  readonly op: 'mean';
  readonly terms: readonly WeightedTerm[];
}

export interface Weighted {
  readonly weights: readonly number[];
  readonly of: readonly Node[];
}

export interface SumNode extends Weighted {
  readonly op: 'sum';
  readonly path: string;
  /** The expected sum of the weights, as the author states it. */
  readonly total: number | undefined;
}

export interface MeanNode extends Weighted {
  readonly op: 'mean';
  readonly path: string;
}

export interface Known {
  readonly weights: readonly number[];
}

export const sum: Operator<SumExpression, SumNode, Known> = {
  name: 'sum',
  keys: { total: 'other', terms: 'terms' },
  resolve({ total, terms }, path, resolver) {
    if (total !== undefined && !Number.isFinite(total))
      throw resolver.fault(`${path}.total`, `${describe(total)} is not a finite number`);
    return { op: 'sum', ...resolveTerms(terms, path, resolver), total, path };
  },
  formula: ({ terms }, text) => terms.map((term, index) => termText(term, index, text)).join(''),
  isLoose: () => true,
  children: ({ of }) => of,
  /**
   * Rejects weights that do not sum to `total`, or to 1 without a `total`: a typing error would lower every score
   * without leaving the range. Without a `total`, the check applies only to shares of one whole: weights from 0 to
   * below 1 of terms within [0, 1]. Any other weight means that something is added or subtracted.
   */
  check({ weights, of, total, path }, { range, fault }) {
    const sum = totalOf(weights);
    const shown = Math.round(sum * 1e6) / 1e6;
    if (total !== undefined) {
      if (Math.abs(sum - total) <= ROUNDING) return;
      throw fault(
        `${path}.total`,
        `it is ${total}, and the weights sum to ${shown}: correct the weights or the total`,
      );
    }
    if (Math.abs(sum - 1) <= ROUNDING || weights.length < 2) return;
    if (weights.some((weight) => weight < 0 || weight >= 1)) return;
    const areShares = of.every((term) => {
      const [low, high] = range(term);
      return low >= 0 && high <= 1;
    });
    if (!areShares) return;
    throw fault(
      path,
      `the weights sum to ${shown}, not to 1: correct them, write "total": ${shown} if that is meant, or use "mean", which divides by the sum`,
    );
  },
  evaluate: (node, walk) => walk.combine(node, node.of.map(walk.of)),
  combine: ({ weights }, inputs) => dot(weights, inputs),
  takes: takesTerms,
  detail: ({ weights }) => ({ weights: [...weights] }),
  interval: (node, intervals) => weightedInterval(node, intervals),
  compile: (node, compilation) => compileTerms(node, 1, compilation),
  line: (tree) => weightedLine('sum', tree),
  summary: ({ inputs, detail }, terms) => terms.addends(inputs, detail.weights ?? []),
  shares: (a, b) => sharesOfTerms(a, b),
};

/** Names the parameters that set the weights, for users who set those and do not know the formula. */
function parametersOf(terms: readonly WeightedTerm[]): string {
  const names = terms.flatMap(({ weight }) => (typeof weight === 'object' ? [weight.name] : []));
  return names.length === 0 ? '' : `: raise ${names.join(' or ')}`;
}

export const mean: Operator<MeanExpression, MeanNode, Known> = {
  name: 'mean',
  keys: { terms: 'terms' },
  resolve({ terms }, path, resolver) {
    const { weights, of } = resolveTerms(terms, path, resolver);
    if (weights.some((weight) => weight < 0))
      throw resolver.fault(path, 'the weights of a mean must not be negative');
    if (weights.every((weight) => weight === 0))
      throw resolver.fault(path, `the weights of a mean must not all be 0${parametersOf(terms)}`);
    return { op: 'mean', weights, of, path };
  },
  formula: ({ terms }, text) => `mean(${terms.map((term) => factorText(term, text)).join(', ')})`,
  children: ({ of }) => of,
  evaluate: (node, walk) => walk.combine(node, node.of.map(walk.of)),
  combine: ({ weights }, inputs) => dot(weights, inputs) / totalOf(weights),
  takes: takesTerms,
  detail: ({ weights }) => ({ weights: [...weights] }),
  interval(node, intervals) {
    const [low, high] = weightedInterval(node, intervals);
    const weight = totalOf(node.weights);
    return [low / weight, high / weight];
  },
  compile: (node, compilation) => compileTerms(node, totalOf(node.weights), compilation),
  line: (tree) => weightedLine('weighted mean', tree),
  summary({ inputs, detail: { weights = [] } }, terms) {
    const whole = totalOf(weights);
    return terms.addends(
      inputs,
      weights.map((weight) => weight / whole),
    );
  },
  shares: (a, b) => sharesOfTerms(a, b),
};

/** A sum of decimal weights may miss its total by a rounding error. One that misses by more is wrong. */
const ROUNDING = 1e-9;

/** Returns what each term adds to a sum or a mean. */
export function contributionsOf(tree: Explanation): readonly number[] {
  const weights = tree.detail.weights ?? [];
  const whole = tree.op === 'mean' ? totalOf(weights) : 1;
  return tree.inputs.map((input, index) => ((weights[index] ?? 0) * input.value) / whole);
}

function totalOf(weights: readonly number[]): number {
  return weights.reduce((total, weight) => total + weight, 0);
}

function dot(weights: readonly number[], inputs: readonly number[]): number {
  let total = 0;
  for (let index = 0; index < inputs.length; index++) {
    total += (weights[index] as number) * (inputs[index] as number);
  }
  return total;
}

function takesTerms(inputs: number, { weights }: Partial<Known>): boolean {
  return inputs > 0 && inputs === weights?.length;
}

function resolveTerms(terms: readonly WeightedTerm[], path: string, resolver: Resolver): Weighted {
  const list = resolver.nonEmpty(terms, `${path}.terms`);
  const weights = list.map((term, index) => {
    const at = `${path}.terms[${index}]`;
    resolver.onlyKeys(resolver.object(term, at), ['weight', 'of'], at);
    return resolver.scalar(term.weight ?? 1, `${at}.weight`);
  });
  const of = list.map((term, index) => resolver.formula(term.of, `${path}.terms[${index}].of`));
  return { weights, of };
}

function weightedInterval({ weights, of }: Weighted, intervals: Intervals): Interval {
  let [low, high] = [0, 0];
  for (let index = 0; index < of.length; index++) {
    const weight = weights[index]!;
    const term = intervals.of(of[index]!);
    low += times(weight, weight >= 0 ? term[0] : term[1]);
    high += times(weight, weight >= 0 ? term[1] : term[0]);
  }
  return [low, high];
}

function compileTerms({ weights, of }: Weighted, divisor: number, compilation: Compilation): Lane {
  const lanes = of.map(compilation.of);
  let fixed = 0;
  const scales: number[] = [];
  const open = lanes.filter(({ constant }, index) => {
    const scale = weights[index]! / divisor;
    if (constant !== undefined) fixed += scale * constant;
    else scales.push(scale);
    return constant === undefined;
  });
  if (open.length === 0) return constantLane(fixed);
  return laneOf(compilation, open.some(isWide), (side, out) => {
    const opposite = side === 'low' ? 'high' : 'low';
    const terms = open.map((each, index) => each[scales[index]! >= 0 ? side : opposite]);
    return ({ count }) => addUp(out, fixed, scales, terms, count);
  });
}

/** Computes fixed + Σ scale·term, up to three terms at a time: reading and writing the sum costs more than adding. */
function addUp(
  out: Float64Array,
  fixed: number,
  scales: readonly number[],
  terms: readonly Float64Array[],
  count: number,
): void {
  for (let index = 0; index < terms.length; index += 3) {
    const [a, b, c] = [terms[index]!, terms[index + 1], terms[index + 2]];
    const [x, y, z] = [scales[index]!, scales[index + 1]!, scales[index + 2]!];
    if (index > 0) {
      // A fourth term and more are rare.
      for (let at = 0; at < count; at++) out[at]! += x * a[at]! + (b ? y * b[at]! : 0) + (c ? z * c[at]! : 0);
    } else if (b && c) {
      for (let at = 0; at < count; at++) out[at] = fixed + x * a[at]! + y * b[at]! + z * c[at]!;
    } else if (b) {
      for (let at = 0; at < count; at++) out[at] = fixed + x * a[at]! + y * b[at]!;
    } else {
      for (let at = 0; at < count; at++) out[at] = fixed + x * a[at]!;
    }
  }
}

function weightedLine(words: string, tree: Explanation): Line {
  const contributions = contributionsOf(tree);
  const whole = contributions.reduce((sum, each) => sum + Math.abs(each), 0);
  return {
    words,
    branches: tree.inputs.map((input, index) => {
      const contribution = contributions[index] ?? 0;
      const share = whole === 0 ? 0 : (Math.abs(contribution) / whole) * 100;
      const weight = tree.detail.weights?.[index] ?? 0;
      const role = `weight ${Number(weight.toPrecision(7))}, adds ${contribution.toFixed(4)}`;
      return { tree: input, role, share: `${share.toFixed(0)} %` };
    }),
  };
}

function sharesOfTerms(a: Explanation, b: Explanation): readonly number[] {
  const [left, right] = [contributionsOf(a), contributionsOf(b)];
  return left.map((contribution, index) => contribution - (right[index] ?? 0));
}

function termText(term: WeightedTerm, index: number, text: FormulaText): string {
  const negative = typeof term.weight === 'number' && term.weight < 0;
  const positive = negative ? { ...term, weight: -(term.weight as number) } : term;
  const sign = index === 0 ? (negative ? '−' : '') : negative ? ' − ' : ' + ';
  return `${sign}${factorText(positive, text)}`;
}

function factorText({ weight = 1, of }: WeightedTerm, text: FormulaText): string {
  if (weight === 1) return text.tight(of);
  if (of === 1) return scalarText(weight as Scalar);
  return `${scalarText(weight)}·${text.tight(of)}`;
}
