import { SalienceError } from '../domain/errors.ts';
import { type Slices, startLongSlices } from '../domain/slices.ts';
import { type Profile, type ResolvedProfile, resolveProfile } from '../scoring/profile.ts';
import { ofRows, type QuestionFeatures } from './features.ts';
import type { FitQuestion } from './fit.ts';
import { ndcgAtK, recallAtK } from './metrics.ts';
import { createRanker } from './rank.ts';
import type { Tunable } from './search.ts';

export const OBJECTIVES = ['ndcg@10', 'recall@10', 'mean'] as const;
/** The metric to maximise; `mean` is the mean of the other two. */
export type Objective = (typeof OBJECTIVES)[number];

const DEPTH = 10;
/** How deep each ranking goes that a pool is made of. */
const POOL_DEPTH = 40;
const POOL_FACTOR = 8;

/** What counts as evidence: the relevant memories of the dataset, or randomly drawn ones. */
export type Arm = 'relevant' | 'placebo';

/** One value per question. */
export type Measured = Readonly<Record<Objective, Float64Array>>;

/** Measures all questions at given values of the parameters; `undefined` if the values are invalid for the formula. */
export type Measure = (values: readonly number[], arm: Arm) => Promise<Measured | undefined>;

export interface Measures {
  /** Ranks all memories. */
  readonly exact: Measure;
  /**
   * Ranks only a pool of memories: those among the best at the start, or after setting a single parameter much higher
   * or to 0. Several times as fast, for the search.
   */
  readonly quick: Measure;
}

/** Creates measures that rank each vector of values once for all folds and both arms, in time slices. */
export function createMeasures(
  profile: Profile,
  tunables: readonly Tunable[],
  questions: readonly FitQuestion[],
  slices: Slices = startLongSlices(),
): Measures {
  const features = questions.map((question) => question.features);
  const ranking = { resolve: resolver(profile, tunables, features[0]?.parameters ?? {}), slices };
  let quick: Measure | undefined;
  return {
    exact: measureOver(features, questions, ranking),
    async quick(values, arm) {
      quick ??= measureOver(await poolsOf(features, tunables, ranking), questions, ranking);
      return quick(values, arm);
    },
  };
}

type Resolve = (values: readonly number[]) => ResolvedProfile | undefined;

interface Ranking {
  readonly resolve: Resolve;
  readonly slices: Slices;
}

function resolver(
  profile: Profile,
  tunables: readonly Tunable[],
  fixed: QuestionFeatures['parameters'],
): Resolve {
  return (values) => {
    const parameters = Object.fromEntries(tunables.map(({ name }, at) => [name, values[at] as number]));
    try {
      return resolveProfile(profile, { ...fixed, ...parameters });
    } catch (error) {
      // With these values the score could leave [0, 1].
      if (SalienceError.isInstance(error) && error.code === 'invalid_profile') return undefined;
      throw error;
    }
  };
}

function measureOver(
  features: readonly QuestionFeatures[],
  questions: readonly FitQuestion[],
  { resolve, slices }: Ranking,
): Measure {
  const ranker = createRanker(features, DEPTH);
  const known = new Map<string, Readonly<Record<Arm, Measured>> | undefined>();
  const compute = async (values: readonly number[]): Promise<Readonly<Record<Arm, Measured>> | undefined> => {
    const resolved = resolve(values);
    if (!resolved) return undefined;
    const best = await ranker.rank(resolved, slices);
    const rankings = features.map(({ ids }, at) => {
      const rows = best.subarray(at * DEPTH, (at + 1) * DEPTH);
      return [...rows].flatMap((row) => (row < 0 ? [] : (ids[row] as string)));
    });
    const measured = (arm: Arm): Measured => {
      const each = (measure: typeof ndcgAtK) =>
        Float64Array.from(questions, (question, at) => measure(rankings[at] ?? [], question[arm], DEPTH));
      const [ndcg, recall] = [each(ndcgAtK), each(recallAtK)];
      return {
        'ndcg@10': ndcg,
        'recall@10': recall,
        mean: ndcg.map((value, at) => (value + (recall[at] as number)) / 2),
      };
    };
    return { relevant: measured('relevant'), placebo: measured('placebo') };
  };
  return async (values, arm) => {
    const key = values.join(' ');
    if (!known.has(key)) known.set(key, await compute(values));
    return known.get(key)?.[arm];
  };
}

async function poolsOf(
  features: readonly QuestionFeatures[],
  tunables: readonly Tunable[],
  { resolve, slices }: Ranking,
): Promise<readonly QuestionFeatures[]> {
  const ranker = createRanker(features, POOL_DEPTH);
  const start = tunables.map((tunable) => tunable.start);
  const far = tunables.flatMap(({ min, max, start: value }, at) =>
    [value * POOL_FACTOR, 0].map((each) => {
      const within = Math.min(max, Math.max(min, each));
      return start.map((other, place) => (place === at ? within : other));
    }),
  );
  const pools = features.map(() => new Set<number>());
  for (const values of [start, ...far]) {
    const resolved = resolve(values);
    if (!resolved) continue;
    const best = await ranker.rank(resolved, slices);
    for (const [place, pool] of pools.entries()) {
      for (const row of best.subarray(place * POOL_DEPTH, (place + 1) * POOL_DEPTH)) {
        if (row >= 0) pool.add(row);
      }
    }
  }
  return features.map((each, at) =>
    ofRows(
      each,
      [...(pools[at] as Set<number>)].sort((a, b) => a - b),
    ),
  );
}
