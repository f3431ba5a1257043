import { finiteNumbers, invalidArgument, list } from '../domain/check.ts';
import { describe } from '../domain/describe.ts';
import { SalienceError } from '../domain/errors.ts';
import { onlyKeys } from '../domain/options.ts';
import { checkRounds, checkSeed, randomWords } from './random.ts';

/** The range that 95 % of the resampled means fall into. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  /** The weight of each value, above 0. Default is 1 for all. */
  readonly weights?: readonly number[] | undefined;
  /**
   * The group of each value. Whole groups are then drawn instead of single values, because values from one conversation
   * are correlated and so are less evidence than independent ones. Default is to draw values.
   */
  readonly groups?: readonly string[] | undefined;
  /** Resamples, 1–10,000,000. Default is 5,000. */
  readonly rounds?: number | undefined;
  /** The same seed gives the same intervals. A whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
}

/** The rounding error of a sum, relative to the size of its terms. */
const ROUNDING = 1e-12;

/**
 * Returns the 95 % percentile bootstrap interval of the mean of each column. Rows are resampled with replacement, the
 * same ones for all columns. For columns of paired differences this is the paired bootstrap. Throws `invalid_argument`
 * unless the columns hold finite numbers and have the same length of at least 1, and for an option out of range.
 *
 * Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; groups: Field and Welsh, 2007,
 * doi:10.1111/j.1467-9868.2007.00593.x.
 *
 * @example
 * ```ts
 * const gains = [0.2, 0, 0.5, 0.1, 0, 0.3, 0.4, 0, 0.2, 0.1];
 * bootstrapIntervals([gains]); // [ { low: 0.08, high: 0.29 } ]
 * ```
 */
export function bootstrapIntervals(
  columns: readonly (readonly number[])[],
  options: BootstrapOptions = {},
): readonly Interval[] {
  onlyKeys(options, ['weights', 'groups', 'rounds', 'seed'], 'bootstrapIntervals');
  for (const [at, column] of list(columns, 'columns').entries()) finiteNumbers(column, `columns[${at}]`);
  const count = columns[0]?.length ?? 0;
  const { weights, groups, rounds = 5000, seed = 1 } = options;
  const lengths = [...columns, weights ?? columns[0], groups ?? columns[0]].map((list) => list?.length);
  if (count === 0 || lengths.some((length) => length !== count)) {
    throw new SalienceError(
      'invalid_argument',
      `columns, weights and groups must have one length of at least 1; they have ${lengths.join(', ')}`,
    );
  }
  checkRounds(rounds);
  checkSeed(seed);
  const wrong = weights?.findIndex((weight) => !(Number.isFinite(weight) && weight > 0)) ?? -1;
  if (wrong >= 0) {
    throw invalidArgument(`weights[${wrong}]`, `${describe(weights?.[wrong])} must be a number above 0`);
  }
  // Units are drawn: a unit is a value, or the sum of a group. The mean is a ratio of two sums.
  const unitOf = unitsOf(groups, count);
  const units = unitOf.reduce((most, unit) => Math.max(most, unit + 1), 0);
  const mass = new Float64Array(units);
  const sums = columns.map(() => new Float64Array(units));
  const sizes = new Float64Array(columns.length);
  for (let index = 0; index < count; index++) {
    const [unit, weight] = [unitOf[index] ?? 0, weights?.[index] ?? 1];
    mass[unit] = (mass[unit] ?? 0) + weight;
    columns.forEach((column, at) => {
      const sum = sums[at] as Float64Array;
      const value = weight * (column[index] ?? 0);
      sum[unit] = (sum[unit] ?? 0) + value;
      sizes[at] = (sizes[at] ?? 0) + Math.abs(value);
    });
  }

  const random = randomWords(seed);
  const means = columns.map(() => new Float64Array(rounds));
  const drawn = new Uint32Array(units);
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < units; at++) drawn[at] = Math.floor((random() / 2 ** 32) * units);
    const total = sumOf(mass, drawn);
    sums.forEach((sum, at) => {
      const reached = sumOf(sum, drawn);
      // A sum that is mathematically 0 may differ in its last bits, and an interval that ends there would exclude 0.
      const isZero = Math.abs(reached) <= ROUNDING * (sizes[at] as number);
      (means[at] as Float64Array)[round] = isZero ? 0 : reached / total;
    });
  }
  return means.map((values) => {
    values.sort();
    return { low: quantile(values, 0.025), high: quantile(values, 0.975) };
  });
}

function unitsOf(groups: readonly string[] | undefined, count: number): readonly number[] {
  if (groups === undefined) return Array.from({ length: count }, (_, index) => index);
  const numbers = new Map<string, number>();
  return groups.map((group) => {
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  });
}

function sumOf(values: Float64Array, at: Uint32Array): number {
  let sum = 0;
  for (let index = 0; index < at.length; index++) sum += values[at[index] as number] as number;
  return sum;
}

/** Returns a quantile of sorted values by linear interpolation. */
function quantile(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (place - below) * (high - low);
}
