import { seedOf, shuffled } from './random.ts';

/** A number that may be changed. */
export interface Tunable {
  readonly name: string;
  readonly start: number;
  readonly min: number;
  readonly max: number;
}

/** The factors by which a value is multiplied or divided, coarse first. */
const STEPS: readonly number[] = [2, 2 ** 0.5, 2 ** 0.25];
/** A move with a smaller gain is not made, so that the search does not wander on a plateau. */
const LEAST_GAIN = 5e-4;
/** The most rounds at one step. Each round tries all parameters. */
const MOST_ROUNDS = 20;
/** The first value to try for a parameter that starts at 0. */
const FROM_ZERO = 0.1;

/**
 * Maximises `measure` by a pattern search in log space and returns the best values found. In each round, the search
 * goes through the parameters in an order drawn from `seed`, multiplies and divides each value by the step, and keeps
 * the better result. Once no parameter moves, the step gets finer. At the end, each parameter is tried at 0. Values
 * stay within `min` and `max` and are rounded to four significant digits, so that searches over similar data agree.
 */
export async function patternSearch(
  parameters: readonly Tunable[],
  measure: (values: readonly number[]) => number | Promise<number>,
  seed: number,
): Promise<readonly number[]> {
  let best: readonly number[] = parameters.map(({ start }) => start);
  let reached = await measure(best);
  const move = async (at: number, candidates: readonly number[]): Promise<boolean> => {
    const { min, max } = parameters[at] as Tunable;
    const within = candidates.map((each) => Math.min(max, Math.max(min, Number(each.toPrecision(4)))));
    const tried: { readonly values: readonly number[]; readonly reached: number }[] = [];
    for (const value of new Set(within)) {
      if (value === best[at]) continue;
      const values = best.map((each, place) => (place === at ? value : each));
      tried.push({ values, reached: await measure(values) });
    }
    const [top] = tried.sort((left, right) => right.reached - left.reached);
    if (!top || top.reached < reached + LEAST_GAIN) return false;
    ({ values: best, reached } = top);
    return true;
  };
  const orderOf = (round: string) => shuffled([...parameters.keys()], seedOf(seed, 'tune', round));
  for (const [coarseness, step] of STEPS.entries()) {
    for (let round = 0, moved = true; moved && round < MOST_ROUNDS; round++) {
      moved = false;
      for (const at of orderOf(`${coarseness}.${round}`)) {
        const value = best[at] as number;
        if (await move(at, value === 0 ? [FROM_ZERO] : [value * step, value / step])) moved = true;
      }
    }
  }
  for (const at of orderOf('zero')) await move(at, [0]);
  return best;
}
