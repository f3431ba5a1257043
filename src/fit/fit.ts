import { createHash } from 'node:crypto';
import { invalidArgument } from '../domain/check.ts';
import { type SalienceError, throwIfAborted } from '../domain/errors.ts';
import { unknown } from '../domain/options.ts';
import { startLongSlices } from '../domain/slices.ts';
import type { Profile } from '../scoring/profile.ts';
import type { QuestionFeatures } from './features.ts';
import { type Arm, createMeasures, type Measured, OBJECTIVES, type Objective } from './measures.ts';
import { type PairedDifference, pairedDifferences } from './paired.ts';
import { seedOf, shuffled } from './random.ts';
import { patternSearch, type Tunable } from './search.ts';

/** A question with a right answer, and the features that determine its ranking. */
export interface FitQuestion {
  /** The unit that is held out: the index of the dataset and the name of the first space with mostly the same memories. */
  readonly space: string;
  readonly relevant: ReadonlySet<string>;
  /** The contents of the relevant memories, if other ids may have the same content. Default is their ids. */
  readonly answers?: ReadonlySet<string> | undefined;
  /** As many memories as `relevant` has, drawn from the others of the space. */
  readonly placebo: ReadonlySet<string>;
  readonly features: QuestionFeatures;
}

export interface FitTask {
  readonly profile: Profile;
  /** Names of numeric parameters. */
  readonly parameters: readonly string[];
  readonly questions: readonly FitQuestion[];
  /** The share of each question in the mean. */
  readonly shares: readonly number[];
  readonly objective: Objective;
  readonly seed: number;
  /** Everything else that determines the fits. It is part of the hash that a state belongs to. */
  readonly task: unknown;
  readonly state?: TuneState | undefined;
  /** The most fits to run in this call. If more are left, only the state is returned. Default is all. */
  readonly steps?: number | undefined;
  readonly onState?: ((state: TuneState) => Promise<void>) | undefined;
  /** Called with the share of fits that are done, 0–1, and a label of the next one. */
  readonly onProgress?: ((share: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The gain of a fit on questions it has not seen. */
export interface HeldOut extends PairedDifference {
  readonly before: number;
  readonly after: number;
}

/** The fits so far, as JSON. */
export interface TuneState {
  readonly kind: 'tune';
  readonly version: 1;
  /** A hash of everything that determines the fits. */
  readonly task: string;
  /** The values fitted without a part, by arm and name of the part, in the order of the parameters. */
  readonly fitted: Readonly<Record<Arm, Readonly<Record<string, readonly number[]>>>>;
}

/** The result of a fit. */
export interface Fitted {
  /** The fit on all questions. */
  readonly parameters: readonly { readonly name: string; readonly before: number; readonly after: number }[];
  /** The only valid measure of the gain: each question is measured with a fit that did not use its space. */
  readonly heldOut: Readonly<Record<Objective, HeldOut>>;
  /** The objective of the same procedure with randomly drawn memories as evidence, which must gain nothing. */
  readonly placebo: HeldOut;
  readonly folds: readonly {
    readonly name: string;
    readonly questions: number;
    readonly values: readonly number[];
  }[];
  /** Why the result must not be used; empty if it may be. */
  readonly problems: readonly string[];
}

/** The number of parts that the questions of a single space are divided into. */
const PARTS = 5;
const ARMS: readonly Arm[] = ['relevant', 'placebo'];

/**
 * Fits parameters to questions: once without each part, both with the real evidence and with randomly drawn memories,
 * and then to all of them. Returns the state so far, its share of all fits, and the result once the share is 1.
 *
 * Throws `invalid_argument` for a state of another task, `aborted`.
 */
export async function fitParameters({
  profile,
  parameters,
  questions,
  shares,
  objective,
  seed,
  ...options
}: FitTask): Promise<{
  readonly state: TuneState;
  readonly share: number;
  readonly fitted?: Fitted | undefined;
}> {
  const { signal, steps = Number.POSITIVE_INFINITY } = options;
  const tunables = tunablesOf(profile, parameters, questions);
  const slices = startLongSlices();
  const measures = createMeasures(profile, tunables, questions, () => {
    throwIfAborted(signal);
    return slices();
  });
  const start = tunables.map((tunable) => tunable.start);
  const atStart = (await measures.exact(start, 'relevant')) as Measured;
  // The metrics at the start are hashed too: they change with the version of the engine and its embedder.
  const task = hashText(
    JSON.stringify([options.task, profile, parameters, objective, seed, [...atStart.mean]]),
  );
  if (options.state && options.state.task !== task) {
    throw invalidArgument(
      'state',
      'it belongs to another task, with other data, another profile or other options; start again',
    );
  }
  const isWithin = (value: number, at: number) => {
    const { min, max } = tunables[at] as Tunable;
    return value >= min && value <= max;
  };
  const known = ARMS.flatMap((arm) => Object.values(options.state?.fitted[arm] ?? {}));
  if (!known.every((values) => values.every(isWithin))) throw notFitted();
  const parts = partsOf(questions, seed);
  const fitOf = (arm: Arm, isUsed: (part: string) => boolean): Promise<readonly number[]> =>
    patternSearch(
      tunables,
      async (values) => {
        // Needed here as well, because values that were measured before take no time slice.
        throwIfAborted(signal);
        const measured = await measures.quick(values, arm);
        return meanOf(measured?.[objective], shares, (at) => isUsed(parts[at] as string));
      },
      seed,
    );

  const distinct = [...new Set(parts)];
  const fitted: Record<Arm, Record<string, readonly number[]>> = {
    relevant: { ...options.state?.fitted.relevant },
    placebo: { ...options.state?.fitted.placebo },
  };
  const state: TuneState = { kind: 'tune', version: 1, task, fitted };
  const fits = ARMS.length * distinct.length + 1;
  const left = ARMS.flatMap((arm) => distinct.map((part) => ({ arm, part }))).filter(
    ({ arm, part }) => !fitted[arm][part],
  );
  for (const [at, { arm, part }] of left.entries()) {
    const share = (fits - 1 - left.length + at) / fits;
    if (at >= steps) return { state, share };
    options.onProgress?.(share, `fitting without ${part}`);
    fitted[arm][part] = await fitOf(arm, (each) => each !== part);
    await options.onState?.(state);
  }
  if (left.length >= steps) return { state, share: (fits - 1) / fits };
  const heldOutOf = async (arm: Arm) => {
    const before = (await measures.exact(start, arm)) as Measured;
    const after: Measured[] = [];
    for (const part of parts) {
      const measured = await measures.exact(fitted[arm][part] as readonly number[], arm);
      // A search never ends at values that are invalid for the formula.
      if (!measured) throw notFitted();
      after.push(measured);
    }
    return heldOut(before, after, { questions, shares, seed });
  };
  const result = await heldOutOf('relevant');
  const { [objective]: placebo } = await heldOutOf('placebo');
  const values = await fitOf('relevant', () => true);
  return {
    state,
    share: 1,
    fitted: {
      parameters: tunables.map(({ name, start }, at) => ({
        name,
        before: start,
        after: values[at] as number,
      })),
      heldOut: result,
      placebo,
      folds: distinct.map((part) => ({
        name: part,
        questions: parts.filter((each) => each === part).length,
        values: fitted.relevant[part] as readonly number[],
      })),
      problems: problemsOf(result[objective], placebo, questions),
    },
  };
}

/** Returns the parameters that are tuned by default. */
export function defaultParameters(profile: Profile): readonly string[] {
  return Object.keys(profile.parameters).filter((name) => /^(?:weights|cues)\./.test(name));
}

/** Throws `invalid_argument` unless these are numeric parameters, each named once. */
export function checkNames(profile: Profile, names: readonly string[]): void {
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

/** Throws `invalid_argument` unless the state has the form that a fit of these parameters returns. */
export function checkState(state: TuneState, parameters: readonly string[]): void {
  const isFitted = (values: unknown) =>
    Array.isArray(values) && values.length === parameters.length && values.every(Number.isFinite);
  const isArm = (fitted: unknown) =>
    typeof fitted === 'object' && fitted !== null && Object.values(fitted).every(isFitted);
  const isState =
    state?.kind === 'tune' && state.version === 1 && ARMS.every((arm) => isArm(state.fitted?.[arm]));
  if (!isState) throw notFitted();
}

function notFitted(): SalienceError {
  return invalidArgument(
    'state',
    'it is not a state that an earlier fit of these parameters returned; leave it out to start again',
  );
}

function tunablesOf(
  profile: Profile,
  names: readonly string[],
  questions: readonly FitQuestion[],
): readonly Tunable[] {
  const asked = questions[0]?.features.parameters ?? {};
  return names.map((name) => {
    const parameter = profile.parameters[name];
    if (parameter?.kind !== 'number') throw invalidArgument('parameters', `${name} is not a number`);
    const { min = -Infinity, max = Infinity } = parameter;
    return { name, start: asked[name] as number, min, max };
  });
}

/** Returns the part of each question: its space, or a fifth of the questions if there is only one space. */
function partsOf(questions: readonly FitQuestion[], seed: number): readonly string[] {
  const spaces = questions.map(({ space }) => space);
  if (new Set(spaces).size > 1) return spaces;
  const groups = heldTogether(questions);
  const members = new Map<number, number[]>();
  for (const at of shuffled([...questions.keys()], seedOf(seed, 'tune parts'))) {
    const group = groups[at] as number;
    members.set(group, [...(members.get(group) ?? []), at]);
  }
  const sizes = Array<number>(PARTS).fill(0);
  const parts = Array<string>(questions.length);
  for (const group of members.values()) {
    const part = sizes.indexOf(Math.min(...sizes));
    sizes[part] = (sizes[part] as number) + group.length;
    for (const at of group) parts[at] = `part ${part + 1}`;
  }
  return parts;
}

/**
 * Groups questions that must be held out together, because a fit must not see the answers it is measured on. Returns
 * the first question of the group of each. Questions that share an answer form a group. If that joins all of them, only
 * questions with the same answers do, and if that does too, none: otherwise nothing would be left to fit to.
 */
function heldTogether(questions: readonly FitQuestion[]): readonly number[] {
  const isOne = (groups: readonly number[]) => new Set(groups).size === 1;
  const sharing = groupsOf(questions, ({ relevant, answers = relevant }) => answers);
  if (!isOne(sharing)) return sharing;
  const alike = groupsOf(questions, answersOf);
  return isOne(alike) ? [...questions.keys()] : alike;
}

function answersOf({ space, relevant, answers = relevant }: FitQuestion): readonly string[] {
  return [JSON.stringify([space, ...[...answers].sort()])];
}

/** Returns for each question the first question that it shares a key with, directly or through others. */
function groupsOf(
  questions: readonly FitQuestion[],
  keysOf: (question: FitQuestion) => Iterable<string>,
): readonly number[] {
  const groups = [...questions.keys()];
  const groupOf = (at: number): number => {
    let group = at;
    while (groups[group] !== group) group = groups[group] as number;
    return group;
  };
  const answered = new Map<string, number>();
  for (const [at, question] of questions.entries()) {
    for (const key of keysOf(question)) {
      const [one, other] = [groupOf(answered.get(key) ?? at), groupOf(at)];
      groups[Math.max(one, other)] = Math.min(one, other);
      answered.set(key, one);
    }
  }
  return groups.map((_, at) => groupOf(at));
}

/** Returns the weighted mean of the counted values, or −∞ if they could not be measured. */
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
    readonly questions: readonly FitQuestion[];
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

function problemsOf(gain: HeldOut, placebo: HeldOut, questions: readonly FitQuestion[]): readonly string[] {
  const gained = `${gain.difference < 0 ? '−' : '+'}${Math.abs(gain.difference).toFixed(4)}`;
  const doubt = gain.certain
    ? `the held-out difference of ${gained} is a certain loss; keep the values as they were`
    : `the held-out gain of ${gained} is not certain: an interval of it does not exclude 0`;
  return [
    ...(gain.interval === undefined ? [`${questions.length} questions are too few to know`] : []),
    ...(new Set(questions.flatMap(answersOf)).size === 1
      ? ['all questions have the same right answers, so none was held out; ask for other memories too']
      : []),
    ...(gain.certain && gain.difference > 0 ? [] : [doubt]),
    ...(placebo.difference >= gain.difference && placebo.difference > 0
      ? [`the placebo gains as much: +${placebo.difference.toFixed(4)}`]
      : []),
  ];
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
