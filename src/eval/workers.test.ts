import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { threadOf, type WorkerRequest } from './workers.ts';

/** A worker that answers nothing by itself. */
function silentWorker() {
  const posted: unknown[] = [];
  const worker = Object.assign(new EventEmitter(), {
    postMessage: (message: unknown) => void posted.push(message),
    terminate: async () => 0,
  });
  return { worker, posted, thread: threadOf(worker as unknown as Worker) };
}

const open: WorkerRequest = { do: 'open', with: ['one'] };
const close: WorkerRequest = { do: 'close', with: [] };

it('gives answers in the order of the requests', async () => {
  const { worker, thread } = silentWorker();
  const both = Promise.all([thread.ask(open), thread.ask(close)]);
  worker.emit('message', { value: 1 });
  worker.emit('message', { value: 2 });
  expect(await both).toEqual([1, 2]);
});

it('rejects what is asked of a worker that has ended, because it would never answer', async () => {
  const { worker, thread, posted } = silentWorker();
  const waiting = thread.ask(open);
  const full = Object.assign(new Error('JS heap out of memory'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  worker.emit('error', full);
  worker.emit('exit', 1);
  const reason = {
    code: 'space_too_large',
    message: expect.stringMatching(/no memory left \(JS heap out of memory\); raise the limit/),
  };
  await expect(waiting).rejects.toMatchObject(reason);
  // An evaluation closes the space in any case: the first reason must come through.
  await expect(thread.ask(close)).rejects.toMatchObject(reason);
  expect(posted).toEqual([open]);
});

it('rejects with the error of a worker that fails otherwise, and with `closed` if there is none', async () => {
  const failed = silentWorker();
  failed.worker.emit('error', new Error('a fault'));
  failed.worker.emit('exit', 1);
  await expect(failed.thread.ask(open)).rejects.toThrow('a fault');
  const ended = silentWorker();
  ended.worker.emit('exit', 0);
  await expect(ended.thread.ask(open)).rejects.toMatchObject({ code: 'closed' });
});
