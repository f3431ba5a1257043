import { finiteNumbers } from '../domain/check.ts';
import { SalienceError } from '../domain/errors.ts';
import { onlyKeys } from '../domain/options.ts';
import { checkRounds, checkSeed, randomWords } from '../fit/random.ts';

export interface RandomisationOptions {
  /** Random relabellings if there are too many to try all, 1–10,000,000. Default is 10,000. */
  readonly rounds?: number | undefined;
  /** The same seed gives the same p. A whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
}

/**
 * The two-sided p-value of the paired randomisation (Fisher) test of the difference in means: how often swapping the
 * two values of pairs at random gives a difference at least as large as the one seen. Exact when all swaps of the
 * pairs that differ are at most `rounds`, else estimated as (hits + 1)/(rounds + 1). 1 when no pair differs.
 * Throws `invalid_argument` when the lists are not pairs of finite numbers, and for an option out of its range.
 *
 * Sources: Smucker, Allan and Carterette, 2007, doi:10.1145/1321440.1321528; the estimate: Phipson and Smyth, 2010,
 * doi:10.2202/1544-6115.1585.
 *
 * @example
 * ```ts
 * const first = [1, 0, 1, 1, 0, 1];
 * const second = [1, 1, 1, 1, 1, 1];
 * pairedRandomisationTest(first, second); // 0.5: two queries prove nothing
 * ```
 */
export function pairedRandomisationTest(
  first: readonly number[],
  second: readonly number[],
  options: RandomisationOptions = {},
): number {
  onlyKeys(options, ['rounds', 'seed'], 'pairedRandomisationTest');
  finiteNumbers(first, 'first');
  finiteNumbers(second, 'second');
  if (first.length !== second.length) {
    throw new SalienceError(
      'invalid_argument',
      `${first.length} values cannot be paired with ${second.length}; compare the same queries in the same order`,
    );
  }
  const { rounds = 10_000, seed = 1 } = options;
  checkRounds(rounds);
  checkSeed(seed);
  // A pair without a difference looks the same after a swap.
  const differences = first
    .map((value, index) => value - second[index]!)
    .filter((difference) => difference !== 0);
  const total = (signs: (index: number) => boolean): number => {
    let sum = 0;
    for (let index = 0; index < differences.length; index++) {
      sum += signs(index) ? differences[index]! : -differences[index]!;
    }
    return Math.abs(sum);
  };
  const observed = total(() => true);
  // Mathematically equal sums may differ in their last bits, depending on the signs.
  const threshold = observed - 1e-9 * differences.reduce((sum, each) => sum + Math.abs(each), 0);

  if (differences.length < 31 && 2 ** differences.length <= rounds) {
    const relabellings = 2 ** differences.length;
    let hits = 0;
    for (let signs = 0; signs < relabellings; signs++) {
      if (total((index) => ((signs >>> index) & 1) === 0) >= threshold) hits++;
    }
    return hits / relabellings;
  }
  const random = randomWords(seed);
  let word = 0;
  let hits = 0;
  for (let round = 0; round < rounds; round++) {
    const sum = total((index) => {
      word = index % 32 === 0 ? random() : word >>> 1;
      return (word & 1) === 0;
    });
    if (sum >= threshold) hits++;
  }
  return (hits + 1) / (rounds + 1);
}
