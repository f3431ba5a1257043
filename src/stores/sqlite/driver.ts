import { loadPeer } from '../../domain/peer.ts';

export type SqlValue = string | number | null | Uint8Array;

/** What is used of a prepared statement of `node:sqlite`. */
export interface Statement {
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
  iterate(...values: readonly SqlValue[]): IterableIterator<unknown>;
  run(...values: readonly SqlValue[]): { readonly lastInsertRowid: number | bigint };
  /** From now on rows are lists of values instead of objects. */
  setReturnArrays(enabled: boolean): void;
}

/** What is used of a connection of `node:sqlite`. */
export interface Database {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  function(
    name: string,
    options: { readonly deterministic: boolean; readonly varargs: boolean },
    call: (...values: readonly SqlValue[]) => SqlValue,
  ): void;
  close(): void;
}

export interface Driver {
  readonly DatabaseSync: new (
    path: string,
    options?: {
      readonly timeout?: number;
      readonly enableForeignKeyConstraints?: boolean;
      readonly readOnly?: boolean;
    },
  ) => Database;
}

let loaded: Promise<Driver> | undefined;
let isOwn = false;

/**
 * SQLite: the runtime's own where there is one, elsewhere the package that has the same interface.
 * See docs/decisions/0110-two-sqlite-drivers.md.
 *
 * @throws `unsupported`: there is none, and the package is not installed.
 */
export function loadDriver(): Promise<Driver> {
  loaded ??= load();
  // Somebody may install the package and try again.
  loaded.catch(() => {
    loaded = undefined;
  });
  return loaded;
}

/**
 * A number as it has to be bound. The package binds what lies within an epsilon above a whole number as that number, so
 * it gets a text. The runtime's own does not, and its SQLite may be one that misreads the last bit of such a text.
 */
export function real(value: number): SqlValue {
  const above = value - Math.floor(value);
  return !isOwn && above > 0 && above < Number.EPSILON ? String(value) : value;
}

/** Whether the driver keeps a text as it is: it may end it at its first NUL, and UTF-8 has no lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether the driver that was loaded is the runtime's own. */
export function isOwnDriver(): boolean {
  return isOwn;
}

async function load(): Promise<Driver> {
  const own = ownDriver();
  isOwn = own !== undefined;
  return (
    own ??
    loadPeer<Driver>(
      () => import('@photostructure/sqlite').catch((error) => Promise.reject(error)),
      ['@photostructure/sqlite'],
      `SQLite on Node.js ${process.version}`,
    )
  );
}

/** Node.js's own, where it can what is needed: the first releases of 22 and 24 cannot, and 20 has none. */
function ownDriver(): Driver | undefined {
  const driver = withoutWarning(
    () => process.getBuiltinModule?.('node:sqlite') as unknown as Driver | undefined,
  );
  if (!driver) return undefined;
  const database = new driver.DatabaseSync(':memory:');
  try {
    // What knows `isTransaction` also knows `timeout`, `setReturnArrays`, and file names that are URLs.
    return 'isTransaction' in database && bindsByNumber(database) ? driver : undefined;
  } finally {
    database.close();
  }
}

function bindsByNumber(database: Database): boolean {
  try {
    database.prepare('SELECT ?1').get(1);
    return true;
  } catch {
    return false;
  }
}

/** Node.js 22 calls it experimental on the standard error of whoever loads it, which no user of a program can act on. */
function withoutWarning<Result>(work: () => Result): Result {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
