import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { SalienceError, type SalienceErrorCode, throwIfAborted } from '../domain/errors.ts';
import type { QuestionFeatures } from '../fit/features.ts';
import type { DatasetMemory } from './dataset.ts';
import { checkStrategies, type EvaluationEngineOptions } from './engine.ts';
import type { EvaluationEngine, EvaluationSpace } from './run.ts';

/** A request to a worker, which has one space open at a time. */
export type WorkerRequest =
  | { readonly do: 'open'; readonly with: Parameters<EvaluationEngine['open']> }
  | { readonly do: 'load'; readonly with: [readonly DatasetMemory[]] }
  | { readonly do: 'rank'; readonly with: Parameters<EvaluationSpace['rank']> }
  | { readonly do: 'features'; readonly with: Parameters<Required<EvaluationSpace>['features']> }
  | { readonly do: 'close'; readonly with: [] };

/** Aborts the load in progress, because an `AbortSignal` cannot be passed to a thread. It gets no answer of its own. */
export interface WorkerAbort {
  readonly do: 'abort';
}

/** The answer to a request. Answers come in the order of the requests. */
export type WorkerAnswer =
  | { readonly value: unknown }
  | {
      readonly error: {
        readonly code?: SalienceErrorCode;
        readonly message: string;
        readonly details?: object;
      };
    };

/** Creates an engine that spreads its spaces over threads. Throws `invalid_argument`, and `unsupported` in a bundle. */
export function createWorkerEngine(
  workers: number,
  options: Omit<EvaluationEngineOptions, 'workers'>,
): EvaluationEngine & AsyncDisposable {
  if (!Number.isSafeInteger(workers) || workers < 1 || workers > 64) {
    throw new SalienceError(
      'invalid_argument',
      `workers is ${workers}; it must be a whole number from 1 to 64`,
      {
        details: { field: 'workers' },
      },
    );
  }
  if (typeof options.embedder === 'object') {
    throw new SalienceError(
      'invalid_argument',
      'a custom embedder cannot be passed to other threads; leave out workers, or use "builtin" or "none"',
      { details: { field: 'workers' } },
    );
  }
  if (!hasWorkerFile()) {
    throw new SalienceError(
      'unsupported',
      'workers need the file dist/eval/worker.js of the package, which a bundler does not copy: leave salience out of the bundle, or leave out workers',
    );
  }
  const idle: Thread[] = [];
  const all: Thread[] = [];
  return {
    concurrency: workers,
    checkStrategies: (strategies) => checkStrategies(strategies, options.profiles),
    async open(space) {
      const thread = idle.pop() ?? startThread(options);
      if (!all.includes(thread)) all.push(thread);
      await thread.ask({ do: 'open', with: [space] });
      return {
        async load(memories, { signal } = {}) {
          throwIfAborted(signal);
          signal?.addEventListener('abort', thread.abort, { once: true });
          try {
            return (await thread.ask({ do: 'load', with: [memories] })) as ReadonlyMap<string, string>;
          } finally {
            signal?.removeEventListener('abort', thread.abort);
          }
        },
        rank: async (...given) =>
          (await thread.ask({ do: 'rank', with: given })) as Awaited<ReturnType<EvaluationSpace['rank']>>,
        features: async (...given) => (await thread.ask({ do: 'features', with: given })) as QuestionFeatures,
        async close() {
          await thread.ask({ do: 'close', with: [] });
          idle.push(thread);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((thread) => thread.end()));
    },
  };
}

interface Thread {
  ask(request: WorkerRequest): Promise<unknown>;
  readonly abort: () => void;
  end(): Promise<void>;
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function hasWorkerFile(): boolean {
  try {
    return existsSync(new URL('./worker.js', import.meta.url));
  } catch {
    // In a CommonJS bundle, `import.meta.url` is not set.
    return false;
  }
}

function startThread(options: Omit<EvaluationEngineOptions, 'workers'>): Thread {
  return threadOf(new Worker(new URL('./worker.js', import.meta.url), { workerData: options }));
}

/** Asks a worker. Once it has ended, every request is rejected with the reason, also those that come later. */
export function threadOf(worker: Pick<Worker, 'on' | 'postMessage' | 'terminate'>): Thread {
  const waiting: Waiting[] = [];
  let ended: { readonly reason: unknown } | undefined;
  worker.on('message', (answer: WorkerAnswer) => {
    const asked = waiting.shift();
    if ('value' in answer) asked?.resolve(answer.value);
    else asked?.reject(errorOf(answer.error));
  });
  const end = (reason: unknown) => {
    ended ??= { reason };
    for (const asked of waiting.splice(0)) asked.reject(ended.reason);
  };
  worker.on('error', (error: unknown) => end(outOfMemory(error) ?? error));
  worker.on('exit', () => end(new SalienceError('closed', 'a thread of the evaluation ended')));
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        // A worker that has ended would never answer.
        if (ended) return reject(ended.reason);
        waiting.push({ resolve, reject });
        worker.postMessage(request);
      }),
    abort: () => worker.postMessage({ do: 'abort' } satisfies WorkerAbort),
    async end() {
      await worker.terminate();
    },
  };
}

/** Returns an error that says what to do, if a worker ended because its memory was full. */
function outOfMemory(error: unknown): SalienceError | undefined {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  if (code !== 'ERR_WORKER_OUT_OF_MEMORY') return undefined;
  return new SalienceError(
    'space_too_large',
    `a thread of the evaluation has no memory left (${message}); raise the limit, for example with NODE_OPTIONS=--max-old-space-size=8192, or split the space`,
    { cause: error },
  );
}

function errorOf({ code, message, details }: Extract<WorkerAnswer, { error: unknown }>['error']): Error {
  if (code === undefined) return new Error(message);
  return new SalienceError(code, message, details ? { details: { ...details } } : {});
}
