import { SalienceError, type SalienceErrorCode } from '../../domain/errors.ts';
import { UNCHANGED } from '../../domain/written.ts';

/**
 * Returns the code of an error: one of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html), or of the system,
 * such as `ECONNREFUSED`.
 */
function codeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** The file that could not be read, of those that a URL names: certificates and their key. */
function unreadFile(error: unknown): string | undefined {
  const { syscall, path } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return syscall === 'open' ? path : undefined;
}

/** Whether the connection ended before an answer came. The statement may have been executed. */
export function isLost(error: unknown): boolean {
  if (unreadFile(error) !== undefined) return false;
  const code = codeOf(error);
  if (code === undefined) {
    // The driver gives no code if a connection ends during a statement, or if a statement exceeds its `query_timeout`.
    return (
      error instanceof Error &&
      /connection terminated|connection ended|connection error|not queryable|socket|query read timeout/i.test(
        error.message,
      )
    );
  }
  return /^(08|57P0[1-5])/.test(code) || LOST.has(code);
}

const LOST: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  // The socket was closed on this side, and the driver has not noticed yet.
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
]);

/** Whether the server cannot be reached or gave no answer in time, so that the same request may work later. */
function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  return isLost(error) || isCancelled(error) || code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

/** Whether the pool was ended. It gives no connection any more. */
export function isOfEndedPool(error: unknown): boolean {
  return error instanceof Error && /after calling end on the pool/i.test(error.message);
}

/** Whether the server aborted a statement because it conflicted with another one (serialisation failure or deadlock). It can be retried. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * Whether a statement was cancelled, or its transaction was ended by `idle_in_transaction_session_timeout` or
 * `transaction_timeout`. Then it changed nothing.
 */
export function isCancelled(error: unknown): boolean {
  return ['57014', '25P03', '25P04'].includes(codeOf(error) ?? '');
}

/** Whether a statement needs a primary key or a unique constraint that is missing. */
export function lacksConstraint(error: unknown): boolean {
  return codeOf(error) === '42P10';
}

/** Whether a table or the schema does not exist. */
export function isUndefinedTable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '42P01' || code === '3F000';
}

/** Whether a table exists but lacks our columns or has them with other types. */
export function isOtherTable(error: unknown): boolean {
  return ['42703', '42883', '22P02'].includes(codeOf(error) ?? '');
}

/**
 * Whether the server does not know a setting, or an expression of the database's own converted a text that is not a UUID. The ids in
 * statements of this package are always UUIDs, so the text is a setting that a policy of row-level security reads.
 */
function isOfSetting(error: unknown): boolean {
  const code = codeOf(error);
  const { routine } = (error ?? {}) as { readonly routine?: unknown };
  return code === '42704' || (code === '22P02' && routine === 'string_to_uuid');
}

/** Whether the name of a new table or other object is already taken. */
export function isNameTaken(error: unknown): boolean {
  return ['42P07', '42710'].includes(codeOf(error) ?? '');
}

/**
 * Translates an error of the driver to a `SalienceError`. Returns a caller's own errors as they are. `place` is the host, port and
 * database. Neither the message nor the cause contains a password or the values of a statement.
 */
export function translateError(error: unknown, place: string): unknown {
  if (SalienceError.isInstance(error) || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const file = unreadFile(error);
  const known = isOfSetting(error) ? WRONG_SETTING : code === undefined ? undefined : describe(code);
  const [ours, what] = file === undefined ? (known ?? fallback(error, code)) : noFile(file, code);
  if (ours === undefined) return error;
  return new SalienceError(ours, `PostgreSQL at ${place}: ${what}`, {
    details: {
      place,
      ...(code === undefined ? {} : { code }),
      ...(isUnavailable(error) ? { unavailable: true } : {}),
    },
    // The driver's own error may quote rows.
    cause: { code, message: error.message },
  });
}

function noFile(file: string, code: string | undefined): Described {
  return [
    'store_failed',
    `${JSON.stringify(file)} cannot be read (${code}); correct sslrootcert, sslcert or sslkey in the URL`,
  ];
}

type Described = readonly [code: SalienceErrorCode | undefined, message: string];

const WRONG_SETTING: Described = [
  'store_failed',
  `a setting is missing or has a wrong value; ${UNCHANGED}. If the tables have row-level security, give the user the setting that its policies read, with the id of its space (ALTER ROLE … SET salience.space_id = '…'), and connect again. If the URL has options, check the names in them`,
];

function describe(code: string): Described | undefined {
  switch (code) {
    case '28P01':
    case '28000':
      return [
        'store_failed',
        'the user or the password is refused; check both, and the rules in pg_hba.conf',
      ];
    case '3D000':
      return [
        'store_failed',
        'the database does not exist; create it (createdb), or correct the name in the URL',
      ];
    case '42501':
      return [
        'store_read_only',
        `the user has no right to this; ${UNCHANGED}. Have the owner of the schema make its tables (migratePostgres), and grant the user USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables. If they have row-level security, its policies decide which spaces this user may open`,
      ];
    case '25006':
      return [
        'store_read_only',
        `the server takes no writes: it is a standby, or transactions are read-only; ${UNCHANGED}. Connect to the primary. If this is the primary, default_transaction_read_only is on: set it off for the user or the database (ALTER ROLE … SET default_transaction_read_only = off), and connect again`,
      ];
    case '53100':
      return ['store_full', `no space is left on its disk; ${UNCHANGED}. Free some, and try again`];
    case '53200':
      return [
        'store_failed',
        `the server is out of memory; ${UNCHANGED}. Try again, or with fewer memories at once`,
      ];
    case '53300':
      return [
        'store_busy',
        'the server, the database or the user has no connection left; raise max_connections, or the limit of the user or the database (ALTER ROLE … CONNECTION LIMIT), lower the size of the pool, or put a pooler before it',
      ];
    case '55P03':
      return [
        'store_busy',
        `another process holds the lock of the space or of a table; ${UNCHANGED}. Try again, or raise busyTimeout, an option of postgres, or the lock_timeout of the user`,
      ];
    case '40001':
    case '40P01':
      return [
        'store_busy',
        `others changed the same rows each time; ${UNCHANGED}. Try again, or raise busyTimeout, an option of postgres`,
      ];
    case '57014':
      return [
        'timed_out',
        `the statement was cancelled, by statement_timeout or by a user; ${UNCHANGED}. Raise the timeout, or try again`,
      ];
    case '25P03':
    case '25P04':
      return [
        'timed_out',
        `the transaction was ended, by transaction_timeout or idle_in_transaction_session_timeout; ${UNCHANGED}. Raise the timeout, or try again`,
      ];
    case '42P01':
    case '3F000':
    case '42703':
      return [
        'not_a_store',
        'a table of the schema is missing; have its owner make it (migratePostgres), or correct the name of the schema',
      ];
    case '42P10':
      return [
        'store_failed',
        `a table has lost its primary key or a unique constraint; ${UNCHANGED}. salience doctor names it`,
      ];
    case '22P05':
    case '22021':
      return [
        'store_failed',
        `the encoding of the database cannot hold this text; ${UNCHANGED}. Use a database with the encoding UTF8 (createdb --encoding=UTF8 --template=template0)`,
      ];
    case '22P02':
    case '22023':
      return [
        'store_corrupt',
        'a stored value is not what was written; run salience doctor, then restore the database from a backup',
      ];
    case 'XX001':
    case 'XX002':
      return ['store_corrupt', 'the server reports damaged data; restore the database from a backup'];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ['store_failed', 'the host cannot be found; correct the URL, or look at the name service'];
    case 'ECONNREFUSED':
    case 'ENOENT':
      return ['store_failed', 'nothing listens there; start the server, or correct host and port'];
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return ['store_failed', 'it cannot be reached; look at the network and its rules'];
    default:
      return undefined;
  }
}

function fallback(error: Error, code: string | undefined): Described {
  if (/query read timeout/i.test(error.message)) {
    return ['timed_out', 'there was no answer within the query_timeout of the pool; raise it, or try again'];
  }
  if (isLost(error)) {
    return [
      'store_failed',
      'the connection ended before there was an answer; try again when the server is back',
    ];
  }
  if (isOfEndedPool(error)) {
    return [
      'closed',
      'the store was closed, or its pool was ended; open another store, and end a pool of your own once its store is closed',
    ];
  }
  if (/timeout exceeded when trying to connect|timeout expired/i.test(error.message)) {
    return [
      'store_busy',
      'no connection became free in time; raise the size of the pool, or request less at a time',
    ];
  }
  if (/password must be a string|SCRAM/i.test(error.message)) {
    return [
      'store_failed',
      'the server asks for a password, and none is given; put it into the URL or into PGPASSWORD',
    ];
  }
  if (/does not support SSL|certificate|SSL/i.test(error.message) || code?.startsWith('ERR_TLS')) {
    return [
      'store_failed',
      'the encrypted connection could not be made; look at sslmode and at the certificates',
    ];
  }
  if (code !== undefined && /^[0-9A-Z]{5}$/.test(code)) {
    return ['store_failed', `the server failed with code ${code}; its own message is the cause`];
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return ['store_failed', `system error ${code}`];
  return [undefined, ''];
}
