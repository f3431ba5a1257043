import { setImmediate } from 'node:timers/promises';
import { invalidArgument, listOf, oneOf, text, texts, wholeNumber } from '../../domain/check.ts';
import { SalienceError, throwIfAborted } from '../../domain/errors.ts';
import { onlyKeys, unknownStrategy } from '../../domain/options.ts';
import { LONGEST_QUERY, longQuery } from '../../domain/query.ts';
import { type QuestionFeatures, readFeatures } from '../../fit/features.ts';
import {
  checkNames,
  checkState,
  defaultParameters,
  type FitQuestion,
  type Fitted,
  fitParameters,
  type TuneState,
} from '../../fit/fit.ts';
import { OBJECTIVES, type Objective } from '../../fit/measures.ts';
import { checkSeed, seedOf, shuffled } from '../../fit/random.ts';
import type { Dependencies } from '../dependencies.ts';
import { prepareRecall } from '../recall/recall.ts';
import type { OperationOptions } from '../types.ts';

/** A question, and the memories that answer it. */
export interface LabelledQuestion {
  readonly query: string;
  /** The ids of the memories that should be found, at least one; each must exist. */
  readonly relevant: readonly string[];
}

export interface FitOptions extends OperationOptions {
  /** The strategy whose parameters are fitted. Default is `hybrid`. */
  readonly strategy?: string | undefined;
  /** Names of the numeric parameters to fit. Default is all that begin with `weights.` or `cues.`. */
  readonly parameters?: readonly string[] | undefined;
  /** The measure to maximise. Default is `ndcg@10`. */
  readonly objective?: Objective | undefined;
  /** Seeds the order of the search, the placebo and the intervals: a whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
  /** Most fits in this call, at least 1; continue with `state`. Default is all. */
  readonly steps?: number | undefined;
  /**
   * The `state` of an earlier result, with the same questions and options. The questions must still be answered as they
   * were then.
   */
  readonly state?: TuneState | undefined;
}

export interface FitResult {
  readonly strategy: string;
  readonly objective: Objective;
  readonly seed: number;
  /** The number of questions. */
  readonly questions: number;
  /** The share of the work that is done, 0–1. */
  readonly share: number;
  /** Pass this to the next call to continue. */
  readonly state: TuneState;
  /** The result; absent until `share` is 1. */
  readonly fitted?: Fitted | undefined;
}

const PAGE = 200;
const MOST_QUESTIONS = 1000;
/** Most questions times memories: each takes some hundred bytes. */
const MOST_ROWS = 5_000_000;

/**
 * Fits parameters of a strategy to questions about the memories of this space. Yields to other work in between and
 * writes nothing. Throws `embedder_failed` if a question cannot be searched by its vector.
 */
export async function fit(
  engine: Dependencies,
  questions: readonly LabelledQuestion[],
  options: FitOptions = {},
): Promise<FitResult> {
  const { strategy = 'hybrid', seed = 1, steps, state, signal } = options;
  const objective = oneOf(options.objective ?? 'ndcg@10', 'objective', OBJECTIVES);
  checkSeed(seed);
  if (steps !== undefined) wholeNumber(steps, 'steps', 1, 1000);
  const profile = engine.profiles.get(strategy)?.();
  if (!profile) throw unknownStrategy(strategy, [...engine.profiles.keys()]);
  const parameters = listOf(options.parameters ?? defaultParameters(profile), 'parameters');
  checkNames(profile, parameters);
  if (state !== undefined) checkState(state, parameters);
  const asked = checkQuestions(questions);
  const ids = await everyId(engine, signal);
  checkKnown(asked, ids, engine.space.name);
  if (ids.length * asked.length > MOST_ROWS) {
    throw invalidArgument(
      'questions',
      `${asked.length} questions about ${ids.length} memories are too many for one process; use "salience tune" on a dataset of some of them`,
    );
  }
  const drawn = shuffled(ids, seedOf(seed, 'tune placebo', '0', engine.space.name));
  const placeboOf = new Map(ids.map((id, at) => [id, drawn[at] as string]));
  const read: FitQuestion[] = [];
  for (const [at, { query, relevant }] of asked.entries()) {
    await setImmediate();
    throwIfAborted(signal);
    read.push({
      space: engine.space.name,
      relevant: new Set(relevant),
      placebo: new Set(relevant.map((id) => placeboOf.get(id) ?? id)),
      features: await featuresOf(engine, query, `questions[${at}]`, ids, options, strategy),
    });
  }
  const result = await fitParameters({
    ...{ profile, parameters, questions: read, objective, seed, steps, state, signal },
    shares: read.map(() => 1 / read.length),
    task: asked,
  });
  return { strategy, objective, seed, questions: asked.length, ...result };
}

async function featuresOf(
  engine: Dependencies,
  query: string,
  field: string,
  ids: readonly string[],
  { now, signal }: FitOptions,
  strategy: string,
): Promise<QuestionFeatures> {
  const options = { strategy, track: false, limit: 1, association: 'none', now, signal } as const;
  const { plan, preparation } = await prepareRecall(engine, query, options);
  const failed = preparation.arms.find(({ status }) => status === 'failed');
  // A recall goes on without the vector, but a fit without it would pass for a fit of the whole formula.
  if (failed) {
    throw new SalienceError(
      'embedder_failed',
      `${field}.query: the ${failed.name} search failed: ${failed.reason}; try again, with the state that there is`,
      { details: { field: `${field}.query` } },
    );
  }
  return engine.space.snapshot((snapshot) => readFeatures(snapshot, plan.request, ids));
}

async function everyId({ space }: Dependencies, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    throwIfAborted(signal);
    const page = await space.list({ filter: {}, limit: PAGE, cursor });
    ids.push(...page.memories.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  // Sorted, so that the draw does not depend on the order of writes.
  return ids.sort();
}

function checkQuestions(questions: readonly LabelledQuestion[]): readonly LabelledQuestion[] {
  if (!Array.isArray(questions) || questions.length < 2 || questions.length > MOST_QUESTIONS) {
    throw invalidArgument(
      'questions',
      `expected a list of 2 to ${MOST_QUESTIONS} questions with right answers`,
    );
  }
  return questions.map((each, at) => {
    const field = `questions[${at}]`;
    if (typeof each !== 'object' || each === null) {
      throw invalidArgument(field, 'expected { query, relevant }');
    }
    onlyKeys(each, ['query', 'relevant'], field);
    const relevant = texts(each.relevant, `${field}.relevant`, 1000, 1000);
    if (relevant.length === 0) throw invalidArgument(`${field}.relevant`, 'name at least one memory');
    const query = text(each.query, `${field}.query`);
    if (query.length > LONGEST_QUERY) throw invalidArgument(`${field}.query`, longQuery(query.length));
    return { query, relevant };
  });
}

/** Throws `invalid_argument` for an id without a memory, as `eval` and `tune` do: it would count as never found. */
function checkKnown(questions: readonly LabelledQuestion[], ids: readonly string[], space: string): void {
  const known = new Set(ids);
  for (const [at, { relevant }] of questions.entries()) {
    const wrong = relevant.find((id) => !known.has(id));
    if (wrong === undefined) continue;
    throw invalidArgument(
      `questions[${at}].relevant`,
      `memory ${JSON.stringify(wrong)} does not exist in space ${JSON.stringify(space)}; correct the id or leave it out`,
    );
  }
}
