import { pathToFileURL } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { startThread } from './thread.ts';

/** What the thread runs, see `startThread`. A file that is not there is not made. */
const SCRIPT = `
  parentPort.on('message', ({ number, url }) => {
    let isDone = false;
    const database = new DatabaseSync(':memory:');
    try {
      database.prepare('ATTACH ? AS space').run(url + '?mode=rw');
      try {
        database.exec('PRAGMA space.wal_checkpoint(PASSIVE)');
        isDone = true;
      } finally {
        database.exec('DETACH space');
      }
    } catch {}
    database.close();
    parentPort.postMessage({ number, isDone });
  });
`;

/** One for all files of the process, from the first that needs it. */
let thread: Promise<Thread> | undefined;
let isRefused = false;

interface Thread {
  readonly worker: Worker;
  /** What is asked for and not answered yet, by number. */
  readonly asked: Map<number, (isDone: boolean) => void>;
}

/**
 * Puts the log of a file into the file, without holding up the thread that reads and writes it: that waits for the disk
 * twice. `false` where it was not done: nobody can do it on the side here, or somebody keeps it from being done.
 */
export async function checkpointAside(path: string): Promise<boolean> {
  thread ??= start();
  // This process may start no threads.
  const { worker, asked } = (await thread.catch(() => undefined)) ?? {};
  if (!worker || !asked || isRefused) return false;
  const number = ++last;
  return new Promise((resolve) => {
    asked.set(number, resolve);
    // A process ends when it has nothing else to do, but not while somebody waits for this.
    worker.ref();
    worker.postMessage({ number, url: pathToFileURL(path).href });
  });
}

let last = 0;

async function start(): Promise<Thread> {
  const worker = await startThread(SCRIPT);
  const asked: Thread['asked'] = new Map();
  const end = () => {
    isRefused = true;
    for (const resolve of asked.values()) resolve(false);
    asked.clear();
  };
  worker.on('message', ({ number, isDone }: { number: number; isDone: boolean }) => {
    asked.get(number)?.(isDone);
    asked.delete(number);
    if (asked.size === 0) worker.unref();
  });
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref();
  return { worker, asked };
}
