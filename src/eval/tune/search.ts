import { seedOf, shuffled } from '../random.ts';

/** A number that may be changed. */
export interface Tunable {
  readonly name: string;
  readonly start: number;
  readonly min: number;
  readonly max: number;
}

/** By what a value is multiplied or divided, coarse first. */
const STEPS: readonly number[] = [2, 2 ** 0.5, 2 ** 0.25];
/** A move that gains less stays undone: on a plateau the search keeps still. */
const LEAST_GAIN = 5e-4;
/** Rounds at one step; each goes through all parameters. */
const MOST_ROUNDS = 20;
/** What a parameter that starts at 0 is first set to. */
const FROM_ZERO = 0.1;

/**
 * The values at which `measure` is greatest, as far as a pattern search in log space finds them: parameter by parameter,
 * in an order that `seed` draws anew each round, the value is multiplied and divided by a step, or set to 0, and the best
 * of these is kept; once no parameter moves, the step gets finer. Values stay within `min` and `max` and have four
 * significant digits, so that searches over like data meet in the same values.
 */
export function patternSearch(
  parameters: readonly Tunable[],
  measure: (values: readonly number[]) => number,
  seed: number,
): readonly number[] {
  let best = parameters.map(({ start }) => start);
  let reached = measure(best);
  for (const [coarseness, step] of STEPS.entries()) {
    for (let round = 0, moved = true; moved && round < MOST_ROUNDS; round++) {
      moved = false;
      const order = shuffled([...parameters.keys()], seedOf(seed, 'tune', `${coarseness}.${round}`));
      for (const at of order) {
        const parameter = parameters[at] as Tunable;
        const tried = neighbours(parameter, best[at] as number, step, coarseness === 0).map((value) => {
          const values = best.map((each, place) => (place === at ? value : each));
          return { values, reached: measure(values) };
        });
        const [top] = tried.sort((left, right) => right.reached - left.reached);
        if (!top || top.reached < reached + LEAST_GAIN) continue;
        ({ values: best, reached } = top);
        moved = true;
      }
    }
  }
  return best;
}

function neighbours(
  { start, min, max }: Tunable,
  value: number,
  step: number,
  zeroToo: boolean,
): readonly number[] {
  const around = value === 0 ? [start || FROM_ZERO] : [value * step, value / step];
  const within = [...around, ...(zeroToo ? [0] : [])].map((each) =>
    Math.min(max, Math.max(min, Number(each.toPrecision(4)))),
  );
  return [...new Set(within)].filter((each) => each !== value);
}
