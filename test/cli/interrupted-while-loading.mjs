// Loaded before a command by NODE_OPTIONS: Ctrl-C comes while a thread of an evaluation loads a space, which takes very long.
import { Worker } from 'node:worker_threads';

const { postMessage } = Worker.prototype;
let isInterrupted = false;
Worker.prototype.postMessage = function (request, ...more) {
  if (request?.do !== 'load') return postMessage.call(this, request, ...more);
  const [[memory]] = request.with;
  const memories = Array.from({ length: 100_000 }, (_, at) => ({
    ...memory,
    id: `m${at}`,
    content: `cat ${at}`,
  }));
  postMessage.call(this, { ...request, with: [memories] }, ...more);
  if (!isInterrupted) process.emit('SIGINT');
  isInterrupted = true;
};
