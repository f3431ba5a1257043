import { type Explanation, sourceOf } from './explain.ts';
import { contributionsOf } from './operators/weighted.ts';

/** What one term of a formula adds to a score. */
export interface ScorePart {
  readonly name: string;
  readonly value: number;
}

/**
 * Returns the parts that add up to a score: the terms of a sum, even if other factors multiply that sum. A formula
 * without a sum is a single part.
 */
export function scoreParts(tree: Explanation): readonly ScorePart[] {
  const root = sourceOf(tree);
  const factor = root.op === 'product' ? root.inputs.find((input) => isSum(sourceOf(input))) : tree;
  const sum = factor && sourceOf(factor);
  if (!sum || !isSum(sum) || sum.value === 0) return [{ name: 'score', value: tree.value }];
  const contributions = contributionsOf(sum);
  return sum.inputs.map((input, index) => ({
    name: input.detail.name ?? input.op,
    value: (contributions[index] ?? 0) * (tree.value / sum.value),
  }));
}

function isSum(tree: Explanation): boolean {
  return tree.op === 'sum' || tree.op === 'mean';
}
