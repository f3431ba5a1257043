import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { invalidArgument } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { unknown } from '../../domain/options.ts';
import type { Profile } from '../../scoring/profile.ts';
import { type PairedDifference, pairedDifferences } from '../compare.ts';
import type { Dataset } from '../dataset.ts';
import { seedOf, shuffled } from '../random.ts';
import { hashOf } from '../rows.ts';
import type { EvaluationEngine } from '../run.ts';
import { type Arm, createMeasures, type Measured, OBJECTIVES, type Objective } from './measures.ts';
import {
  BALANCES,
  type Balance,
  countedQueries,
  gatherQuestions,
  sharesOf,
  type TunedQuestion,
} from './questions.ts';
import { patternSearch, type Tunable } from './search.ts';

export interface TuneOptions {
  readonly datasets: readonly Dataset[];
  /** The profile to start from. The engine must know it, as a strategy of its name. */
  readonly profile: Profile;
  /** Names of numeric parameters. Default is all whose name begins with `weights.` or `cues.`. */
  readonly parameters?: readonly string[] | undefined;
  /** Default is `ndcg@10`. */
  readonly objective?: Objective | undefined;
  /** What counts the same: each of the `types` of a dataset, `datasets`, or `questions`. Default is `types`. */
  readonly balance?: Balance | undefined;
  /** Types of questions that are left out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** Of the order of the search, of the placebo and of intervals: a whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
  /** What an earlier run had fitted. Of another task it is refused. */
  readonly state?: TuneState | undefined;
  /** Called after each fold with all that is fitted so far. */
  readonly onState?: ((state: TuneState) => Promise<void>) | undefined;
  /** Called before each step: the share that is done, from 0 to 1, and what comes next. */
  readonly onProgress?: ((share: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What has been fitted so far, as JSON. */
export interface TuneState {
  readonly kind: 'tune';
  readonly version: 1;
  /** A hash of everything that the fits follow from. */
  readonly task: string;
  /** The values fitted without a part, by arm and the part's name, in the order of the parameters. */
  readonly fitted: Readonly<Record<Arm, Readonly<Record<string, readonly number[]>>>>;
}

/** What a fit gained on questions that it had not seen. */
export interface HeldOut extends PairedDifference {
  readonly before: number;
  readonly after: number;
}

export interface TuneResult {
  readonly profile: string;
  readonly objective: Objective;
  readonly balance: Balance;
  readonly seed: number;
  /** The number of questions behind the result, and of spaces that they were asked in. */
  readonly questions: number;
  readonly spaces: number;
  readonly datasets: readonly { readonly name: string; readonly sha256: string }[];
  /** The fit on all questions. */
  readonly parameters: readonly { readonly name: string; readonly before: number; readonly after: number }[];
  /** The one measure of what tuning is worth: each question is measured by a fit that its space had no part in. */
  readonly heldOut: Readonly<Record<Objective, HeldOut>>;
  /** The objective where the same is done with drawn memories in place of the evidence: it must gain nothing. */
  readonly placebo: HeldOut;
  readonly folds: readonly {
    readonly name: string;
    readonly questions: number;
    readonly values: readonly number[];
  }[];
  /** Why the result must not be used; empty where it may be. */
  readonly problems: readonly string[];
}

/** Parts of the questions where they come from one space. */
const PARTS = 5;
const ARMS: readonly Arm[] = ['relevant', 'placebo'];

/**
 * Fits numeric parameters of a profile to questions whose right answers are known. What the formula reads is computed
 * once for each question; then values are tried without the engine, by a pattern search in log space. Each space is
 * measured by a fit on the others; with one space, fifths of its questions take the place of spaces. `problems` is empty
 * only if that held-out gain is certain and more than that of the placebo.
 *
 * Rankings are of memories by their own scores: what links and possible updates add is left to an evaluation of the
 * result. Throws `invalid_argument`, `aborted`, and what the engine throws.
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
  const { datasets, profile, seed = 1, excludeTypes, signal } = options;
  const objective = oneOf(options.objective ?? 'ndcg@10', OBJECTIVES, 'objective');
  const balance = oneOf(options.balance ?? 'types', BALANCES, 'balance');
  const names = options.parameters ?? defaultParameters(profile);
  checkNames(profile, names);
  const hashes = datasets.map((dataset) => ({ name: dataset.name, sha256: hashOf(dataset) }));

  const total = datasets
    .flatMap(({ spaces }) => [...spaces.values()])
    .reduce((sum, space) => sum + countedQueries(space, excludeTypes).length, 0);
  if (total < 2) throw invalidArgument('datasets', 'at least two questions with a right answer are needed');
  let read = 0;
  const questions = await gatherQuestions(
    {
      ...{ datasets, strategy: profile.name, excludeTypes, seed, signal },
      onQuestion: () => options.onProgress?.((0.5 * ++read) / total, 'reading what the formula reads'),
    },
    engine,
  );
  const tunables = tunablesOf(profile, names, questions);
  const measures = createMeasures(profile, tunables, questions);
  const start = tunables.map((tunable) => tunable.start);
  const atStart = measures.exact(start, 'relevant') as Measured;
  // What the start is worth stands for the engine: its version, and its embedder.
  const task = hashText(
    JSON.stringify([hashes, profile, names, objective, balance, excludeTypes, seed, [...atStart.mean]]),
  );
  if (options.state && options.state.task !== task) {
    throw invalidArgument('state', 'it belongs to another task: other data, profile or options; start anew');
  }
  const shares = sharesOf(questions, balance);
  const parts = partsOf(questions, seed);
  const fitOf = (arm: Arm, isUsed: (part: string) => boolean): readonly number[] =>
    patternSearch(
      tunables,
      (values) => {
        throwIfAborted(signal);
        return meanOf(measures.quick(values, arm)?.[objective], shares, (at) => isUsed(parts[at] as string));
      },
      seed,
    );

  const distinct = [...new Set(parts)];
  const fitted: Record<Arm, Record<string, readonly number[]>> = {
    relevant: { ...options.state?.fitted.relevant },
    placebo: { ...options.state?.fitted.placebo },
  };
  for (const [place, arm] of ARMS.entries()) {
    for (const [at, part] of distinct.entries()) {
      const share = 0.5 + (0.5 * (place * distinct.length + at)) / (ARMS.length * distinct.length);
      options.onProgress?.(share, `fitting without ${part}`);
      if (fitted[arm][part]) continue;
      // An interrupt is heard only between turns of the event loop.
      await setImmediate();
      fitted[arm][part] = fitOf(arm, (each) => each !== part);
      await options.onState?.({ kind: 'tune', version: 1, task, fitted });
    }
  }
  const heldOutOf = (arm: Arm) => {
    const before = measures.exact(start, arm) as Measured;
    const after = parts.map(
      (part) => measures.exact(fitted[arm][part] as readonly number[], arm) as Measured,
    );
    return heldOut(before, after, { questions, shares, seed });
  };
  const result = heldOutOf('relevant');
  const placebo = heldOutOf('placebo')[objective];
  const values = fitOf('relevant', () => true);
  return {
    ...{ profile: profile.name, objective, balance, seed, questions: questions.length },
    spaces: new Set(questions.map(({ space }) => space)).size,
    datasets: hashes,
    parameters: tunables.map(({ name, start }, at) => ({ name, before: start, after: values[at] as number })),
    heldOut: result,
    placebo,
    folds: distinct.map((part) => ({
      name: part,
      questions: parts.filter((each) => each === part).length,
      values: fitted.relevant[part] as readonly number[],
    })),
    problems: problemsOf(result[objective], placebo, questions.length),
  };
}

/** The parameters that are tuned unless others are named. */
function defaultParameters(profile: Profile): readonly string[] {
  return Object.keys(profile.parameters).filter((name) => /^(?:weights|cues)\./.test(name));
}

function checkNames(profile: Profile, names: readonly string[]): void {
  const numeric = Object.entries(profile.parameters).flatMap(([name, { kind }]) =>
    kind === 'number' ? [name] : [],
  );
  const wrong = names.find((name) => !numeric.includes(name));
  if (wrong !== undefined) throw invalidArgument('parameters', unknown('numeric parameter', wrong, numeric));
  if (names.length > 0 && new Set(names).size === names.length) return;
  throw invalidArgument(
    'parameters',
    `name at least one numeric parameter of ${profile.name}, and each once (available: ${numeric.join(', ') || 'none'})`,
  );
}

function tunablesOf(
  profile: Profile,
  names: readonly string[],
  questions: readonly TunedQuestion[],
): readonly Tunable[] {
  const asked = questions[0]?.features.parameters ?? {};
  return names.map((name) => {
    const parameter = profile.parameters[name];
    if (parameter?.kind !== 'number') throw invalidArgument('parameters', `${name} is no number`);
    const { min = -Infinity, max = Infinity } = parameter;
    return { name, start: asked[name] as number, min, max };
  });
}

/** The part of each question: its space, or a fifth of the only one. */
function partsOf(questions: readonly TunedQuestion[], seed: number): readonly string[] {
  const spaces = questions.map(({ space }) => space);
  if (new Set(spaces).size > 1) return spaces;
  const order = shuffled([...questions.keys()], seedOf(seed, 'tune parts'));
  const placeOf = new Map(order.map((question, place) => [question, place]));
  return questions.map((_, at) => `part ${((placeOf.get(at) as number) % PARTS) + 1}`);
}

/** −∞ where it could not be measured. */
function meanOf(
  values: Float64Array | undefined,
  shares: readonly number[],
  isCounted: (at: number) => boolean,
): number {
  if (!values) return -Infinity;
  let [sum, mass] = [0, 0];
  for (const [at, share] of shares.entries()) {
    if (!isCounted(at)) continue;
    sum += share * (values[at] as number);
    mass += share;
  }
  return sum / mass;
}

function heldOut(
  before: Measured,
  after: readonly Measured[],
  {
    questions,
    shares,
    seed,
  }: {
    readonly questions: readonly TunedQuestion[];
    readonly shares: readonly number[];
    readonly seed: number;
  },
): Readonly<Record<Objective, HeldOut>> {
  const reached = (objective: Objective) =>
    Float64Array.from(after, (measured, at) => measured[objective][at] as number);
  const columns = OBJECTIVES.map((objective) => {
    const values = reached(objective);
    return Array.from(before[objective], (value, at) => (values[at] as number) - value);
  });
  const groups = questions.map(({ space }) => space);
  const differences = pairedDifferences(columns, { weights: shares, groups, seed });
  return Object.fromEntries(
    OBJECTIVES.map((objective, at) => [
      objective,
      {
        before: meanOf(before[objective], shares, () => true),
        after: meanOf(reached(objective), shares, () => true),
        ...(differences[at] as PairedDifference),
      },
    ]),
  ) as Record<Objective, HeldOut>;
}

function problemsOf(gain: HeldOut, placebo: HeldOut, questions: number): readonly string[] {
  const gained = `${gain.difference < 0 ? '−' : '+'}${Math.abs(gain.difference).toFixed(4)}`;
  return [
    ...(gain.interval === undefined ? [`${questions} questions are too few to know`] : []),
    ...(gain.certain && gain.difference > 0
      ? []
      : [`the held-out gain of ${gained} is not certain: an interval of it does not exclude 0`]),
    ...(placebo.difference >= gain.difference && placebo.difference > 0
      ? [`the placebo gains as much: +${placebo.difference.toFixed(4)}`]
      : []),
  ];
}

function oneOf<Value extends string>(value: Value, known: readonly Value[], field: string): Value {
  if (known.includes(value)) return value;
  throw new SalienceError('invalid_argument', unknown(field, value, known), { details: { field } });
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
