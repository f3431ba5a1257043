/// <reference lib="esnext.disposable" preserve="true" />

import { setImmediate } from 'node:timers/promises';
import { invalidArgument } from '../domain/check.ts';
import { clip } from '../domain/clip.ts';
import { SalienceError } from '../domain/errors.ts';
import { keysOf, onlyKeys, unknownStrategy } from '../domain/options.ts';
import { asQuery } from '../domain/query.ts';
import { formatInstant } from '../domain/time.ts';
import { type QuestionFeatures, readFeatures } from '../fit/features.ts';
import {
  type EmbedderChoice,
  type Memory,
  type MemoryEngine,
  openMemory,
  type ProfileDefinition,
  type Recall,
  type RecallOptions,
} from '../index.ts';
import { openStore } from '../open.ts';
import type { SearchRequest, Snapshot, Store } from '../store-kit.ts';
import { embedOnce } from './embed-once.ts';
import { observed } from './observed.ts';
import type { EvaluationEngine, EvaluationSpace } from './run.ts';

export interface EvaluationEngineOptions {
  /** Default is `builtin`. */
  readonly embedder?: EmbedderChoice | undefined;
  /** Your own strategies: their definitions, or the results of `defineProfile`. */
  readonly profiles?: readonly ProfileDefinition[] | undefined;
  /** Options of every recall, for example `{ minScore: 0.2 }`. Default is none. */
  readonly recall?:
    | Omit<RecallOptions, 'strategy' | 'limit' | 'track' | 'now' | 'signal' | 'asOf'>
    | undefined;
  /**
   * Threads that share the spaces, 1–64. More than one needs an embedder given by name, because functions cannot be
   * passed to threads, and the unbundled package. Default is 1, the caller's own thread.
   */
  readonly workers?: number | undefined;
}

const optionKeys = keysOf<EvaluationEngineOptions>()({
  embedder: true,
  profiles: true,
  recall: true,
  workers: true,
});

/** Memories written in one transaction. */
const BATCH = 1000;

/**
 * Creates an evaluation engine that runs this memory engine, with an in-memory store for each space. Content may be of
 * any length, recalls write nothing, and a text is embedded once for all strategies. Throws `invalid_argument`, and
 * `unsupported` for several workers in a bundled program.
 *
 * A question that cannot be searched as its strategy requires ends the evaluation: with `embedder_failed` if the
 * embedder fails, with `invalid_argument` if the strategy needs vectors and there is no embedder.
 *
 * @example
 * ```ts
 * await using engine = await createEvaluationEngine({ embedder: 'none' });
 * const datasets = [await readDataset('./questions.jsonl')];
 * const runs = await evaluate({ datasets, strategies: ['bm25'], embedder: 'none' }, engine);
 * ```
 */
export async function createEvaluationEngine(
  options: EvaluationEngineOptions = {},
): Promise<EvaluationEngine & AsyncDisposable> {
  onlyKeys(options, optionKeys, 'createEvaluationEngine');
  const { workers = 1, embedder, profiles, recall } = options;
  if (workers !== 1) {
    const { createWorkerEngine } = await import('./workers.ts');
    return createWorkerEngine(workers, { embedder, profiles, recall });
  }
  const once = typeof embedder === 'object' ? embedOnce(embedder) : embedder;
  return {
    checkStrategies: (strategies) => checkStrategies(strategies, profiles),
    async open(space) {
      const searches: Searches = { look: undefined };
      const store = observedStore(await openStore({ path: ':memory:' }), searches);
      const memory = await openMemory({
        ...{ path: ':memory:', store, space, embedder: once, profiles },
        maxContentBytes: Number.POSITIVE_INFINITY,
        maxMetadataBytes: Number.POSITIVE_INFINITY,
      });
      return evaluationSpace(memory, { recall, searches, close: () => store.close() });
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Throws `unknown_strategy`, and `invalid_argument` for a strategy that takes no query. */
export async function checkStrategies(
  strategies: readonly string[],
  profiles: EvaluationEngineOptions['profiles'],
): Promise<void> {
  await using memory = await openMemory({ path: ':memory:', space: 'default', embedder: 'none', profiles });
  const known = await memory.strategies();
  for (const name of strategies) {
    const strategy = known.find((each) => each.name === name);
    if (!strategy)
      throw unknownStrategy(
        name,
        known.map((each) => each.name),
      );
    if (strategy.takesQuery) continue;
    throw invalidArgument(
      'strategies',
      `strategy ${name} takes no query, so the questions of a dataset cannot measure it; leave it out`,
    );
  }
}

/** Holds the function that is told of each search, if there is one. */
interface Searches {
  look: ((snapshot: Snapshot, request: SearchRequest) => Promise<void>) | undefined;
}

function observedStore(store: Store, searches: Searches): Store {
  return {
    ...store,
    openSpace: async (...given) =>
      observed(await store.openSpace(...given), async (snapshot, request) => {
        await searches.look?.(snapshot, request);
      }),
  };
}

interface Opened {
  readonly recall: EvaluationEngineOptions['recall'];
  readonly searches: Searches;
  close(): Promise<void>;
}

function evaluationSpace(memory: MemoryEngine, { recall, searches, close }: Opened): EvaluationSpace {
  let ids: readonly string[] = [];
  return {
    async load(memories, { signal } = {}) {
      // Loaded as of the latest memory: the engine would date a memory from the future as written now.
      const last = memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0);
      const operation = { now: formatInstant(last), signal };
      const kept = new Map<string, string>();
      for (let start = 0; start < memories.length; start += BATCH) {
        const inputs = memories.slice(start, start + BATCH).map(({ session, createdAt, ...fields }) => ({
          ...fields,
          sessionId: session,
          createdAt: formatInstant(createdAt),
        }));
        const statements = inputs.filter(({ type }) => type !== 'summary');
        const outcomes = await memory.rememberMany(statements, operation);
        statements.forEach(({ id }, at) => {
          const stored = outcomes[at]?.id;
          if (stored !== undefined && stored !== id) kept.set(id, stored);
        });
        // Only sessions may write summaries, so those of a dataset are imported instead of remembered.
        const summaries = inputs.filter(({ type }) => type === 'summary');
        await memory.importMemories(summaries as Partial<Memory>[] as Memory[], operation);
      }
      // Finds the possible updates that a store with regular maintenance would have. Nothing fades.
      while ((await memory.maintain({ ...operation, fade: false })).compared > 0);
      ids = memories.map(({ id }) => id).filter((id) => !kept.has(id));
      return kept;
    },
    async features(text, { strategy, now }) {
      const query = asQuery(text);
      await setImmediate();
      let features: QuestionFeatures | undefined;
      searches.look = async (snapshot, request) => {
        features = await readFeatures(snapshot, request, ids);
      };
      try {
        const options = { strategy, now: formatInstant(now), track: false, limit: 1 } as const;
        checkArms(await memory.recall(query, { ...options, association: 'none' }), query, strategy);
      } finally {
        searches.look = undefined;
      }
      if (!features) throw new SalienceError('invalid_argument', `strategy ${strategy} searches nothing`);
      return features;
    },
    async rank(text, { strategy, now, limit, contextTokens }) {
      const query = asQuery(text);
      // Only the embedder waits. Without this, an interrupt would not be handled: that happens between turns of the
      // event loop.
      await setImmediate();
      const options = { ...recall, strategy, now: formatInstant(now), track: false };
      const start = performance.now();
      const recalled = await memory.recall(query, { ...options, limit });
      const milliseconds = performance.now() - start;
      checkArms(recalled, query, strategy);
      const context =
        contextTokens === undefined
          ? undefined
          : await memory.context(query, { ...options, maxTokens: contextTokens });
      return {
        hits: recalled.hits.map((hit) => ({ id: hit.memory.id, score: hit.score.value })),
        milliseconds,
        ...(context && { tokens: context.tokens }),
      };
    },
    async close() {
      await memory.close();
      await close();
    },
  };
}

/** The most characters of a query in an error message. */
const EXCERPT = 100;

/** Throws if a recall had to do without an arm of its strategy: the metrics would not be those of the strategy. */
function checkArms(
  { hits, trace: { arms } }: Pick<Recall<string>, 'hits' | 'trace'>,
  query: string,
  strategy: string,
): void {
  const failed = arms.find(({ status }) => status === 'failed');
  if (failed) {
    throw new SalienceError(
      'embedder_failed',
      `strategy ${strategy}, query ${JSON.stringify(clip(query, EXCERPT))}: the ${failed.name} search failed: ${failed.reason}`,
      { details: { strategy } },
    );
  }
  const used = arms.filter(({ status }) => status !== 'not-used');
  // Some strategies also rank by time and importance, and still return hits.
  if (hits.length > 0 || used.length === 0 || used.some(({ status }) => status !== 'off')) return;
  throw new SalienceError(
    'invalid_argument',
    `strategy ${strategy} could not rank: ${used.map(({ reason }) => reason).join('; ')}; choose an embedder, or leave the strategy out`,
    { details: { field: 'strategies' } },
  );
}
