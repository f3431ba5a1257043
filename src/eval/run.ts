import { list, number, text } from '../domain/check.ts';
import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import { keysOf, onlyKeys } from '../domain/options.ts';
import type { Instant } from '../domain/time.ts';
import type { QuestionFeatures } from '../fit/features.ts';
import { checkSeed } from '../fit/random.ts';
import { checkDatasets, checkEngine } from './checks.ts';
import { mapConcurrently } from './concurrency.ts';
import type { Dataset, DatasetMemory, DatasetQuery, DatasetSpace } from './dataset.ts';
import { type KeptAs, keptIds, keptJudgements } from './judgements.ts';
import { isPlacebo, rankPlacebo } from './placebo.ts';
import { type EvaluationResult, type QueryOutcome, summarise } from './report.ts';

/** The engine under evaluation: it stores the memories of a space and ranks them for a query. */
export interface EvaluationEngine {
  /** Opens an empty space, even if a space of this name held memories before. */
  open(space: string): Promise<EvaluationSpace>;
  /** How many spaces may be open at a time. Default is 1. */
  readonly concurrency?: number | undefined;
  /** Throws for a strategy that it cannot rank by. Called before any space is opened, without the placebos. */
  checkStrategies?(strategies: readonly string[]): Promise<void>;
}

export interface EvaluationSpace {
  /**
   * Stores the memories. Returns a map from the id of each memory that was deduplicated to the id of the memory that
   * says the same. The two count as one memory, which is relevant if either is. May end early once `signal` aborts; the
   * space is then closed.
   */
  load(
    memories: readonly DatasetMemory[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * Returns the best `limit` memories at the moment `now`, best first. Must not change the space, so that the order of
   * queries and strategies does not matter.
   */
  rank(query: string, options: RankOptions): Promise<Ranking>;
  /**
   * Returns the inputs of a strategy's formula for a query, which `tune` needs. Absent if the engine cannot tell them.
   */
  features?(query: string, options: Pick<RankOptions, 'strategy' | 'now'>): Promise<QuestionFeatures>;
  close(): Promise<void>;
}

export interface Ranking {
  readonly hits: readonly RankedHit[];
  /** How long the ranking took, if the time that the caller measures is not right. Default is that time. */
  readonly milliseconds?: number | undefined;
  /** Tokens of the context that was built from the answer, if `contextTokens` asked for one. */
  readonly tokens?: number | undefined;
}

export interface RankedHit {
  readonly id: string;
  readonly score: number;
}

export interface RankOptions {
  readonly strategy: string;
  readonly now: Instant;
  readonly limit: number;
  /** Also builds a context of at most this many tokens, untimed, and reports its tokens. Default is no context. */
  readonly contextTokens?: number | undefined;
}

export interface EvaluateOptions {
  readonly datasets: readonly Dataset[];
  /**
   * Distinct names, at least one. `evaluate` itself ranks for the names in `PLACEBOS`; the first must not be one of
   * them.
   */
  readonly strategies: readonly string[];
  /** The name of the engine's embedder in the results. */
  readonly embedder: string;
  /** Depths at which rankings are cut. Default is `DEFAULT_KS`. */
  readonly ks?: readonly number[] | undefined;
  /** Types of queries that the headline metrics leave out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** Also builds a context of at most this many tokens for each query and reports its tokens. Default is no context. */
  readonly contextTokens?: number | undefined;
  /** The seed of the placebos: a whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
  /** Called before each step with the number of queries answered, the total, and a label of the next step. */
  readonly onProgress?: ((done: number, total: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a strategy on a dataset, with the outcomes it was computed from. */
export interface EvaluationRun {
  readonly result: EvaluationResult;
  /** In the order of the dataset, the same for every strategy. */
  readonly outcomes: readonly EvaluatedQuery[];
  /** Ascending. */
  readonly ks: readonly number[];
}

/** The outcome of one query of a dataset. */
export interface EvaluatedQuery extends QueryOutcome {
  readonly space: string;
  /** The id of the query, unique in its space. */
  readonly id: string;
  readonly query: string;
  /** What was returned, best first: the head of `ranking`. */
  readonly hits: readonly RankedHit[];
  /** Maps ids that the query names but that were deduplicated to the id of the memory that says the same. */
  readonly sameAs: Readonly<Record<string, string>>;
}

const optionKeys = keysOf<EvaluateOptions>()({
  datasets: true,
  strategies: true,
  embedder: true,
  ks: true,
  excludeTypes: true,
  contextTokens: true,
  seed: true,
  onProgress: true,
  signal: true,
});

export const DEFAULT_KS: readonly number[] = [1, 5, 10, 20];

/**
 * The factor by which an answer without evidence is extended first. Most missing evidence is found within it, at far
 * less cost than in a ranking of all memories.
 */
const DEEPER = 5;

/**
 * Answers every query of every dataset with every strategy, and measures the answers. Runs are ordered by dataset, then
 * by strategy, as given. Each space is loaded once, for all strategies.
 *
 * The time of a query is the time to rank the best `max(ks)`. If that answer ends before the first relevant memory, a
 * longer one is requested and then the ranking of the whole space, both untimed, so that `mrr` and `updatedAboveStale`
 * cover the full ranking. Throws `invalid_argument`, `aborted`, and the errors of the engine.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine();
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25', 'hybrid'], embedder: 'builtin', ks: [5] }, engine);
 * for (const { result } of runs) console.log(result.strategy, result.metrics['recall@5']);
 * ```
 */
export async function evaluate(
  options: EvaluateOptions,
  engine: EvaluationEngine,
): Promise<readonly EvaluationRun[]> {
  onlyKeys(options, optionKeys, 'evaluate');
  const { datasets, strategies, embedder, excludeTypes, contextTokens, seed = 1 } = options;
  checkDatasets(datasets);
  checkEngine(engine);
  text(embedder, 'embedder');
  if (excludeTypes !== undefined) list(excludeTypes, 'excludeTypes');
  if (contextTokens !== undefined) number(contextTokens, 'contextTokens', 0, Number.MAX_VALUE);
  checkStrategies(strategies);
  checkSeed(seed);
  const ks = checkKs(options.ks ?? DEFAULT_KS);
  // Checked first, because the strategies before a wrong one may take long.
  await engine.checkStrategies?.(strategies.filter((name) => !isPlacebo(name)));
  const total = strategies.length * datasets.reduce((sum, dataset) => sum + countQueries(dataset), 0);
  const progress: Progress = { done: 0, report: (done, label) => options.onProgress?.(done, total, label) };

  const runs: EvaluationRun[] = [];
  for (const dataset of datasets) {
    const spaces = [...dataset.spaces].filter(([, { queries }]) => queries.length > 0);
    const bySpace = await mapConcurrently(
      spaces,
      { concurrency: engine.concurrency, signal: options.signal, costOf: ([, space]) => costOf(space) },
      ([name, space], signal) =>
        evaluateSpace(name, space, engine, {
          ...{ dataset: dataset.name, strategies, depth: ks.at(-1) as number, contextTokens, seed },
          ...{ signal, progress },
        }),
    );
    for (const strategy of strategies) {
      const outcomes = bySpace.flatMap((answers) => answers.get(strategy) ?? []);
      const names = { dataset: dataset.name, strategy, embedder };
      runs.push({ result: summarise(outcomes, { ...names, ks, excludeTypes }), outcomes, ks });
    }
  }
  progress.report(progress.done, 'done');
  return runs;
}

interface Progress {
  done: number;
  report(done: number, label: string): void;
}

interface SpaceContext {
  readonly dataset: string;
  readonly strategies: readonly string[];
  readonly depth: number;
  readonly contextTokens: number | undefined;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Returns the outcomes of all strategies for the queries of one space. */
async function evaluateSpace(
  name: string,
  space: DatasetSpace,
  engine: EvaluationEngine,
  context: SpaceContext,
): Promise<ReadonlyMap<string, readonly EvaluatedQuery[]>> {
  const { dataset, strategies, signal, progress } = context;
  throwIfAborted(signal);
  progress.report(progress.done, `${dataset}: loading ${name}`);
  const opened = await engine.open(name);
  try {
    const kept = await opened.load(space.memories, { signal });
    const loaded: LoadedSpace = {
      ...{ name, opened, kept },
      memories: space.memories.filter(({ id }) => !kept.has(id)),
    };
    const answers = new Map<string, EvaluatedQuery[]>();
    for (const strategy of strategies) {
      const ofStrategy: EvaluatedQuery[] = [];
      const ofFirst = answers.get(strategies[0] as string);
      for (const [at, query] of space.queries.entries()) {
        throwIfAborted(signal);
        progress.report(progress.done, `${dataset}: ${strategy}`);
        ofStrategy.push(await answer(loaded, query, strategy, context, ofFirst?.[at]?.hits ?? []));
        progress.done++;
      }
      answers.set(strategy, ofStrategy);
    }
    return answers;
  } finally {
    await opened.close();
  }
}

interface LoadedSpace {
  readonly name: string;
  readonly opened: EvaluationSpace;
  /** The memories that were stored under their own id. */
  readonly memories: readonly DatasetMemory[];
  /** See `EvaluationSpace.load`. */
  readonly kept: KeptAs;
}

async function answer(
  space: LoadedSpace,
  query: DatasetQuery,
  strategy: string,
  { depth, contextTokens, seed }: SpaceContext,
  ofFirst: readonly RankedHit[],
): Promise<EvaluatedQuery> {
  const { type, now, weight } = query;
  const { name, opened, memories, kept } = space;
  const idsOf = (hits: readonly RankedHit[]) =>
    keptIds(
      hits.map(({ id }) => id),
      kept,
    );
  const rank = async (limit: number, tokens?: number): Promise<Ranking> => {
    const ranking = isPlacebo(strategy)
      ? { hits: rankPlacebo(strategy, { memories, answer: ofFirst, key: [name, query.id], seed }) }
      : await opened.rank(query.query, { strategy, now, limit, contextTokens: tokens });
    checkDistinct(ranking.hits, query, strategy);
    return { ...ranking, hits: ranking.hits.slice(0, limit) };
  };

  const judgements = keptJudgements(query, kept);
  const { relevant } = judgements;
  const named = [...query.relevant, ...query.stale, ...(query.mustNot ?? [])];
  const start = performance.now();
  const top = await rank(depth, contextTokens);
  const elapsed = performance.now() - start;
  const found = idsOf(top.hits);
  const outcome = {
    ...{ space: name, id: query.id, query: query.query, type, ...judgements },
    ...(weight !== undefined && { weight }),
    hits: top.hits.map(({ id, score }) => ({ id: kept.get(id) ?? id, score })),
    sameAs: Object.fromEntries(named.flatMap((id) => (kept.has(id) ? [[id, kept.get(id) as string]] : []))),
    returned: found.length,
    milliseconds: top.milliseconds ?? elapsed,
    ...(top.tokens !== undefined && { tokens: top.tokens }),
  };

  // The first relevant memory decides all measures that look deeper; stale memories count only above it.
  let ranking: readonly string[] = found;
  const all = memories.length + kept.size;
  for (const limit of [DEEPER * depth, all]) {
    const isCut = found.length >= depth && ranking.length < all;
    const isOpen = relevant.length > 0 && !ranking.some((id) => relevant.includes(id));
    if (!isCut || !isOpen) break;
    const deeper = await rank(Math.min(limit, all));
    // The answer stays the head of the ranking, even if the engine orders it differently in a longer answer.
    ranking = [...new Set([...found, ...idsOf(deeper.hits)])];
    if (deeper.hits.length < limit) break;
  }
  return { ...outcome, ranking };
}

function checkDistinct(hits: readonly RankedHit[], query: DatasetQuery, strategy: string): void {
  if (new Set(hits.map(({ id }) => id)).size === hits.length) return;
  throw new SalienceError(
    'invalid_argument',
    `the engine ranked a memory twice for query ${JSON.stringify(query.id)} with strategy ${strategy}; metrics need each at most once`,
    { details: { query: query.id, strategy } },
  );
}

function countQueries(dataset: Dataset): number {
  let count = 0;
  for (const { queries } of dataset.spaces.values()) count += queries.length;
  return count;
}

/** Estimates the cost of a space: loading takes time in proportion to its memories, and so does each answer. */
function costOf({ memories, queries }: DatasetSpace): number {
  return memories.length * (1 + queries.length);
}

function checkStrategies(strategies: readonly string[]): void {
  list(strategies, 'strategies');
  if (strategies[0] !== undefined && isPlacebo(strategies[0])) {
    throw new SalienceError(
      'invalid_argument',
      `the first strategy is ${strategies[0]}; name one first that placebos can be compared with`,
      { details: { field: 'strategies' } },
    );
  }
  if (strategies.length > 0 && new Set(strategies).size === strategies.length) return;
  throw new SalienceError(
    'invalid_argument',
    `strategies are [${strategies.join(', ')}]; name at least one, and each once`,
    { details: { field: 'strategies' } },
  );
}

/** Returns the cut-offs in ascending order, each once. Throws `invalid_argument`. */
function checkKs(ks: readonly number[]): readonly number[] {
  list(ks, 'ks');
  const valid = ks.length > 0 && ks.every((k) => Number.isSafeInteger(k) && k >= 1);
  if (valid) return [...new Set(ks)].sort((left, right) => left - right);
  throw new SalienceError('invalid_argument', `k is [${ks.join(', ')}]; name whole numbers from 1 up`, {
    details: { field: 'ks' },
  });
}
