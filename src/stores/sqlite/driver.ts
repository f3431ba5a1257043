import { loadPeer } from '../../domain/peer.ts';

export type SqlValue = string | number | null | Uint8Array;

/** The part of a prepared statement of `node:sqlite` that this store uses. */
export interface Statement {
  get(...values: readonly SqlValue[]): unknown;
  all(...values: readonly SqlValue[]): unknown[];
  iterate(...values: readonly SqlValue[]): IterableIterator<unknown>;
  run(...values: readonly SqlValue[]): { readonly lastInsertRowid: number | bigint };
  /** Makes rows lists of values instead of objects. */
  setReturnArrays(enabled: boolean): void;
}

/** The part of a connection of `node:sqlite` that this store uses. */
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
 * Loads SQLite: the runtime's own if it has one, else the package with the same interface.
 * See docs/decisions/0110-two-sqlite-drivers.md.
 *
 * @throws `unsupported`: the runtime has none, and the package is not installed.
 */
export function loadDriver(): Promise<Driver> {
  loaded ??= load();
  // Allow a retry after the package was installed.
  loaded.catch(() => {
    loaded = undefined;
  });
  return loaded;
}

/**
 * Converts a number for binding. The package binds a number less than an epsilon above a whole number as that whole number,
 * so such a number is passed as text. The runtime's own driver is exact, and its SQLite may misread the last bit of a text.
 */
export function real(value: number): SqlValue {
  const above = value - Math.floor(value);
  return !isOwn && above > 0 && above < Number.EPSILON ? String(value) : value;
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

/** The driver of Node.js, if it has the needed functions. The first releases of 22 and 24 lack some; 20 has no driver. */
function ownDriver(): Driver | undefined {
  const driver = withoutWarning(
    () => process.getBuiltinModule?.('node:sqlite') as unknown as Driver | undefined,
  );
  if (!driver) return undefined;
  const database = new driver.DatabaseSync(':memory:');
  try {
    // A driver with `isTransaction` also supports `timeout`, `setReturnArrays`, and URLs as file names.
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

/** Suppresses the warning of Node.js 22 that SQLite is experimental: users of a program cannot act on it. */
function withoutWarning<Result>(work: () => Result): Result {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
