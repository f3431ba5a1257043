import type { Socket } from 'node:net';
import { invalidArgument } from '../../domain/check.ts';
import { SalienceError } from '../../domain/errors.ts';
import { loadPeer } from '../../domain/peer.ts';
import { createQueue } from '../../store/queue.ts';
import { copyBytes, takesCopies } from './binary.ts';
import { cancelling } from './cancelling.ts';
import { constraintFailure } from './constraints.ts';
import { isConflict, lacksConstraint, translateError } from './faults.ts';
import { type Sql, type Statement, sql, statementOf, withoutParameters } from './sql.ts';
import { type TableNames, tablesIn } from './tables.ts';

/**
 * What a store asks of a driver's pool, as `pg` has it: one statement at a time, over any connection. Every value goes and
 * comes as text. Without `values` the text may hold several statements, which are one transaction.
 */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>;
  /** A connection of its own. Without it a read that writers keep overtaking is given up after a few attempts. */
  connect?(): Promise<PostgresConnection>;
}

export interface PostgresConnection extends Pick<PostgresPool, 'query'> {
  /** Gives it back; with an error it is closed. */
  release(error?: Error | boolean): void;
  /** Tells of a connection that breaks while nothing is asked of it. */
  on?(event: 'error', listener: (error: Error) => void): unknown;
}

export interface PostgresQuery {
  readonly text: string;
  readonly values?: (string | null)[];
  readonly rowMode: 'array';
}

/** A database and a schema in it. */
export interface Database {
  /** Host, port and database, for messages. Contains no secrets. */
  readonly place: string;
  readonly schema: string;
  readonly tables: TableNames;
  /** Milliseconds to wait for locks of others. */
  readonly busyTimeout: number;
  /**
   * Runs one statement. Retries it, for up to `busyTimeout`, if the server aborted it because of a conflict. If the caller's
   * signal aborts, a statement that only `reads` is abandoned; for others the end is awaited. Throws `aborted`, and the
   * driver's own errors.
   */
  run(statement: Sql, options?: { readonly reads?: boolean }): Promise<readonly Row[]>;
  /**
   * Reads the column `bytes` of all rows of a query, concatenated. `take` gets it in pieces, which are valid only during the
   * call. Abandoned if the caller's signal aborts. Parameters may only contain letters and digits. Throws `aborted`, and the
   * driver's own errors.
   */
  readBytes(query: Sql, take: (bytes: Uint8Array) => void): Promise<void>;
  /**
   * Runs statements within a transaction that starts with the statements `begin`. If the pool provides no connections, `work`
   * gets none. Throws the driver's own errors.
   */
  transaction<Result>(
    begin: string,
    work: (transaction: Transaction | undefined) => Promise<Result>,
  ): Promise<Result>;
  /** Runs several statements without parameters as one transaction. Throws the driver's own errors. */
  script(text: string): Promise<void>;
  /**
   * Runs statements without parameters, each in a transaction of its own, on one connection if the pool provides one. Throws
   * the driver's own errors.
   */
  session<Result>(
    work: (tell: (text: string) => Promise<readonly Row[]>) => Promise<Result>,
  ): Promise<Result>;
  /** Waits for work, but not for a server that no longer answers. */
  unlessSilent(work: Promise<unknown>): Promise<void>;
  /** Waits for the statements in progress, unless the server no longer answers, and ends the pool. */
  close(): Promise<void>;
}

/** An open transaction. */
export interface Transaction extends Pick<Database, 'run' | 'readBytes'> {
  /** Ends the transaction, and begins another one. */
  renew(): Promise<void>;
}

export type Row = readonly (string | null)[];

/** A pool that is created on first use, or one that the caller passed in. */
export interface Source {
  readonly place: string;
  pool(): Promise<PostgresPool>;
  /** A pool that has a connection even if all connections of the main one are busy. */
  spare(): Promise<PostgresPool>;
  /** Waits for work, but not for a server that no longer answers. */
  unlessSilent(work: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** Begins a transaction that sees one state and does not block writers. */
export const READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Milliseconds that closing waits for a server that does not answer. */
export const LONGEST_SILENCE = 5000;

/** Opens a database. Uses no prepared statements, so that any connection pooler may be in between. */
export function openDatabase(source: Source, schema: string, busyTimeout: number): Database {
  const ask = async (statement: Statement | { readonly text: string }) =>
    query(await source.pool(), statement);
  const selectBytes = async (
    asked: Pick<PostgresPool, 'query'>,
    selected: Sql,
    take: (bytes: Uint8Array) => void,
  ) => {
    const { text, values } = statementOf(sql`SELECT encode(bytes, 'base64') FROM (${selected}) AS each`);
    const rows = await cancelling(source.spare, text, true, (tagged) =>
      query(asked, { text: tagged, values }),
    );
    for (const [bytes] of rows) {
      take(Buffer.from(bytes ?? '', 'base64'));
      // Let other work run: decoding a row takes a millisecond or two.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const bytesOver = (connection: PostgresConnection, query: Sql, take: (bytes: Uint8Array) => void) => {
    if (!takesCopies(connection)) return selectBytes(connection, query, take);
    const text = `COPY (${withoutParameters(query)}) TO STDOUT (FORMAT binary)`;
    return cancelling(source.spare, text, true, (tagged) => copyBytes(connection, tagged, take));
  };
  return {
    place: source.place,
    schema,
    tables: tablesIn(schema),
    busyTimeout,
    async run(statement, { reads = false } = {}) {
      const { text, values } = statementOf(statement);
      const deadline = performance.now() + busyTimeout;
      for (;;) {
        try {
          return await cancelling(source.spare, text, reads, (tagged) => ask({ text: tagged, values }));
        } catch (error) {
          // The statement changed nothing. With repeatable read as the default isolation, every concurrent write conflicts.
          if (!isConflict(error) || performance.now() > deadline) throw error;
        }
      }
    },
    async readBytes(query, take) {
      const pool = await source.pool();
      if (!pool.connect) return selectBytes(pool, query, take);
      await withConnection(await pool.connect(), async (connection, keep) => {
        await bytesOver(connection, query, take);
        keep();
      });
    },
    async transaction(begin, work) {
      const pool = await source.pool();
      if (!pool.connect) return work(undefined);
      return withConnection(await pool.connect(), async (connection, keep) => {
        // Concurrent statements of one session share the connection and run one after the other.
        const { run: inTurn } = createQueue();
        const tell = (text: string) => inTurn(() => query(connection, { text }));
        try {
          await tell(begin);
          const result = await work({
            readBytes: (query, take) => inTurn(() => bytesOver(connection, query, take)),
            async run(statement, { reads = false } = {}) {
              const { text, values } = statementOf(statement);
              return cancelling(source.spare, text, reads, (tagged) =>
                inTurn(() => query(connection, { text: tagged, values })),
              );
            },
            async renew() {
              await tell('COMMIT');
              await tell(begin);
            },
          });
          await tell('COMMIT');
          keep();
          return result;
        } catch (error) {
          await tell('ROLLBACK').then(keep, () => undefined);
          throw error;
        }
      });
    },
    async script(text) {
      await ask({ text });
    },
    async session(work) {
      const pool = await source.pool();
      if (!pool.connect) return work((text) => ask({ text }));
      // The connection is not returned to the pool, because `work` may have changed its settings.
      return withConnection(await pool.connect(), (connection) =>
        work((text) => query(connection, { text })),
      );
    },
    unlessSilent: source.unlessSilent,
    close: source.close,
  };
}

/** Runs a statement on a pool or a connection. Throws the driver's own errors, and `invalid_argument` if rows are not arrays. */
async function query(
  asked: Pick<PostgresPool, 'query'>,
  statement: Statement | { readonly text: string },
): Promise<readonly Row[]> {
  const answer = await asked.query({ ...statement, rowMode: 'array' });
  const rows = (answer as Partial<typeof answer> | undefined)?.rows;
  // For several statements, which have no parameters, drivers return several results.
  if ('values' in statement && !(Array.isArray(rows) && Array.isArray(rows[0] ?? []))) {
    throw invalidArgument(
      'store',
      `the pool does not give rows as arrays; its query({ text, values, rowMode: 'array' }) must answer { rows: [["value", …], …] }, as pools of pg do`,
    );
  }
  return rows as readonly Row[];
}

/** Calls `work` with a connection, and closes it afterwards unless `work` says that the pool can keep it. */
async function withConnection<Result>(
  connection: PostgresConnection,
  work: (connection: PostgresConnection, keep: () => void) => Promise<Result>,
): Promise<Result> {
  let isKept = false;
  hearErrors(connection);
  try {
    return await work(connection, () => {
      isKept = true;
    });
  } finally {
    connection.release(!isKept);
  }
}

export interface PoolOptions {
  readonly max?: number | undefined;
  readonly connectTimeout: number;
}

/** Creates a pool of connections to a URL. Throws `invalid_argument` if it is not a PostgreSQL URL. */
export function sourceOfUrl(url: string, { max = 10, connectTimeout }: PoolOptions): Source {
  const { place, connectionString } = addressOf(url);
  type Pool = PostgresPool & {
    readonly totalCount: number;
    readonly idleCount: number;
    end(): Promise<void>;
  };
  const sockets = new Set<Socket>();
  const made = new Map<'pool' | 'spare', Promise<Pool>>();
  const make = async (max: number) => {
    const { default: driver } = await loadDriver();
    const pool = new driver.Pool({
      connectionString,
      max,
      connectionTimeoutMillis: connectTimeout,
      // Lets the operating system detect a server that disappeared during a statement.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // Idle connections must not keep a finished program running.
      allowExitOnIdle: true,
    });
    // A connection that breaks while idle leaves the pool; the next statement opens another.
    pool.on('error', () => {});
    listenTo(pool);
    pool.on('connect', (client) => {
      const { stream } = (client as unknown as WithSocket).connection;
      sockets.add(stream);
      stream.once('close', () => sockets.delete(stream));
    });
    return pool as unknown as Pool;
  };
  const one = (which: 'pool' | 'spare') => {
    const known = made.get(which);
    if (known) return known;
    const making = make(which === 'pool' ? max : 1).catch((error: unknown) => {
      made.delete(which);
      throw error;
    });
    made.set(which, making);
    return making;
  };
  /** Stops waiting once connections are in use and none of them has received anything for `LONGEST_SILENCE`. */
  const unlessSilent = async (work: Promise<unknown>) => {
    const pools = await Promise.all(made.values());
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<void>((resolve) => {
      const read = () => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      const look = (before: number) => {
        timer = setTimeout(() => {
          const now = read();
          const isWaiting = pools.some(({ totalCount, idleCount }) => totalCount > idleCount);
          if (isWaiting && now === before) resolve();
          else look(now);
        }, LONGEST_SILENCE);
      };
      look(read());
    });
    await Promise.race([work, silence]).finally(() => clearTimeout(timer));
  };
  return {
    place,
    pool: () => one('pool'),
    spare: () => one('spare'),
    unlessSilent,
    async close() {
      await unlessSilent(Promise.all([...made.values()].map(async (pool) => (await pool).end())));
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Uses a pool that the caller created and closes. */
export function sourceOfPool(pool: PostgresPool): Source {
  listenTo(pool);
  return {
    place: 'the given pool',
    pool: async () => pool,
    spare: async () => pool,
    // Timeouts are configured in the pool.
    unlessSilent: async (work) => void (await work),
    close: async () => {},
  };
}

/** A further property of `pg` clients. */
interface WithSocket {
  readonly connection: { readonly stream: Socket };
}

/** A further method of `pg` pools. */
interface WithEvents {
  on?(event: 'acquire', listener: (client: Pick<PostgresConnection, 'on'>) => void): unknown;
}

const listenedTo = new WeakSet<object>();

/**
 * Ensures that every client of a pool always has an error listener. `pg` removes its own when it hands out a client, a moment
 * before the caller that waited for the client can add one.
 */
function listenTo(pool: object): void {
  const events = pool as WithEvents;
  if (typeof events.on !== 'function' || listenedTo.has(pool)) return;
  listenedTo.add(pool);
  events.on('acquire', hearErrors);
}

/** Adds an empty error listener, without which an error would end the program. The next statement reports the failure. */
function hearErrors(client: Pick<PostgresConnection, 'on'>): void {
  if (listenedTo.has(client)) return;
  listenedTo.add(client);
  client.on?.('error', () => {});
}

function loadDriver(): Promise<typeof import('pg')> {
  return loadPeer(() => import('pg').catch((error) => Promise.reject(error)), ['pg'], 'salience/postgres');
}

interface Address {
  /** Host, port and database, without user and password. Messages never contain the URL itself. */
  readonly place: string;
  /** The URL as `pg` reads it. */
  readonly connectionString: string;
}

/** Throws `invalid_argument` if it is not a PostgreSQL URL, or if `pg` cannot reach its database. */
function addressOf(url: string): Address {
  const address = parse(url);
  if (!address) throw notAUrl();
  if (/[?#]/.test(address.database)) throw unreachable();
  const { host, port, database, connectionString } = address;
  return { place: `${host}:${port}/${database}`, connectionString };
}

function parse(url: string) {
  try {
    const parsed = new URL(url);
    if (!['postgres:', 'postgresql:'].includes(parsed.protocol) || isCutShort(parsed)) return undefined;
    const host = parsed.hostname || parsed.searchParams.get('host') || 'localhost';
    const port = parsed.port || parsed.searchParams.get('port') || '5432';
    const database = decodeURIComponent(parsed.pathname.slice(1));
    // `pg` decodes the path by `decodeURI`, which leaves characters such as "%2F" and "%40" encoded.
    parsed.pathname = `/${encodeURI(database)}`;
    // If the URL has a space, or a "%" that begins no code, `pg` encodes all of it a second time.
    const connectionString = parsed.href.replaceAll(/%(?![0-9a-f]{2})/gi, '%25');
    // For codes that are not UTF-8, `pg` would throw an error of JavaScript later.
    return decodeURIComponent(connectionString) && { host, port, database, connectionString };
  } catch {
    // Not passed on: the error of `URL` quotes the URL.
    return undefined;
  }
}

function unreachable(): SalienceError {
  return new SalienceError(
    'invalid_argument',
    'store: the driver pg finds no database by a URL if its name contains "?" or "#"; rename the database, or hand over a pool, such as new pg.Pool({ database }) makes',
    { details: { field: 'store' } },
  );
}

/**
 * Whether the host ends within the password, at a "/", "?" or "#" of it that is not encoded: the "@" before the real host comes
 * later then, and the user, as the host, and the rest of the password, as the database, would be named in messages.
 */
function isCutShort({ pathname, searchParams, hash }: URL): boolean {
  return [pathname, hash, ...searchParams.keys()].some((part) => part.includes('@'));
}

function notAUrl(): SalienceError {
  return new SalienceError(
    'invalid_argument',
    'store: expected a URL such as postgresql://user@host:5432/database (percent-encode what is special in user, password and database, such as "/" as %2F and "@" as %40)',
    { details: { field: 'store' } },
  );
}

/** Runs a task, and translates the driver's errors to those of the engine. */
export async function translated<Result>(database: Database, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw await explained(database, error);
  }
}

/** Like {@link translateError}. For a missing constraint, looks up in the tables which one it is. */
export async function explained(database: Database, error: unknown): Promise<unknown> {
  const failure = lacksConstraint(error) ? await constraintFailure(database) : undefined;
  return failure ?? translateError(error, database.place);
}
