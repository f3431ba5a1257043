/** A worker thread of an evaluation, which opens spaces and ranks in them on request. */
import { parentPort, workerData } from 'node:worker_threads';
import { SalienceError } from '../domain/errors.ts';
import { createEvaluationEngine, type EvaluationEngineOptions } from './engine.ts';
import type { EvaluationEngine, EvaluationSpace } from './run.ts';
import type { WorkerAbort, WorkerAnswer, WorkerRequest } from './workers.ts';

let engine: EvaluationEngine | undefined;
let space: EvaluationSpace | undefined;
let loading: AbortController | undefined;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', (request: WorkerRequest | WorkerAbort) => {
  if (request.do === 'abort') return loading?.abort();
  // One after the other, so that answers come in the order of the requests.
  last = last.then(async () => parentPort?.postMessage(await answer(request)));
});

async function answer(request: WorkerRequest): Promise<WorkerAnswer> {
  try {
    return { value: await perform(request) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!SalienceError.isInstance(error)) return { error: { message } };
    return { error: { message, code: error.code, ...(error.details && { details: error.details }) } };
  }
}

async function perform(request: WorkerRequest): Promise<unknown> {
  if (request.do === 'open') {
    engine ??= await createEvaluationEngine(workerData as EvaluationEngineOptions);
    space = await engine.open(...request.with);
    return undefined;
  }
  if (!space) throw new SalienceError('closed', 'no space is open');
  if (request.do === 'load') {
    loading = new AbortController();
    return space.load(...request.with, { signal: loading.signal });
  }
  if (request.do === 'rank') return space.rank(...request.with);
  if (request.do === 'features') return space.features?.(...request.with);
  return space.close();
}
