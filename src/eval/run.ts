import { SalienceError, throwIfAborted } from '../domain/errors.ts';
import type { Instant } from '../domain/time.ts';
import type { Dataset, DatasetMemory, DatasetQuery, DatasetSpace } from './dataset.ts';
import { type EvaluationResult, type QueryOutcome, summarise } from './report.ts';

/** What is evaluated: something that remembers a space's memories and ranks them for a query. */
export interface EvaluationEngine {
  /** Opens a space that holds nothing, whatever was in a space of this name before. */
  open(space: string): Promise<EvaluationSpace>;
}

export interface EvaluationSpace {
  /**
   * Remembers them. Returns, for each id under which nothing was stored because another memory says the same, the id
   * under which that is: the two count as each other.
   */
  load(memories: readonly DatasetMemory[]): Promise<ReadonlyMap<string, string>>;
  /**
   * The ids of the best `limit` memories at the moment `now`, best first. Must leave the space as it was: the
   * order in which queries and strategies come must not matter.
   */
  rank(query: string, options: RankOptions): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface RankOptions {
  readonly strategy: string;
  readonly now: Instant;
  readonly limit: number;
}

export interface EvaluateOptions {
  readonly datasets: readonly Dataset[];
  /** Distinct names, at least one. */
  readonly strategies: readonly string[];
  /** How the results name the engine's embedder. */
  readonly embedder: string;
  /** Depths at which rankings are cut. Default is `DEFAULT_KS`. */
  readonly ks?: readonly number[] | undefined;
  /** Types of queries that the headline leaves out. Default is `TYPES_REPORTED_APART`. */
  readonly excludeTypes?: readonly string[] | undefined;
  /** Called before each step: queries answered so far, of how many, and what comes next. */
  readonly onProgress?: ((done: number, total: number, label: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A strategy's result on a dataset, with what it was computed from. */
export interface EvaluationRun {
  readonly result: EvaluationResult;
  /** In the order of the dataset, the same for every strategy. */
  readonly outcomes: readonly QueryOutcome[];
  /** Ascending. */
  readonly ks: readonly number[];
}

export const DEFAULT_KS: readonly number[] = [1, 5, 10, 20];

/**
 * Answers every query of every dataset with every strategy, and measures the answers. Runs come by dataset, then by
 * strategy, in the given order. Each space is loaded once, and only it is open.
 *
 * The time of a query is that of ranking the `max(ks)` best. Where that answer is cut before the first relevant
 * memory, or the query names stale ones, the ranking of the whole space follows, untimed, so that `mrr` and
 * `updatedAboveStale` are over the full ranking. Throws `invalid_argument`, `aborted`, and what the engine throws.
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
  const { datasets, strategies, embedder, excludeTypes } = options;
  checkStrategies(strategies);
  const ks = checkKs(options.ks ?? DEFAULT_KS);
  const total = strategies.length * datasets.reduce((sum, dataset) => sum + countQueries(dataset), 0);
  const progress: Progress = { done: 0, report: (done, label) => options.onProgress?.(done, total, label) };

  const runs: EvaluationRun[] = [];
  for (const dataset of datasets) {
    const outcomes = new Map<string, QueryOutcome[]>(strategies.map((strategy) => [strategy, []]));
    for (const [name, space] of dataset.spaces) {
      if (space.queries.length === 0) continue;
      const context = { dataset: dataset.name, depth: ks.at(-1)!, signal: options.signal, progress };
      await evaluateSpace(name, space, outcomes, engine, context);
    }
    for (const [strategy, ofStrategy] of outcomes) {
      const names = { dataset: dataset.name, strategy, embedder };
      runs.push({ result: summarise(ofStrategy, { ...names, ks, excludeTypes }), outcomes: ofStrategy, ks });
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
  readonly depth: number;
  readonly signal: AbortSignal | undefined;
  readonly progress: Progress;
}

/** Adds the outcomes of one space to the lists by strategy. */
async function evaluateSpace(
  name: string,
  space: DatasetSpace,
  outcomes: ReadonlyMap<string, QueryOutcome[]>,
  engine: EvaluationEngine,
  context: SpaceContext,
): Promise<void> {
  const { dataset, depth, signal, progress } = context;
  throwIfAborted(signal);
  progress.report(progress.done, `${dataset}: loading ${name}`);
  const opened = await engine.open(name);
  try {
    const kept = await opened.load(space.memories);
    const idsOf = (ids: readonly string[]) => [...new Set(ids.map((id) => kept.get(id) ?? id))];
    for (const [strategy, ofStrategy] of outcomes) {
      for (const query of space.queries) {
        throwIfAborted(signal);
        progress.report(progress.done, `${dataset}: ${strategy}`);
        ofStrategy.push(await answer(opened, query, strategy, depth, space.memories.length, idsOf));
        progress.done++;
      }
    }
  } finally {
    await opened.close();
  }
}

async function answer(
  space: EvaluationSpace,
  query: DatasetQuery,
  strategy: string,
  depth: number,
  all: number,
  idsOf: (ids: readonly string[]) => readonly string[],
): Promise<QueryOutcome> {
  const { type, now } = query;
  const [relevant, stale] = [idsOf(query.relevant), idsOf(query.stale)];
  const start = performance.now();
  const found = await space.rank(query.query, { strategy, now, limit: depth });
  const milliseconds = performance.now() - start;
  checkDistinct(found, query, strategy);
  const top = idsOf(found);

  const cut = found.length >= depth && depth < all;
  const open = stale.length > 0 || !top.some((id) => relevant.includes(id));
  if (!cut || relevant.length === 0 || !open) return { type, ranking: top, relevant, stale, milliseconds };
  const full = await space.rank(query.query, { strategy, now, limit: all });
  checkDistinct(full, query, strategy);
  // What a caller sees at this depth stays the head, also if an engine ranks otherwise when asked for more.
  return { type, ranking: [...new Set([...top, ...idsOf(full)])], relevant, stale, milliseconds };
}

function checkDistinct(ranking: readonly string[], query: DatasetQuery, strategy: string): void {
  if (new Set(ranking).size === ranking.length) return;
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

function checkStrategies(strategies: readonly string[]): void {
  if (strategies.length > 0 && new Set(strategies).size === strategies.length) return;
  throw new SalienceError(
    'invalid_argument',
    `strategies are [${strategies.join(', ')}]; name at least one, and each once`,
    { details: { field: 'strategies' } },
  );
}

/** The cut-offs in ascending order. */
function checkKs(ks: readonly number[]): readonly number[] {
  const valid = ks.length > 0 && ks.every((k) => Number.isSafeInteger(k) && k >= 1);
  if (valid) return [...new Set(ks)].sort((left, right) => left - right);
  throw new SalienceError('invalid_argument', `k is [${ks.join(', ')}]; name whole numbers from 1 up`, {
    details: { field: 'ks' },
  });
}
