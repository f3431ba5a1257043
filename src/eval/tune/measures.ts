import { SalienceError } from '../../domain/errors.ts';
import { type Profile, resolveProfile } from '../../scoring/profile.ts';
import { ndcgAtK, recallAtK } from '../metrics.ts';
import type { TunedQuestion } from './questions.ts';
import { createRanker } from './rank.ts';
import type { Tunable } from './search.ts';

export const OBJECTIVES = ['ndcg@10', 'recall@10', 'mean'] as const;
/** What is to be as great as possible; `mean` is the mean of the other two. */
export type Objective = (typeof OBJECTIVES)[number];

const DEPTH = 10;

/** Whose evidence counts: that of the dataset, or memories that were drawn. */
export type Arm = 'relevant' | 'placebo';

/** One value a question. */
export type Measured = Readonly<Record<Objective, Float64Array>>;

/** Measures all questions at any values of the parameters. */
export interface Measures {
  /** `undefined` where the formula cannot have these values. */
  at(values: readonly number[], arm: Arm): Measured | undefined;
}

/** Each vector of values is ranked once, for all folds and both arms. */
export function createMeasures(
  profile: Profile,
  tunables: readonly Tunable[],
  questions: readonly TunedQuestion[],
): Measures {
  const ranker = createRanker(
    questions.map(({ features }) => features),
    DEPTH,
  );
  const known = new Map<string, Readonly<Record<Arm, Measured>> | undefined>();
  const fixed = questions[0]?.features.parameters ?? {};
  const compute = (values: readonly number[]): Readonly<Record<Arm, Measured>> | undefined => {
    const parameters = Object.fromEntries(tunables.map(({ name }, at) => [name, values[at] as number]));
    let best: Int32Array;
    try {
      best = ranker.rank(resolveProfile(profile, { ...fixed, ...parameters }));
    } catch (error) {
      // With these values the score could leave [0, 1].
      if (SalienceError.isInstance(error) && error.code === 'invalid_profile') return undefined;
      throw error;
    }
    const rankings = questions.map(({ features: { ids } }, at) => {
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
  return {
    at(values, arm) {
      const key = values.join(' ');
      if (!known.has(key)) known.set(key, compute(values));
      return known.get(key)?.[arm];
    },
  };
}
