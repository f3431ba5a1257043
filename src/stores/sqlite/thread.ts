import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { programFile } from '../../domain/program-file.ts';
import { isOwnDriver, type SqlValue } from './driver.ts';

export type Rows = readonly (readonly SqlValue[])[];

/** Memory that threads share. Both arrays are views of a `SharedArrayBuffer`. */
export interface Room {
  readonly bytes: Uint8Array;
  /** The number of rows that may still be taken. A thread decrements it before it takes a row. */
  readonly left: Int32Array;
}

/** A worker thread with its own SQLite. */
export interface Thread {
  /**
   * Runs a statement on the file at `path`, which is attached as `space`. Returns the rows, or `undefined` if the statement failed or
   * the thread has ended. Keeps the process alive meanwhile. Does not create a missing file.
   */
  run(path: string, mode: 'ro' | 'rw', sql: string, values?: readonly SqlValue[]): Promise<Rows | undefined>;
  /**
   * Does the same with a query whose first column is bytes. Writes the bytes of the first rows one after the other to `into`, and
   * returns those rows with the CRC-32 in place of the bytes. Also returns `undefined` if the bytes do not fit.
   */
  fill(path: string, sql: string, values: readonly SqlValue[], into: Room): Promise<Rows | undefined>;
  /** Ends the thread. Call it when no statement is running. Resolves when the thread has ended and has no file open. */
  end(): Promise<void>;
}

interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly into?: Room;
}

/**
 * The code of the thread, as CommonJS in a string, so that bundlers need to know of no extra file. As on every connection,
 * `secure_delete` overwrites deleted data.
 */
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

/** For each thread of this process, the number of statements that have not finished. */
const running = new Set<Int32Array>();
/** The longest time, in milliseconds, that the exit of the process waits for these statements. */
const MOST_MS = 10_000;

/** Whether this runtime reports a thread that cannot start. Runtimes other than Node.js may not. */
export function hasThreads(): boolean {
  return !['bun', 'deno', 'electron'].some((name) => name in process.versions);
}

/** Starts a thread. Throws if the process cannot or may not start one. */
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
      // An idle thread does not keep the process alive; a running statement does.
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

/**
 * Waits until all threads have finished their statements. `process.exit` ends threads at any point, and the npm driver for Node.js 20
 * aborts the process if its thread is inside SQLite then.
 */
function awaitAll(): void {
  const until = performance.now() + MOST_MS;
  for (const pending of running) {
    for (let count = Atomics.load(pending, 0); count > 0; count = Atomics.load(pending, 0)) {
      if (Atomics.wait(pending, 0, count, until - performance.now()) === 'timed-out') return;
    }
  }
}
