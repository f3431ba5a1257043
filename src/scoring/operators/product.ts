import type { Explanation } from '../explain.ts';
import type { Expression, Node } from './index.ts';
import { type Interval, productOf } from './interval.ts';
import { constantLane, isWide, laneOf, pairLane } from './lanes.ts';
import type { Operator } from './operator.ts';

/** All of them, multiplied. */
export interface ProductExpression {
  readonly op: 'product';
  readonly of: readonly Expression[];
}

export interface ProductNode {
  readonly op: 'product';
  readonly path: string;
  readonly of: readonly Node[];
}

export const product: Operator<ProductExpression, ProductNode, object> = {
  name: 'product',
  keys: { of: 'formulas' },
  resolve: ({ of }, path, resolver) => ({ op: 'product', of: resolver.formulas(of, `${path}.of`), path }),
  formula: ({ of }, text) => of.map(text.tight).join(' × '),
  isLoose: () => true,
  children: ({ of }) => of,
  evaluate: (node, walk) => walk.combine(node, node.of.map(walk.of)),
  combine(_, inputs) {
    let total = 1;
    for (const input of inputs) total *= input;
    return total;
  },
  takes: (inputs) => inputs > 0,
  detail: () => ({}),
  interval({ of }, intervals) {
    let total: Interval = [1, 1];
    for (let index = 0; index < of.length; index++) total = productOf(total, intervals.of(of[index]!));
    return total;
  },
  compile({ of }, compilation) {
    if (of.some((each) => compilation.range(each)[0] < 0)) {
      const [first, ...rest] = of.map(compilation.of);
      return rest.reduce((product, each) => pairLane(compilation, product, each, (a, b) => a * b), first!);
    }
    const lanes = of.map(compilation.of);
    const fixed = lanes.reduce((product, { constant = 1 }) => product * constant, 1);
    const open = lanes.filter(({ constant }) => constant === undefined);
    if (open.length === 0) return constantLane(fixed);
    if (open.length === 1 && fixed === 1) return open[0]!;
    return laneOf(compilation, open.some(isWide), (side, out) => {
      const factors = open.map((each) => each[side]);
      return ({ count }) => multiplyRows(out, fixed, factors, count);
    });
  },
  line: ({ inputs }) => ({ words: 'product', branches: inputs.map((tree) => ({ tree, role: 'factor' })) }),
  summary: ({ inputs }, terms) => terms.factors(inputs),
  shares: (a, b) => productShares(valuesOf(a), valuesOf(b), a.value - b.value),
};

/** If the logarithms differ by less than this, dividing by the difference would be inexact. */
const NEARLY_EQUAL = 1e-6;

/** Divides the difference of two products among their factors. The shares add up to the difference. */
function productShares(a: readonly number[], b: readonly number[], difference: number): readonly number[] {
  if ([...a, ...b].some((factor) => factor < 0)) return stepByStep(a, b);
  if ([...a, ...b].some((factor) => factor === 0)) return byZeros(a, b, difference);
  const logarithms = a.map((factor, index) => Math.log(factor) - Math.log(b[index] as number));
  const distance = logarithms.reduce((sum, each) => sum + each, 0);
  if (Math.abs(distance) >= NEARLY_EQUAL) return logarithms.map((each) => (difference * each) / distance);
  const level = (multiply(a) + multiply(b)) / 2;
  return logarithms.map((each) => level * each);
}

/** Zero has no logarithm: the factors that are zero only on the lower side share the whole difference. */
function byZeros(a: readonly number[], b: readonly number[], difference: number): readonly number[] {
  const lower = multiply(a) === 0 ? a : b;
  const upper = lower === a ? b : a;
  const responsible = lower.map((factor, index) => factor === 0 && upper[index] !== 0);
  const count = responsible.filter(Boolean).length;
  return responsible.map((is) => (is && difference !== 0 ? difference / count : 0));
}

/** Negative factors have no logarithm either: changes the factors from `b` to `a` one after another. */
function stepByStep(a: readonly number[], b: readonly number[]): readonly number[] {
  return a.map(
    (factor, index) =>
      multiply(a.slice(0, index)) * (factor - (b[index] as number)) * multiply(b.slice(index + 1)),
  );
}

/** Computes fixed · Π factor, two factors at a time: reading and writing the product costs more than multiplying. */
function multiplyRows(
  out: Float64Array,
  fixed: number,
  factors: readonly Float64Array[],
  count: number,
): void {
  const [first, second, ...rest] = factors;
  if (second) for (let at = 0; at < count; at++) out[at] = fixed * first![at]! * second[at]!;
  else for (let at = 0; at < count; at++) out[at] = fixed * first![at]!;
  for (const factor of rest) for (let at = 0; at < count; at++) out[at]! *= factor[at]!;
}

function multiply(factors: readonly number[]): number {
  return factors.reduce((product, factor) => product * factor, 1);
}

function valuesOf(tree: Explanation): readonly number[] {
  return tree.inputs.map((input) => input.value);
}
