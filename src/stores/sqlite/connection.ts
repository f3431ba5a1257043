import { setTimeout as wait } from 'node:timers/promises';
import { isStorable } from '../../domain/wellformed.ts';
import { addChecksumFunction } from './checksum.ts';
import { type Database, loadDriver, type SqlValue, type Statement } from './driver.ts';
import { foreignDatabase, isBusy } from './faults.ts';

/**
 * One connection to a file, with its prepared statements. The file is attached as `space` to an empty database in memory:
 * SQLite keeps a main database open until the driver finalises all statements, which it does only at garbage collection, but
 * closes an attached database at once. Tables are found without the prefix `space`. Statements that refer to the main
 * database by default need it: `PRAGMA space.…`, `VACUUM space`, `CREATE TABLE space.…`, `space.sqlite_schema`.
 */
export interface Connection {
  readonly path: string;
  readonly database: Database;
  /** The statement for this text, prepared once. */
  statement(sql: string): Statement;
  get(sql: string, ...values: readonly SqlValue[]): unknown;
  all(sql: string, ...values: readonly SqlValue[]): unknown[];
  /** The rows as lists of values. For many rows with many columns, creating objects takes longer than reading. */
  lists(sql: string, ...values: readonly SqlValue[]): SqlValue[][];
  /** The rows one by one. */
  each(sql: string, ...values: readonly SqlValue[]): Iterable<unknown>;
  /** The rows one by one, as lists of values. */
  eachList(sql: string, ...values: readonly SqlValue[]): Iterable<readonly SqlValue[]>;
  run(sql: string, ...values: readonly SqlValue[]): void;
  /** A number that changes whenever any connection may have changed something since the last call. */
  version(): number;
  /** Closes the file, even if statements are still open. The last connection to a file removes its log. */
  close(): void;
}

export interface ConnectOptions {
  readonly readOnly: boolean;
  /** Milliseconds that a statement waits, blocking the thread, for another process. */
  readonly timeout: number;
  /** Whether nobody can write to the file, so that it needs no locks and no log. */
  readonly immutable?: boolean | undefined;
  /** Whether to create the file if it does not exist. Default is false. */
  readonly makes?: boolean | undefined;
  /** Keeps all others out from the start, so that no file is needed beside it by which they agree. Default is false. */
  readonly alone?: boolean | undefined;
}

const MOST_STATEMENTS = 500;

/** The path of a database in memory, which is lost when its connection closes. */
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
      // Filters of lists can produce any number of different statements.
      if (statements.size >= MOST_STATEMENTS) statements.clear();
      statement = database.prepare(sql);
      if (asLists) statement.setReturnArrays(true);
      statements.set(key, statement);
    }
    return statement;
  };
  const statement = (sql: string) => prepared(sql, sql, false);
  const statementOfLists = (sql: string) => prepared(sql, `lists ${sql}`, true);
  // `data_version` counts writes of other connections to a file. A database in memory has only this connection.
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

/** Bytes that are not valid UTF-8, so that no stored text equals or contains them. */
const NOWHERE = new Uint8Array([0xff]);

/**
 * Replaces texts that no row can hold. The driver would cut a text at its first NUL and change a lone surrogate, and so find
 * a wrong row.
 */
function wanted(values: readonly SqlValue[]): readonly SqlValue[] {
  const isUnknown = (value: SqlValue) => typeof value === 'string' && !isStorable(value);
  return values.some(isUnknown) ? values.map((value) => (isUnknown(value) ? NOWHERE : value)) : values;
}

function* iterate(rows: Statement, values: readonly SqlValue[]): Generator<unknown> {
  try {
    yield* rows.iterate(...values);
  } catch (error) {
    // The driver leaves a failed statement active, which keeps the file in use. Running it again resets it.
    attempt(() => rows.get(...values));
    throw error;
  }
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch {}
}

/** Whether a file has another text encoding than UTF-8, which all files of this engine have. */
function isOfAnotherEncoding(error: unknown): boolean {
  return (error as Error).message.includes('same text encoding');
}

/** SQLite's own pauses between two attempts, in milliseconds. */
const pauses = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/** Repeats `attempt` for up to `timeout` ms while another connection holds a lock, without blocking the thread. */
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
 * Runs `task` between BEGIN IMMEDIATE and COMMIT. Any error, also one of the disk, rolls everything back. The connection
 * must have a timeout of 0: this function waits for the lock.
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
    // After some failures, such as a full disk, SQLite has already rolled back.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Runs `task` in a read transaction, which sees one state of the file. */
export function readTransaction<Result>(connection: Connection, task: () => Result): Result {
  connection.database.exec('BEGIN');
  try {
    return task();
  } finally {
    connection.database.exec('COMMIT');
  }
}

/** Does the same for an asynchronous `task`, which may await nothing but this connection. */
export async function longReadTransaction<Result>(
  connection: Connection,
  task: () => Promise<Result> | Result,
): Promise<Result> {
  // A prepared statement, because every recall runs it.
  connection.run('BEGIN');
  try {
    return await task();
  } finally {
    connection.run('COMMIT');
  }
}
