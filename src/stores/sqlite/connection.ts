import { setTimeout as wait } from 'node:timers/promises';
import { isStorable } from '../../domain/wellformed.ts';
import { addChecksumFunction } from './checksum.ts';
import { type Database, loadDriver, type SqlValue, type Statement } from './driver.ts';
import { foreignDatabase, isBusy } from './faults.ts';

/**
 * One connection to a file, with its prepared statements. The file is attached under the name `space` to an empty
 * database in memory, because the driver finalises statements only when they are collected, and until then SQLite keeps
 * a main database open: an attached one is closed at once. Tables are found without its name. What would mean the main
 * database has to name it: `PRAGMA space.…`, `VACUUM space`, `CREATE TABLE space.…`, `space.sqlite_schema`.
 */
export interface Connection {
  readonly path: string;
  readonly database: Database;
  /** The statement for this text, prepared once. */
  statement(sql: string): Statement;
  get(sql: string, ...values: readonly SqlValue[]): unknown;
  all(sql: string, ...values: readonly SqlValue[]): unknown[];
  /** The rows as lists of values: for many rows of many columns, where making objects of them takes longer than reading. */
  lists(sql: string, ...values: readonly SqlValue[]): SqlValue[][];
  /** The rows one by one. */
  each(sql: string, ...values: readonly SqlValue[]): Iterable<unknown>;
  /** The rows one by one, as lists of values. */
  eachList(sql: string, ...values: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  run(sql: string, ...values: readonly SqlValue[]): void;
  /** Another number whenever something that was not known at the last call may have changed, by whomever. */
  version(): number;
  /** Closes the file, whatever became of the statements. The last connection to a file takes its log away. */
  close(): void;
}

export interface ConnectOptions {
  readonly readOnly: boolean;
  /** Milliseconds that a statement waits, blocking the thread, for another process. */
  readonly timeout: number;
  /** The file is on a disk that nobody can write to: no locks and no log are needed. */
  readonly immutable?: boolean | undefined;
  /** Whether a file is made where there is none. Default is false. */
  readonly makes?: boolean | undefined;
  /** Keeps all others out from the start, so that no file is needed beside it by which they agree. Default is false. */
  readonly alone?: boolean | undefined;
}

const MOST_STATEMENTS = 500;

/** In the place of a path: a database that is gone with its connection. */
export const IN_MEMORY = ':memory:';

/** Loads the driver on first use and opens a file. Throws the driver's errors. */
export async function connect(path: string, options: ConnectOptions): Promise<Connection> {
  const { DatabaseSync } = await loadDriver();
  const { pathToFileURL } = await import('node:url');
  const mode = options.immutable
    ? '?mode=ro&immutable=1'
    : options.readOnly
      ? '?mode=ro'
      : options.makes
        ? ''
        : '?mode=rw';
  const database = new DatabaseSync(':memory:', {
    timeout: options.timeout,
    enableForeignKeyConstraints: true,
  });
  addChecksumFunction(database);
  try {
    // Without a name it holds for what is attached from now on.
    if (options.alone) database.exec('PRAGMA locking_mode = EXCLUSIVE');
    const file = path === IN_MEMORY ? path : `${pathToFileURL(path).href}${mode}`;
    database.prepare('ATTACH ? AS space').run(file);
  } catch (error) {
    database.close();
    throw isOfAnotherEncoding(error) ? foreignDatabase(path) : error;
  }
  const statements = new Map<string, Statement>();
  const prepared = (sql: string, key: string, asLists: boolean) => {
    let statement = statements.get(key);
    if (!statement) {
      // Filters of lists make any number of texts.
      if (statements.size >= MOST_STATEMENTS) statements.clear();
      statement = database.prepare(sql);
      if (asLists) statement.setReturnArrays(true);
      statements.set(key, statement);
    }
    return statement;
  };
  const statement = (sql: string) => prepared(sql, sql, false);
  const statementOfLists = (sql: string) => prepared(sql, `lists ${sql}`, true);
  // SQLite counts the writes of other connections to a file, and of those to memory there is no other one.
  const counted = path === IN_MEMORY ? 'SELECT total_changes() AS version' : 'PRAGMA space.data_version';
  return {
    path,
    database,
    statement,
    version: () => Object.values(statement(counted).get() as object)[0] as number,
    get: (sql, ...values) => statement(sql).get(...wanted(values)),
    all: (sql, ...values) => statement(sql).all(...wanted(values)),
    lists: (sql, ...values) => statementOfLists(sql).all(...wanted(values)) as SqlValue[][],
    each: (sql, ...values) => iterate(statement(sql), wanted(values)),
    eachList: (sql, ...values) => iterate(statementOfLists(sql), wanted(values)) as Iterable<SqlValue[]>,
    run: (sql, ...values) => void statement(sql).run(...values),
    close() {
      if (!database.isOpen) return;
      statements.clear();
      try {
        if (database.isTransaction) database.exec('ROLLBACK');
        database.exec('DETACH space');
      } finally {
        database.close();
      }
    },
  };
}

/** Bytes that no text of UTF-8 has: they are equal to none, and in none. */
const NOWHERE = new Uint8Array([0xff]);

/**
 * What is looked for. The driver would end a text at its first NUL, and change half of a surrogate pair: what no row can hold
 * would find another row.
 */
function wanted(values: readonly SqlValue[]): readonly SqlValue[] {
  const isUnknown = (value: SqlValue) => typeof value === 'string' && !isStorable(value);
  return values.some(isUnknown) ? values.map((value) => (isUnknown(value) ? NOWHERE : value)) : values;
}

function* iterate(rows: Statement, values: readonly SqlValue[]): Generator<unknown> {
  try {
    yield* rows.iterate(...values);
  } catch (error) {
    // The driver leaves a statement that failed midway under way, and the file in use; starting it anew ends that.
    attempt(() => rows.get(...values));
    throw error;
  }
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch {}
}

/** Every file of ours has UTF-8, as the database has that it is attached to. */
function isOfAnotherEncoding(error: unknown): boolean {
  return (error as Error).message.includes('same text encoding');
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

/** The same for a `task` that waits, though for nothing but this connection. */
export async function longReadTransaction<Result>(
  connection: Connection,
  task: () => Promise<Result> | Result,
): Promise<Result> {
  // Prepared once: each recall is one.
  connection.run('BEGIN');
  try {
    return await task();
  } finally {
    connection.run('COMMIT');
  }
}
