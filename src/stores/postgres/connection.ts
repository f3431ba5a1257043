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
  /** Host, port and database: what messages may say of where it is. */
  readonly place: string;
  readonly schema: string;
  readonly tables: TableNames;
  /** Milliseconds to wait for what others hold. */
  readonly busyTimeout: number;
  /**
   * Runs one statement, again where the server gave it up for the sake of another one, for as long as `busyTimeout`. One that only
   * `reads` is left when the caller gives it up; of the others the end is waited for. Throws `aborted`, and the driver's own errors.
   */
  run(statement: Sql, options?: { readonly reads?: boolean }): Promise<readonly Row[]>;
  /**
   * Reads the column `bytes` of a query's rows, in their order and as one: `take` gets it in pieces that are only lent. Leaves it
   * when the caller gives it up. No value may be other than letters and digits. Throws `aborted`, and the driver's own errors.
   */
  readBytes(query: Sql, take: (bytes: Uint8Array) => void): Promise<void>;
  /**
   * Runs statements within a transaction that begins with these statements. Where the pool gives no connection, `work` gets
   * none either. Throws the driver's own errors.
   */
  transaction<Result>(
    begin: string,
    work: (transaction: Transaction | undefined) => Promise<Result>,
  ): Promise<Result>;
  /** Runs several statements without values, as one transaction. Throws the driver's own errors. */
  script(text: string): Promise<void>;
  /**
   * Runs statements without values, each a transaction of its own, over one connection where the pool gives one. Throws the
   * driver's own errors.
   */
  session<Result>(
    work: (tell: (text: string) => Promise<readonly Row[]>) => Promise<Result>,
  ): Promise<Result>;
  /** Waits for work, but not for a server that no longer answers. */
  unlessSilent(work: Promise<unknown>): Promise<void>;
  /** The same of what is asked of the pool, which is ended. */
  close(): Promise<void>;
}

/** A transaction that is open. */
export interface Transaction extends Pick<Database, 'run' | 'readBytes'> {
  /** Ends it, and begins it anew. */
  renew(): Promise<void>;
}

export type Row = readonly (string | null)[];

/** A pool that is made when it is first asked, or one that was handed over. */
export interface Source {
  readonly place: string;
  pool(): Promise<PostgresPool>;
  /** Has a connection even where all of the pool are busy. */
  spare(): Promise<PostgresPool>;
  /** Waits for work, but not for a server that no longer answers. */
  unlessSilent(work: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** A transaction that sees one state, which nobody is kept from changing. */
export const READING = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Milliseconds that closing waits for a server of which nothing comes. */
export const LONGEST_SILENCE = 5000;

/** Statements with values are sent as they are: nothing is prepared, so that any pooler may stand between. */
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
      // Others go on in between: decoding takes a millisecond or two for a row.
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
          // It changed nothing. Users whose transactions are repeatable read by default have this whenever they write at once.
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
        // Who asks for several things at once shares the connection, which takes one after the other.
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
      // What was set for the connection must not stay with it: it is not kept.
      return withConnection(await pool.connect(), (connection) =>
        work((text) => query(connection, { text })),
      );
    },
    unlessSilent: source.unlessSilent,
    close: source.close,
  };
}

/** Asks a pool, or a connection of it. Throws the driver's own errors, and `invalid_argument` where rows are no arrays. */
async function query(
  asked: Pick<PostgresPool, 'query'>,
  statement: Statement | { readonly text: string },
): Promise<readonly Row[]> {
  const answer = await asked.query({ ...statement, rowMode: 'array' });
  const rows = (answer as Partial<typeof answer> | undefined)?.rows;
  // Drivers answer several statements, which have no values, with several results.
  if ('values' in statement && !(Array.isArray(rows) && Array.isArray(rows[0] ?? []))) {
    throw invalidArgument(
      'store',
      `the pool does not give rows as arrays; its query({ text, values, rowMode: 'array' }) must answer { rows: [["value", …], …] }, as pools of pg do`,
    );
  }
  return rows as readonly Row[];
}

/** Lets `work` have a connection, which is closed afterwards unless `work` has said that the pool can keep it. */
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

/** A pool of connections to a URL. Throws `invalid_argument` for anything but a URL of PostgreSQL. */
export function sourceOfUrl(url: string, { max = 10, connectTimeout }: PoolOptions): Source {
  const place = placeOf(url);
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
      connectionString: url,
      max,
      connectionTimeoutMillis: connectTimeout,
      // A server that went without a word is noticed under a statement, as far as the system does so.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      // A program that has come to its end need not wait for connections that nobody uses.
      allowExitOnIdle: true,
    });
    // A connection that breaks while nobody uses it leaves the pool; the next statement makes another.
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
  /** Ends the wait once connections are in use and nothing has come over any of them for that long. */
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

/** A pool that somebody else made, and closes. */
export function sourceOfPool(pool: PostgresPool): Source {
  listenTo(pool);
  return {
    place: 'the given pool',
    pool: async () => pool,
    spare: async () => pool,
    // How long a statement may take is an option of the pool.
    unlessSilent: async (work) => void (await work),
    close: async () => {},
  };
}

/** What clients of `pg` have beside it. */
interface WithSocket {
  readonly connection: { readonly stream: Socket };
}

/** What pools of `pg` have beside what a store asks of any. */
interface WithEvents {
  on?(event: 'acquire', listener: (client: Pick<PostgresConnection, 'on'>) => void): unknown;
}

const listenedTo = new WeakSet<object>();

/**
 * Sees to it that every client of a pool has a listener for errors at any time. `pg` takes its own away when it hands a client
 * over, and who waited for the client hears of it a moment later.
 */
function listenTo(pool: object): void {
  const events = pool as WithEvents;
  if (typeof events.on !== 'function' || listenedTo.has(pool)) return;
  listenedTo.add(pool);
  events.on('acquire', hearErrors);
}

/** Without a listener the program would end; the next statement fails, and says so. */
function hearErrors(client: Pick<PostgresConnection, 'on'>): void {
  if (listenedTo.has(client)) return;
  listenedTo.add(client);
  client.on?.('error', () => {});
}

function loadDriver(): Promise<typeof import('pg')> {
  return loadPeer(() => import('pg').catch((error) => Promise.reject(error)), ['pg'], 'salience/postgres');
}

/** Where a URL leads, without user and password. The URL itself is in no message. */
function placeOf(url: string): string {
  try {
    const parsed = new URL(url);
    if (['postgres:', 'postgresql:'].includes(parsed.protocol) && !isCutShort(parsed)) {
      const host = parsed.hostname || parsed.searchParams.get('host') || 'localhost';
      const port = parsed.port || parsed.searchParams.get('port') || '5432';
      return `${host}:${port}/${decodeURIComponent(parsed.pathname.slice(1))}`;
    }
  } catch {
    // The error of the URL would quote it.
  }
  throw notAUrl();
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

/** Runs a task; the driver's errors become ours. */
export async function translated<Result>(database: Database, task: () => Promise<Result>): Promise<Result> {
  try {
    return await task();
  } catch (error) {
    throw await explained(database, error);
  }
}

/** As {@link translateError}; where a constraint is missing, the tables tell which. */
export async function explained(database: Database, error: unknown): Promise<unknown> {
  const failure = lacksConstraint(error) ? await constraintFailure(database) : undefined;
  return failure ?? translateError(error, database.place);
}
