import { invalidArgument, oneOf } from '../../domain/check.ts';
import { keysOf, onlyKeys } from '../../domain/options.ts';
import {
  checkNames,
  checkState,
  defaultParameters,
  type Fitted,
  fitParameters,
  type TuneState,
} from '../../fit/fit.ts';
import { OBJECTIVES, type Objective } from '../../fit/measures.ts';
import { checkSeed } from '../../fit/random.ts';
import { onlyProfile, type Profile } from '../../scoring/profile.ts';
import { checkDatasets, checkEngine } from '../checks.ts';
import type { Dataset } from '../dataset.ts';
import { hashOf } from '../rows.ts';
import type { EvaluationEngine } from '../run.ts';
import { BALANCES, type Balance, countedQueries, gatherQuestions, sharesOf } from './questions.ts';

export interface TuneOptions {
  readonly datasets: readonly Dataset[];
  /** The profile to start from. The engine must know it as a strategy of the same name. */
  readonly profile: Profile;
  /** Names of numeric parameters. Default is all whose name begins with `weights.` or `cues.`. */
  readonly parameters?: readonly string[] | undefined;
  /** Default is `ndcg@10`. */
  readonly objective?: Objective | undefined;
  /** What has equal weight: `types` of questions within a dataset, `datasets`, or `questions`. Default is `types`. */
  readonly balance?: Balance | undefined;
  /** Types of questions that are left out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** The seed of the search order, the placebo and the intervals: a whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
  /** The state of an earlier run of the same task, to continue from. The state of another task is refused. */
  readonly state?: TuneState | undefined;
  /** Called after each fold with the state so far. */
  readonly onState?: ((state: TuneState) => Promise<void>) | undefined;
  /** Called before each step with the share that is done, 0–1, and a label of the next step. */
  readonly onProgress?: ((share: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TuneResult extends Fitted {
  readonly profile: string;
  readonly objective: Objective;
  readonly balance: Balance;
  readonly seed: number;
  /** The number of questions that the result is based on, and of their spaces. */
  readonly questions: number;
  readonly spaces: number;
  readonly datasets: readonly { readonly name: string; readonly sha256: string }[];
}

const optionKeys = keysOf<TuneOptions>()({
  datasets: true,
  profile: true,
  parameters: true,
  objective: true,
  balance: true,
  excludeTypes: true,
  seed: true,
  state: true,
  onState: true,
  onProgress: true,
  signal: true,
});

/**
 * Fits numeric parameters of a profile to questions with known right answers. The inputs of the formula are computed
 * once for each question; a pattern search in log space then tries values without the engine.
 *
 * Each space is measured by a fit on the other spaces. A single space is divided into fifths of its questions instead:
 * questions that share a relevant memory stay in the same fifth, or, if that would join all of them, questions with the
 * same relevant memories. Spaces with mostly the same memories count as one, whatever their names and datasets, and must
 * not share a question. `problems` is empty only if the held-out gain is certain and larger than that of the placebo.
 *
 * Memories are ranked by their own scores. To see the effect of links and possible updates, evaluate the result. Throws
 * `invalid_argument`, `aborted`, and the errors of the engine.
 *
 * @example
 * ```ts
 * import { builtinProfile } from 'salience/scoring';
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const result = await tune({ datasets, profile: builtinProfile('hybrid'), parameters: ['cues.role'] }, engine);
 * console.log(result.heldOut['ndcg@10'].difference, result.problems);
 * ```
 */
export async function tune(options: TuneOptions, engine: EvaluationEngine): Promise<TuneResult> {
  onlyKeys(options, optionKeys, 'tune');
  const { datasets, profile, seed = 1, excludeTypes, signal } = options;
  checkDatasets(datasets);
  checkEngine(engine);
  onlyProfile(profile);
  const objective = oneOf(options.objective ?? 'ndcg@10', 'objective', OBJECTIVES);
  const balance = oneOf(options.balance ?? 'types', 'balance', BALANCES);
  const names = options.parameters ?? defaultParameters(profile);
  checkNames(profile, names);
  checkSeed(seed);
  if (options.state !== undefined) checkState(options.state, names);
  const hashes = datasets.map((dataset) => ({ name: dataset.name, sha256: hashOf(dataset) }));

  const total = datasets
    .flatMap(({ spaces }) => [...spaces.values()])
    .reduce((sum, space) => sum + countedQueries(space, excludeTypes).length, 0);
  if (total < 2) throw invalidArgument('datasets', 'at least two questions with a right answer are needed');
  let read = 0;
  const reading = () => options.onProgress?.((0.5 * read) / total, 'reading what the formula reads');
  // Loading the first space may take long, and ends before the first question is read.
  reading();
  const questions = await gatherQuestions(
    {
      ...{ datasets, strategy: profile.name, excludeTypes, seed, signal },
      onQuestion: () => {
        read++;
        reading();
      },
    },
    engine,
  );
  const { fitted } = await fitParameters({
    ...{ profile, parameters: names, questions, objective, seed, signal },
    shares: sharesOf(questions, balance),
    task: [hashes, balance, excludeTypes],
    state: options.state,
    onState: options.onState,
    onProgress: (share, label) => options.onProgress?.(0.5 + 0.5 * share, label),
  });
  return {
    ...{ profile: profile.name, objective, balance, seed, questions: questions.length },
    spaces: new Set(questions.map(({ space }) => space)).size,
    datasets: hashes,
    ...(fitted as Fitted),
  };
}
