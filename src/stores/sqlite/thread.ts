import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { programFile } from '../../domain/program-file.ts';
import { isOwnDriver, type SqlValue } from './driver.ts';

export type Rows = readonly (readonly SqlValue[])[];

/** Two `SharedArrayBuffer`s. */
export interface Room {
  readonly bytes: Uint8Array;
  /** How many rows nobody has taken yet: whoever takes one counts it down first. */
  readonly left: Int32Array;
}

/** Another thread that has SQLite. */
export interface Thread {
  /**
   * Runs a statement on a file, which is named `space`. Its rows; `undefined` where it failed, or the thread has ended. A program
   * does not end meanwhile. A file that is not there is not made.
   */
  run(path: string, mode: 'ro' | 'rw', sql: string, values?: readonly SqlValue[]): Promise<Rows | undefined>;
  /**
   * The same of a statement that reads, whose first column is bytes: those of the first rows are put one after the other into a room.
   * The rows have their CRC-32 instead. `undefined` also where they have no room.
   */
  fill(path: string, sql: string, values: readonly SqlValue[], into: Room): Promise<Rows | undefined>;
  /** To be called when nothing is asked. Resolves when it has ended, and no file is open there. */
  end(): Promise<void>;
}

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly into?: Room;
}

/** CommonJS as a text, so that there is no file that a bundler would have to know of. What is deleted is overwritten, as on every connection. */
const SCRIPT = `
  process.emitWarning = () => {};
  const { parentPort, workerData: { driver, pending } } = require('node:worker_threads');
  const { crc32 } = require('node:zlib');
  const { DatabaseSync } = require(driver);
  const { port1: nowhere, port2 } = new MessageChannel();
  port2.close();
  const fill = (rows, into) => {
    let end = 0;
    const filled = [];
    for (const [bytes, ...others] of rows) {
      if (Atomics.sub(into.left, 0, 1) <= 0) break;
      into.bytes.set(bytes, end);
      end += bytes.length;
      filled.push([crc32(bytes), ...others]);
      // See release.ts.
      if (bytes.length === bytes.buffer.byteLength) nowhere.postMessage(undefined, [bytes.buffer]);
    }
    return filled;
  };
  const run = ({ url, sql, values, into }) => {
    const database = new DatabaseSync(':memory:', { timeout: 2000 });
    try {
      database.prepare('ATTACH ? AS space').run(url);
      try {
        database.exec('PRAGMA space.secure_delete = ON');
        const statement = database.prepare(sql);
        statement.setReturnArrays(true);
        return into ? fill(statement.iterate(...values), into) : statement.all(...values);
      } finally {
        database.exec('DETACH space');
      }
    } finally {
      database.close();
    }
  };
  parentPort.on('message', ({ number, ...statement }) => {
    let rows;
    try {
      rows = run(statement);
    } catch {}
    parentPort.postMessage({ number, rows });
    Atomics.sub(pending, 0, 1);
    Atomics.notify(pending, 0);
  });
`;

/** How many statements each thread of this process has not ended yet. */
const running = new Set<Int32Array>();
/** Milliseconds that the end of a process waits for them at most. */
const MOST_MS = 10_000;

/** Elsewhere a thread that cannot begin may not say so. */
export function hasThreads(): boolean {
  return !['bun', 'deno', 'electron'].some((name) => name in process.versions);
}

/** Starts a thread. Throws where a process may start none. */
export async function startThread(): Promise<Thread> {
  if (!hasThreads()) throw new Error('threads of Node.js are needed');
  const { Worker } = await import('node:worker_threads');
  const driver = isOwnDriver()
    ? 'node:sqlite'
    : module.createRequire(import.meta.url ?? programFile()).resolve('@photostructure/sqlite');
  const pending = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { driver, pending };
  const worker = new Worker(SCRIPT, { eval: true, workerData, execArgv: [], name: 'salience' });
  if (running.size === 0) process.on('exit', awaitAll);
  running.add(pending);
  const asked = new Map<number, (rows: Rows | undefined) => void>();
  let last = 0;
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
    for (const resolve of asked.values()) resolve(undefined);
    asked.clear();
    if (running.delete(pending) && running.size === 0) process.off('exit', awaitAll);
  };
  worker.on('message', ({ number, rows }: { number: number; rows: Rows | undefined }) => {
    asked.get(number)?.(rows);
    asked.delete(number);
    if (asked.size === 0) worker.unref();
  });
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref();
  const ask = async (path: string, mode: 'ro' | 'rw', statement: Statement) => {
    if (hasEnded) return undefined;
    const number = ++last;
    return new Promise<Rows | undefined>((resolve) => {
      asked.set(number, resolve);
      // A process ends when it has nothing else to do, but not while somebody waits for this.
      worker.ref();
      Atomics.add(pending, 0, 1);
      worker.postMessage({ number, url: `${pathToFileURL(path).href}?mode=${mode}`, ...statement });
    });
  };
  return {
    run: (path, mode, sql, values = []) => ask(path, mode, { sql, values }),
    fill: (path, sql, values, into) => ask(path, 'ro', { sql, values, into }),
    async end() {
      await worker.terminate();
    },
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
