import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { formatInstant } from '../domain/time.ts';
import { type EmbedderChoice, type MemoryEngine, openMemory, type ProfileDefinition } from '../index.ts';
import type { EvaluationEngine, EvaluationSpace } from './run.ts';

export interface EvaluationEngineOptions {
  /** Default is `builtin`. */
  readonly embedder?: EmbedderChoice | undefined;
  /** Strategies of your own, by their formulas. */
  readonly profiles?: readonly ProfileDefinition[] | undefined;
}

/** Memories written in one transaction. */
const BATCH = 1000;

/**
 * The engine itself under evaluation: each space is a store of its own in a temporary directory, which closing the
 * engine removes. The limit of a content's length is off, and no recall writes anything.
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
  const directory = await mkdtemp(join(tmpdir(), 'salience-eval-'));
  let opened = 0;
  return {
    async open(space) {
      const memory = await openMemory({
        ...options,
        // Spaces of two datasets may have the same name.
        path: join(directory, String(opened++)),
        space,
        maxContentBytes: Number.POSITIVE_INFINITY,
        maxMetadataBytes: Number.POSITIVE_INFINITY,
        synchronous: 'normal',
      });
      return evaluationSpace(memory);
    },
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function evaluationSpace(memory: MemoryEngine): EvaluationSpace {
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
    async rank(query, { strategy, now, limit }) {
      // Everything but the embedder works without waiting; an interrupt is heard only between turns of the event loop.
      await setImmediate();
      const { hits } = await memory.recall(query, {
        strategy,
        now: formatInstant(now),
        limit,
        track: false,
      });
      return hits.map((hit) => hit.memory.id);
    },
    close: () => memory.close(),
  };
}
