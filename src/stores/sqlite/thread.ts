import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { isOwnDriver } from './driver.ts';

/** What every script begins with. */
const PROLOGUE = `
  process.emitWarning = () => {};
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require(workerData);
`;

/**
 * Another thread with SQLite. Its script is CommonJS as a text, so that there is no file that a bundler would have to know of;
 * it has `parentPort` and `DatabaseSync`. Throws where a process may start no threads.
 */
export async function startThread(script: string): Promise<Worker> {
  // Elsewhere a thread that cannot begin may not say so.
  const isElsewhere = ['bun', 'deno', 'electron'].some((name) => name in process.versions);
  if (isElsewhere) throw new Error('threads of Node.js are needed');
  const { Worker } = await import('node:worker_threads');
  const driver = isOwnDriver()
    ? 'node:sqlite'
    : createRequire(import.meta.url ?? join(process.cwd(), 'program.js')).resolve('@photostructure/sqlite');
  return new Worker(PROLOGUE + script, { eval: true, workerData: driver, execArgv: [], name: 'salience' });
}
