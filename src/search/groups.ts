import { grow } from './grow.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import { ROUNDING } from './quantise.ts';

/**
 * What the vectors of rows that stand beside each other have in common, `GROUP_ROWS` of them: with the highest of their products, how
 * similar to a query any of them can be. Rows come at the end, and never get another vector: what is known of a group stays true.
 */
export interface GroupLimits {
  /** By group: the largest scale and the largest residual; NaN where a row has no vector. */
  scales: Float32Array;
  residuals: Float32Array;
  /** Rows that were taken in. */
  taken: number;
}

export function createGroupLimits(): GroupLimits {
  return { scales: new Float32Array(0), residuals: new Float32Array(0), taken: 0 };
}

export function groupOf(row: number): number {
  return Math.floor(row / GROUP_ROWS);
}

/** Takes in the rows that have come since. */
export function followRows(
  limits: GroupLimits,
  size: number,
  scales: Float32Array,
  residuals: Float32Array,
): void {
  const groups = groupOf(size) + 1;
  limits.scales = grow(limits.scales, groups);
  limits.residuals = grow(limits.residuals, groups);
  for (let row = limits.taken; row < size; row++) {
    const group = groupOf(row);
    // NaN stays: whether a row without a vector is passed over is not a matter of its similarity.
    limits.scales[group] = Math.max(limits.scales[group]!, scales[row]!);
    limits.residuals[group] = Math.max(limits.residuals[group]!, residuals[row]!);
  }
  limits.taken = size;
}

const { fround } = Math;

/** What the kernel compares with the leasts of rows: their products, and by how much they can be too low. */
export interface Reach {
  readonly scale: number;
  readonly spread: number;
  readonly more: number;
}

export function reachOf(scale: number, residual: number): Reach {
  // A little more than the error, for numbers of 32 bits.
  return { scale, spread: 1 + residual, more: residual + 4 * ROUNDING };
}

/**
 * At least what `pick` finds as the reach of any row of the group: the same steps, each of which rounds a larger number to one that is no
 * smaller.
 */
export function reachOfGroup(
  { scales, residuals }: GroupLimits,
  group: number,
  peak: number,
  { scale, spread, more }: Reach,
): number {
  const product = fround(fround(fround(Math.max(0, peak)) * scales[group]!) * fround(scale));
  return fround(fround(product + fround(residuals[group]! * fround(spread))) + fround(more));
}
