import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isOwnDriver } from './driver.ts';

/** Another thread that has SQLite. */
export interface Thread {
  /** What its script answers; `undefined` where that threw, or the thread has ended. A program does not end meanwhile. */
  ask(question: unknown): Promise<unknown>;
  /** To be called when nothing is asked. */
  end(): void;
}

/** What every script begins with. */
const PROLOGUE = `
  process.emitWarning = () => {};
  const { parentPort, workerData: { driver, pending } } = require('node:worker_threads');
  const { DatabaseSync } = require(driver);
  const answer = (work) => parentPort.on('message', ({ number, question }) => {
    let answered;
    try {
      answered = work(question);
    } catch {}
    parentPort.postMessage({ number, answered });
    Atomics.sub(pending, 0, 1);
    Atomics.notify(pending, 0);
  });
`;

/** How many questions each thread of this process has not answered yet. */
const running = new Set<Int32Array>();
/** Milliseconds that the end of a process waits for them at most. */
const MOST_MS = 10_000;

/**
 * Starts a thread. Its script is CommonJS as a text, so that there is no file that a bundler would have to know of; it has
 * `DatabaseSync`, and calls `answer` with a function from questions to answers. Throws where a process may start no threads.
 */
export async function startThread(script: string): Promise<Thread> {
  // Elsewhere a thread that cannot begin may not say so.
  const isElsewhere = ['bun', 'deno', 'electron'].some((name) => name in process.versions);
  if (isElsewhere) throw new Error('threads of Node.js are needed');
  const { Worker } = await import('node:worker_threads');
  const driver = isOwnDriver()
    ? 'node:sqlite'
    : createRequire(import.meta.url ?? join(process.cwd(), 'program.js')).resolve('@photostructure/sqlite');
  const pending = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { driver, pending };
  const worker = new Worker(PROLOGUE + script, { eval: true, workerData, execArgv: [], name: 'salience' });
  if (running.size === 0) process.on('exit', awaitAll);
  running.add(pending);
  const asked = new Map<number, (answer: unknown) => void>();
  let last = 0;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    for (const resolve of asked.values()) resolve(undefined);
    asked.clear();
    if (running.delete(pending) && running.size === 0) process.off('exit', awaitAll);
  };
  worker.on('message', ({ number, answered }: { number: number; answered: unknown }) => {
    asked.get(number)?.(answered);
    asked.delete(number);
    if (asked.size === 0) worker.unref();
  });
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref();
  return {
    async ask(question) {
      if (hasEnded) return undefined;
      const number = ++last;
      return new Promise((resolve) => {
        asked.set(number, resolve);
        // A process ends when it has nothing else to do, but not while somebody waits for this.
        worker.ref();
        Atomics.add(pending, 0, 1);
        worker.postMessage({ number, question });
      });
    },
    end: () => void worker.terminate(),
  };
}

/** `process.exit` ends threads wherever they are, and the driver of Node.js 20 aborts the process when it is in the middle of SQLite. */
function awaitAll(): void {
  const until = performance.now() + MOST_MS;
  for (const pending of running) {
    for (let count = Atomics.load(pending, 0); count > 0; count = Atomics.load(pending, 0)) {
      if (Atomics.wait(pending, 0, count, until - performance.now()) === 'timed-out') return;
    }
  }
}
