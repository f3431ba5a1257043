import { setTimeout as wait } from 'node:timers/promises';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { isBusy } from './faults.ts';

export type SqlValue = string | number | null | Uint8Array;

/** One connection to a file, with its prepared statements. */
export interface Connection {
  readonly path: string;
  readonly database: DatabaseSyncInstance;
  /** The statement for this text, prepared once. */
  statement(sql: string): StatementSyncInstance;
  get(sql: string, ...values: readonly SqlValue[]): unknown;
  all(sql: string, ...values: readonly SqlValue[]): unknown[];
  run(sql: string, ...values: readonly SqlValue[]): void;
  close(): void;
}

export interface ConnectOptions {
  readonly readOnly: boolean;
  /** Milliseconds that a statement waits, blocking the thread, for another process. */
  readonly timeout: number;
  /** The file is on a disk that nobody can write to: no locks and no log are needed. */
  readonly immutable?: boolean | undefined;
}

/** Loads the driver on first use and opens a file. Throws the driver's errors. */
export async function connect(path: string, options: ConnectOptions): Promise<Connection> {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const { pathToFileURL } = await import('node:url');
  const location = options.immutable ? `${pathToFileURL(path).href}?immutable=1` : path;
  const database = new DatabaseSync(location, {
    readOnly: options.readOnly,
    timeout: options.timeout,
    enableForeignKeyConstraints: true,
  });
  const statements = new Map<string, StatementSyncInstance>();
  const statement = (sql: string) => {
    let prepared = statements.get(sql);
    if (!prepared) {
      prepared = database.prepare(sql);
      statements.set(sql, prepared);
    }
    return prepared;
  };
  return {
    path,
    database,
    statement,
    get: (sql, ...values) => statement(sql).get(...values),
    all: (sql, ...values) => statement(sql).all(...values),
    run: (sql, ...values) => void statement(sql).run(...values),
    close() {
      statements.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** SQLite's own pauses between two attempts, in milliseconds. */
const pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/** Repeats `attempt` while another connection is in the way, without blocking the thread, for `timeout` ms. */
export async function retryWhileBusy<Result>(
  timeout: number,
  attempt: () => Result,
): Promise<Awaited<Result>> {
  const deadline = performance.now() + timeout;
  for (let round = 0; ; round++) {
    try {
      return await attempt();
    } catch (error) {
      const pause = pauses[Math.min(round, pauses.length - 1)] as number;
      if (!isBusy(error) || performance.now() + pause > deadline) throw error;
      await wait(pause);
    }
  }
}

/**
 * Runs `task` between BEGIN IMMEDIATE and COMMIT; whatever throws, the disk included, rolls everything back.
 * The connection has a timeout of 0: the lock is waited for here.
 */
export async function writeTransaction<Result>(
  connection: Connection,
  timeout: number,
  task: () => Promise<Result> | Result,
): Promise<Result> {
  const { database } = connection;
  await retryWhileBusy(timeout, () => database.exec('BEGIN IMMEDIATE'));
  try {
    const result = await task();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has rolled back by itself after some failures, such as a full disk.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Runs `task` on one unchanging state of the file. */
export function readTransaction<Result>(connection: Connection, task: () => Result): Result {
  connection.database.exec('BEGIN');
  try {
    return task();
  } finally {
    connection.database.exec('COMMIT');
  }
}
