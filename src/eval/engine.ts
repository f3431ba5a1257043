import { setImmediate } from 'node:timers/promises';
import { formatInstant } from '../domain/time.ts';
import {
  type EmbedderChoice,
  type MemoryEngine,
  openMemory,
  type ProfileDefinition,
  type RecallOptions,
} from '../index.ts';
import { embedOnce } from './embed-once.ts';
import type { EvaluationEngine, EvaluationSpace } from './run.ts';

export interface EvaluationEngineOptions {
  /** Default is `builtin`. */
  readonly embedder?: EmbedderChoice | undefined;
  /** Strategies of your own, by their formulas. */
  readonly profiles?: readonly ProfileDefinition[] | undefined;
  /** Options of every recall, for example `{ minScore: 0.2 }`. Default is none. */
  readonly recall?:
    | Omit<RecallOptions, 'strategy' | 'limit' | 'track' | 'now' | 'signal' | 'asOf'>
    | undefined;
  /**
   * Threads that share the spaces, 1–64. More than one needs an embedder that is named, because functions do not cross
   * threads, and the package as it is published. Default is 1, the caller's own thread.
   */
  readonly workers?: number | undefined;
}

/** Memories written in one transaction. */
const BATCH = 1000;

/**
 * The engine itself under evaluation: each space is a store of its own in memory. The limit of a content's length is
 * off, no recall writes anything, and a text is embedded once however many strategies ask. Throws `invalid_argument`.
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
  const { workers = 1, embedder, profiles, recall } = options;
  if (workers !== 1) {
    const { createWorkerEngine } = await import('./workers.ts');
    return createWorkerEngine(workers, { embedder, profiles, recall });
  }
  const once = typeof embedder === 'object' ? embedOnce(embedder) : embedder;
  return {
    async open(space) {
      const memory = await openMemory({
        ...{ path: ':memory:', space, embedder: once, profiles },
        maxContentBytes: Number.POSITIVE_INFINITY,
        maxMetadataBytes: Number.POSITIVE_INFINITY,
      });
      return evaluationSpace(memory, recall);
    },
    async [Symbol.asyncDispose]() {},
  };
}

function evaluationSpace(memory: MemoryEngine, recall: EvaluationEngineOptions['recall']): EvaluationSpace {
  return {
    async load(memories) {
      // In the future of its own present a memory would count as written now.
      const last = memories.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0);
      const now = formatInstant(last);
      const kept = new Map<string, string>();
      for (let start = 0; start < memories.length; start += BATCH) {
        const inputs = memories.slice(start, start + BATCH).map(({ session, createdAt, ...fields }) => ({
          ...fields,
          sessionId: session,
          createdAt: formatInstant(createdAt),
        }));
        const outcomes = await memory.rememberMany(inputs, { now });
        inputs.forEach(({ id }, at) => {
          const stored = outcomes[at]?.id;
          if (stored !== undefined && stored !== id) kept.set(id, stored);
        });
      }
      // What a store that is looked after would have noticed by now; nothing has faded yet.
      while ((await memory.maintain({ now, fade: false })).compared > 0);
      return kept;
    },
    async rank(query, { strategy, now, limit, contextTokens }) {
      // Everything but the embedder works without waiting; an interrupt is heard only between turns of the event loop.
      await setImmediate();
      const options = { ...recall, strategy, now: formatInstant(now), track: false };
      const start = performance.now();
      const { hits } = await memory.recall(query, { ...options, limit });
      const milliseconds = performance.now() - start;
      const context =
        contextTokens === undefined
          ? undefined
          : await memory.context(query, { ...options, maxTokens: contextTokens });
      return {
        hits: hits.map((hit) => ({ id: hit.memory.id, score: hit.score.value })),
        milliseconds,
        ...(context && { tokens: context.tokens }),
      };
    },
    close: () => memory.close(),
  };
}
