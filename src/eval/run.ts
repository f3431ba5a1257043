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

/** What is evaluated: something that remembers a space's memories and ranks them for a query. */
export interface EvaluationEngine {
  /** Opens a space that holds nothing, whatever was in a space of this name before. */
  open(space: string): Promise<EvaluationSpace>;
  /** How many spaces may be open at a time. Default is 1. */
  readonly concurrency?: number | undefined;
  /** Throws for a strategy that it cannot rank by. Is called before a space is opened; placebos are left out. */
  checkStrategies?(strategies: readonly string[]): Promise<void>;
}

export interface EvaluationSpace {
  /**
   * Remembers them. Returns, for each id under which nothing was stored because another memory says the same, the id
   * under which that is: the two count as each other, and as relevant if either is. May end early once `signal` aborts: the
   * space is then closed.
   */
  load(
    memories: readonly DatasetMemory[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ReadonlyMap<string, string>>;
  /**
   * The best `limit` memories at the moment `now`, best first. Must leave the space as it was: the order in which queries
   * and strategies come must not matter.
   */
  rank(query: string, options: RankOptions): Promise<Ranking>;
  /** What a strategy's formula reads of the memories for a query; absent where that cannot be known. For `tune`. */
  features?(query: string, options: Pick<RankOptions, 'strategy' | 'now'>): Promise<QuestionFeatures>;
  close(): Promise<void>;
}

export interface Ranking {
  readonly hits: readonly RankedHit[];
  /** How long it took, where that is not what a caller measures. Default is what the caller measures. */
  readonly milliseconds?: number | undefined;
  /** Of the context made of the answer, where `contextTokens` asks for one. */
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
  /** Also make a context of at most so many tokens, untimed, and say how many it takes. Default is none. */
  readonly contextTokens?: number | undefined;
}

export interface EvaluateOptions {
  readonly datasets: readonly Dataset[];
  /** Distinct names, at least one. Those of `PLACEBOS` are ranked here; the first must not be one. */
  readonly strategies: readonly string[];
  /** How the results name the engine's embedder. */
  readonly embedder: string;
  /** Depths at which rankings are cut. Default is `DEFAULT_KS`. */
  readonly ks?: readonly number[] | undefined;
  /** Types of queries that the headline leaves out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** Also make a context of at most so many tokens for each query, and report what it takes. Default is none. */
  readonly contextTokens?: number | undefined;
  /** Of what placebos draw: a whole number from 0 to 2^32 − 1. Default is 1. */
  readonly seed?: number | undefined;
  /** Called before each step: queries answered so far, of how many, and what comes next. */
  readonly onProgress?: ((done: number, total: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A strategy's result on a dataset, with what it was computed from. */
export interface EvaluationRun {
  readonly result: EvaluationResult;
  /** In the order of the dataset, the same for every strategy. */
  readonly outcomes: readonly EvaluatedQuery[];
  /** Ascending. */
  readonly ks: readonly number[];
}

/** What one query of a dataset came to. */
export interface EvaluatedQuery extends QueryOutcome {
  readonly space: string;
  /** Of the query, in its space. */
  readonly id: string;
  readonly query: string;
  /** What was returned, best first: the head of `ranking`. */
  readonly hits: readonly RankedHit[];
  /** For ids that the query names and under which nothing was stored, the id of the memory that says the same. */
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

/** Most evidence that is not in an answer is in one of so many times its length, which costs far less than all. */
const DEEPER = 5;

/**
 * Answers every query of every dataset with every strategy, and measures the answers. Runs come by dataset, then by
 * strategy, in the given order. Each space is loaded once, for all strategies.
 *
 * The time of a query is that of ranking the `max(ks)` best. Where that answer is cut before the first relevant memory,
 * a longer one follows, and then the ranking of the whole space, untimed, so that `mrr` and `updatedAboveStale` are over
 * the full ranking. Throws `invalid_argument`, `aborted`, and what the engine throws.
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
  // Those before a wrong one may take long.
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

/** What the strategies answered to the queries of one space. */
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
  /** Those that were kept. */
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

  // All measures are decided at the first relevant memory; what is stale counts only above it.
  let ranking: readonly string[] = found;
  const all = memories.length + kept.size;
  for (const limit of [DEEPER * depth, all]) {
    const isCut = found.length >= depth && ranking.length < all;
    const isOpen = relevant.length > 0 && !ranking.some((id) => relevant.includes(id));
    if (!isCut || !isOpen) break;
    const deeper = await rank(Math.min(limit, all));
    // What a caller sees at this depth stays the head, also if an engine ranks otherwise when asked for more.
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

/** Loading takes time by memories, each answer by memories again. */
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

/** The cut-offs in ascending order. */
function checkKs(ks: readonly number[]): readonly number[] {
  list(ks, 'ks');
  const valid = ks.length > 0 && ks.every((k) => Number.isSafeInteger(k) && k >= 1);
  if (valid) return [...new Set(ks)].sort((left, right) => left - right);
  throw new SalienceError('invalid_argument', `k is [${ks.join(', ')}]; name whole numbers from 1 up`, {
    details: { field: 'ks' },
  });
}
