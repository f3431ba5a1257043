import { randomBytes } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import { onBehalf, signalOfCaller } from '../../store/cancelling.ts';
import { type Database, explained } from './connection.ts';
import { isLost, isOfEndedPool } from './faults.ts';
import { type Found, HEAD_COLUMNS, type Head, type SpacePlace } from './moment.ts';
import { checkedText } from './rows.ts';
import { noted } from './shared.ts';
import { joined, quoted, raw, type Sql, sql } from './sql.ts';
import { type ColumnType, TABLES, type Table, type TableName } from './tables.ts';

/** The changes of a write to one table. */
export interface TableChange {
  /** Rows to insert or replace. */
  readonly put?: readonly Found[] | undefined;
  /** Rows to delete, by their key columns; in a table without a key, by the given columns. */
  readonly drop?: readonly Found[] | undefined;
  /** Rows to update with the values `to`, by their key columns. */
  readonly set?: { readonly rows: readonly Found[]; readonly to: Found } | undefined;
  /** Whether to delete all rows of the space. */
  readonly clear?: boolean | undefined;
}

export type Changes = { readonly [Name in TableName]?: TableChange };

/** Removes the saved index. For writes after which it may contain forgotten memories. */
export const WITHOUT_PAGES: Changes = { saved_index: { clear: true }, page: { clear: true } };

/** 64 random bits that identify a state, an operation or a use, since another one could have the same number. */
export function newStamp(): string {
  return randomBytes(8).toString('hex');
}

/**
 * Writes `changes` if the state of the space is still `before` and no other process has a turn. Otherwise returns `false` and
 * changes nothing. Uses one statement, which locks and verifies the row of the space and is a transaction of its own. If
 * the connection is lost meanwhile, the stamp in the database tells whether the write was committed.
 */
export async function commit(
  place: SpacePlace,
  before: Head,
  after: Head,
  changes: Changes,
  turn = '',
): Promise<boolean> {
  const { database } = place;
  const statement = statementFor(place, before, after, changes, turn);
  // An uncommitted write is decided again. It cannot be applied twice, since each attempt verifies the state it began from.
  return settling(
    place,
    async () => (await database.run(statement))[0]?.[0] === '1',
    () => isDone(place, before, after),
  );
}

/** Runs a write. If the connection is lost meanwhile, returns what `look` finds out about it. Throws errors of the engine. */
export async function settling<Found>(
  place: Pick<SpacePlace, 'database' | 'id'>,
  write: () => Promise<Found>,
  look: () => Promise<Found>,
): Promise<Found> {
  try {
    return await write();
  } catch (error) {
    if (isLost(error)) return settled(place, error, look);
    throw await explained(place.database, error);
  }
}

/**
 * Calls `look` after the connection of a write was lost. The server may still be running the write, so this locks the row of
 * the space first, which waits for the end of the write.
 */
export async function settled<Found>(
  { database, id }: Pick<SpacePlace, 'database' | 'id'>,
  lost: unknown,
  look: () => Promise<Found>,
): Promise<Found> {
  const { space } = database.tables;
  const deadline = performance.now() + database.busyTimeout;
  const signal = signalOfCaller();
  const lookAfterIt = async () => {
    await database.run(
      sql`WITH ${patienceOf(database)} SELECT space.stamp FROM ${space} AS space, patience
        WHERE space.space_id = ${id}::uuid AND patience.milliseconds IS NOT NULL FOR UPDATE OF space`,
    );
    return look();
  };
  for (let attempt = 0; ; attempt++) {
    try {
      // Without the caller's signal: a caller that cancels a write still needs to know whether it was committed.
      return await onBehalf(undefined, lookAfterIt);
    } catch (error) {
      // Most failures may pass: a host name not found, too many connections, a lock. An ended pool does not recover.
      if (signal?.aborted || isOfEndedPool(error) || performance.now() > deadline)
        throw inDoubt(database.place, lost);
      await pause(50 * 2 ** Math.min(attempt, 4));
    }
  }
}

/**
 * Whether the stamp of a write is in the database, so that it was committed. A reindex leaves its stamp in no log, and the next write
 * replaces that of the space, but its generation, a random number, stays.
 */
async function isDone({ database, id }: SpacePlace, before: Head, after: Head): Promise<boolean> {
  const { space, event, usage } = database.tables;
  const generation = after.generation === before.generation ? null : after.generation;
  const [row] = await database.run(
    sql`SELECT (EXISTS (SELECT 1 FROM ${space} WHERE space_id = ${id}::uuid AND stamp = ${after.stamp}::text)
      OR EXISTS (SELECT 1 FROM ${space} WHERE space_id = ${id}::uuid AND generation = ${generation}::bigint)
      OR EXISTS (SELECT 1 FROM ${event} WHERE space_id = ${id}::uuid AND sequence = ${after.sequence}::bigint AND stamp = ${after.stamp}::text)
      OR EXISTS (SELECT 1 FROM ${usage} WHERE space_id = ${id}::uuid AND sequence = ${after.usage}::bigint AND stamp = ${after.stamp}::text))::text`,
  );
  return row?.[0] === 'true';
}

function inDoubt(place: string, error: unknown): SalienceError {
  const { message } = error as Error;
  return new SalienceError(
    'store_failed',
    `PostgreSQL at ${place}: the connection was lost during a write, and it is unknown whether the write was committed; read the data, or send the request again with the same idempotency key`,
    { details: { place, inDoubt: true }, cause: { message } },
  );
}

/**
 * The part of a statement that limits its waits for locks to `busyTimeout`. Parts that may wait must read `milliseconds` from
 * it. It is part of the statement because a session setting would stay on a connection that others use too.
 */
export function patienceOf({ busyTimeout }: Pick<Database, 'busyTimeout'>): Sql {
  return sql`patience AS MATERIALIZED (SELECT set_config('lock_timeout', ${busyTimeout}::text, true) AS milliseconds)`;
}

function statementFor(
  { database, id }: Pick<SpacePlace, 'database' | 'id'>,
  before: Head,
  after: Head,
  changes: Changes,
  turn: string,
): Sql {
  const { tables } = database;
  const columns = Object.keys(HEAD_COLUMNS) as (keyof Head)[];
  const moved = columns
    .filter((column) => after[column] !== before[column])
    .map((column) => sql`${raw(column)} = ${after[column]}::${raw(HEAD_COLUMNS[column])}`);
  const parts = Object.entries(changes).flatMap(([name, change]) =>
    partsOf(name as TableName, tables[name as TableName], id, change),
  );
  const steps = [
    patienceOf(database),
    sql`moved AS (UPDATE ${tables.space} AS space SET turn = NULL, ${joined(moved, ', ')} FROM patience
      WHERE space.space_id = ${id}::uuid AND space.stamp = ${before.stamp}::text AND patience.milliseconds IS NOT NULL
        AND (space.turn IS NULL OR space.turn = ${turn}::text OR space.turn_until < clock_timestamp())
      RETURNING space.space_id)`,
    ...parts,
    ...noted(database),
  ];
  return sql`WITH ${joined(steps, ', ')} SELECT count(*)::text FROM moved`;
}

function partsOf(
  name: TableName,
  table: Sql,
  id: string,
  { put = [], drop = [], set, clear = false }: TableChange,
): readonly Sql[] {
  const { columns, key }: Table = TABLES[name];
  const parts: Sql[] = [];
  if (clear)
    parts.push(
      sql`${raw(`clear_${name}`)} AS (DELETE FROM ${table} AS t USING moved WHERE t.space_id = moved.space_id)`,
    );
  const [dropped, written] = [raw(`drop_${name}`), raw(`put_${name}`)];
  if (drop.length > 0) {
    const by = Object.keys(drop[0] ?? {});
    const same = by.map((column) => raw(`t.${quoted(column)} = r.${quoted(column)}`));
    parts.push(
      sql`${dropped} AS (DELETE FROM ${table} AS t USING moved, ${rowsOf(drop, columns, by)}
        WHERE t.space_id = ${id}::uuid AND ${joined(same, ' AND ')} RETURNING 1)`,
    );
  }
  if (set && set.rows.length > 0) {
    const by = Object.keys(set.rows[0] ?? {});
    const same = by.map((column) => raw(`t.${quoted(column)} = r.${quoted(column)}`));
    const values = Object.entries(set.to).map(
      ([column, value]) =>
        sql`${raw(quoted(column))} = ${value === null ? null : String(value)}::${raw(columns[column] ?? 'text')}`,
    );
    parts.push(
      sql`${raw(`set_${name}`)} AS (UPDATE ${table} AS t SET ${joined(values, ', ')} FROM moved, ${rowsOf(set.rows, columns, by)}
        WHERE t.space_id = ${id}::uuid AND ${joined(same, ' AND ')})`,
    );
  }
  if (put.length > 0) {
    const given = Object.keys(columns);
    const names = raw(given.map(quoted).join(', '));
    const values = raw(given.map((column) => fromText(column, columns[column] ?? 'text')).join(', '));
    const changed = given.filter((column) => !key?.includes(column));
    const onConflict = key
      ? raw(
          ` ON CONFLICT (space_id, ${key.map(quoted).join(', ')}) DO UPDATE SET ${changed.map((column) => `${quoted(column)} = excluded.${quoted(column)}`).join(', ')}`,
        )
      : sql``;
    // Delete first: a new memory may take the id of a deleted one.
    const first = drop.length > 0 ? sql`, (SELECT count(*) FROM ${dropped}) AS gone` : sql``;
    parts.push(
      sql`${written} AS (INSERT INTO ${table} AS t (space_id, ${names})
        SELECT moved.space_id, ${values} FROM moved${first}, ${rowsOf(put, columns, given)}${onConflict})`,
    );
  }
  return parts;
}

/** Passes rows as one parameter. */
function rowsOf(
  rows: readonly Found[],
  columns: Readonly<Record<string, ColumnType>>,
  names: readonly string[],
): Sql {
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) if (typeof value === 'string') checkedText(value, name);
  }
  const types = names.map((name) => {
    const type = columns[name] ?? 'text';
    return `${quoted(name)} ${type === 'bytea' ? 'text' : type}`;
  });
  return sql`json_to_recordset(${JSON.stringify(rows)}::json) AS r(${raw(types.join(', '))})`;
}

function fromText(column: string, type: ColumnType): string {
  const value = `r.${quoted(column)}`;
  return type === 'bytea' ? `decode(${value}, 'base64')` : value;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
