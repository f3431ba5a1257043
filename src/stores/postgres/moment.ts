import { createHash } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import type { SpaceSettings } from '../../domain/settings.ts';
import { closedError } from '../../store/faults.ts';
import { overtaken } from '../../store/moment.ts';
import type { Position } from '../../store/rows.ts';
import type { EmbeddingInfo } from '../../store/store.ts';
import { settingsFromJson } from '../../store/stored-json.ts';
import { type Database, type Transaction, translated } from './connection.ts';
import { isLittle, type Known, type LastRead, nothingKnown } from './known.ts';
import { type FormedQuery, joined, raw, type Sql, sql, statementOf } from './sql.ts';

/** A space of a database. */
export interface SpacePlace {
  readonly database: Database;
  readonly name: string;
  readonly id: string;
  /** Data of the space that this process caches and that reads do not return. */
  readonly secrets: { tombstoneKey?: string | undefined };
  /** Whether a copy into the space is in progress. Nobody else reads or writes it before the copy has ended. */
  readonly isCopy?: boolean | undefined;
}

export function incomplete(space: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} is being copied or restored into this store; let salience copy or restore end, run it again if it was interrupted, or delete the space`,
    { details: { space } },
  );
}

/** The first 16 bytes of the SHA-256 of a space's name, in hex, for use as a UUID. */
export function spaceIdOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 32);
}

/** The row of a space. It identifies the state that a read saw; a write verifies and replaces it. */
export interface Head {
  readonly stamp: string;
  readonly sequence: number;
  readonly at: number;
  readonly event_stamp: string;
  readonly usage: number;
  readonly used_at: number;
  readonly usage_stamp: string;
  readonly key: number;
  readonly ordinal: number;
  readonly pair: number;
  readonly recording: number;
  readonly generation: number;
  readonly relations: number;
  readonly embedding_model: string | null;
  readonly embedding_dimensions: number | null;
  readonly analyzer: string | null;
  readonly settings: string;
}

/** The columns of {@link Head} with their types. */
export const HEAD_COLUMNS: Readonly<Record<keyof Head, 'text' | 'bigint'>> = {
  stamp: 'text',
  sequence: 'bigint',
  at: 'bigint',
  event_stamp: 'text',
  usage: 'bigint',
  used_at: 'bigint',
  usage_stamp: 'text',
  key: 'bigint',
  ordinal: 'bigint',
  pair: 'bigint',
  recording: 'bigint',
  generation: 'bigint',
  relations: 'bigint',
  embedding_model: 'text',
  embedding_dimensions: 'bigint',
  analyzer: 'text',
  settings: 'text',
};

const headColumns = raw(Object.keys(HEAD_COLUMNS).join(', '));

export function settingsOf({ settings }: Head): SpaceSettings {
  return settingsFromJson(settings, { table: 'space', row: 0 });
}

export function embeddingOf({
  embedding_model: model,
  embedding_dimensions: dimensions,
}: Head): EmbeddingInfo | undefined {
  return model === null || dimensions === null ? undefined : { model, dimensions };
}

export function positionOf(head: Head): Position {
  const { sequence, usage } = head;
  return { sequence, usage, stamp: stampOf(head.generation, head.event_stamp, head.usage_stamp) };
}

/** See {@link Position.stamp}: the random stamps of an event and a use, empty before the first. */
export function stampOf(generation: number, event: string, use: string): string {
  return JSON.stringify([generation, event, use]);
}

/** A row of a result: values by column name. */
export type Found = Readonly<Record<string, unknown>>;

/**
 * Consistent reads of one state of a space. Each read is a single statement, which also returns the row of the space. No
 * connection is held between reads. A read that sees another state than the first one throws `overtaken`.
 */
export interface Moment {
  readonly place: SpacePlace;
  /** Reads the row of the space. */
  head(): Promise<Head>;
  /** Does the same, but moves on to a later state if only this row was read so far and `isStale` returns true. */
  renewed(isStale: () => boolean): Promise<Head>;
  /** Runs queries, with one statement for all queries of concurrent calls. */
  read(...queries: readonly Sql[]): Promise<readonly (readonly Found[])[]>;
  /** Does the same, and caches the results: a write asks the same when it is prepared and when it is decided. */
  readOnce(...queries: readonly Sql[]): Promise<readonly (readonly Found[])[]>;
  /** Runs one query. */
  rows<Shape = Found>(query: Sql): Promise<readonly Shape[]>;
  /** Whether a read was overtaken, so that all results are invalid. */
  readonly isOvertaken: boolean;
  /** The data that was read so far. */
  readonly known: Known;
  /** The row of the space, once it was read. */
  readonly seen: Head | undefined;
  /** Whether more than the row of the space was read. */
  readonly hasRows: boolean;
  /** Verifies a state that was taken from an earlier read, unless a statement has verified it. Throws `overtaken`. */
  verify(): Promise<void>;
  /** Ends the moment. Later reads throw. */
  end(): void;
}

/** Queries that the first read of a moment also runs. */
export interface Company {
  readonly queries: readonly Sql[];
  take(head: Head, found: readonly (readonly Found[])[]): void;
}

export function startMoment(
  place: SpacePlace,
  {
    company,
    transaction,
    begun,
    earlier,
  }: {
    readonly company?: Company | undefined;
    readonly transaction?: Transaction | undefined;
    /** The result of an earlier read, which the next statement verifies. */
    readonly begun?: { readonly head: Head; readonly known?: Known | undefined } | undefined;
    /** The result of an earlier read, which is used if the first statement finds the same state. */
    readonly earlier?: Pick<LastRead, 'head' | 'known'> | undefined;
  } = {},
): Moment {
  const run = transaction?.run ?? place.database.run;
  let first = begun?.head;
  let isVerified = begun === undefined;
  let onlyHead = true;
  let known = begun?.known ?? nothingKnown();
  let isOvertaken = false;
  let ended = false;
  const checkOpen = () => {
    if (ended) throw closedError('the reader of a moment that is over');
  };
  const overtake = () => {
    isOvertaken = true;
    return overtaken(place.name);
  };
  const readNow: Moment['read'] = async (...queries) => {
    const along = first ? [] : (company?.queries ?? []);
    const { head, found } = await readAt(place, run, [...queries, ...along]);
    if (first && first.stamp !== head.stamp) throw overtake();
    isVerified = true;
    if (queries.length > 0) onlyHead = false;
    if (!first && along.length > 0) company?.take(head, found.slice(queries.length));
    if (!first && earlier?.head.stamp === head.stamp && isLittle(earlier.known)) known = earlier.known;
    first ??= head;
    return found.slice(0, queries.length);
  };
  let asked: { readonly queries: Sql[]; readonly found: ReturnType<Moment['read']> } | undefined;
  const read: Moment['read'] = async (...queries) => {
    checkOpen();
    if (!asked) {
      const together: Sql[] = [];
      const found = Promise.resolve().then(() => {
        asked = undefined;
        return readNow(...together);
      });
      asked = { queries: together, found };
    }
    const at = asked.queries.push(...queries) - queries.length;
    return (await asked.found).slice(at, at + queries.length);
  };
  const head = async () => {
    if (!first) await read();
    return first as unknown as Head;
  };
  return {
    place,
    head,
    async renewed(isStale) {
      if (!first || !onlyHead || !isStale()) return head();
      const before = first;
      first = undefined;
      known = nothingKnown();
      await transaction?.renew();
      const now = await head();
      if (FIXED.some((name) => now[name] !== before[name])) throw overtake();
      return now;
    },
    read,
    async rows<Shape>(query: Sql) {
      const [rows] = await read(query);
      return (rows ?? []) as readonly unknown[] as readonly Shape[];
    },
    async readOnce(...queries) {
      checkOpen();
      const names = queries.map((query) => JSON.stringify(statementOf(query)));
      const missing = queries.filter((_, at) => !known.answers.has(names[at] ?? ''));
      if (missing.length > 0) {
        const found = await read(...missing);
        for (const [at, query] of missing.entries())
          known.answers.set(names[queries.indexOf(query)] ?? '', found[at] ?? []);
      }
      return names.map((name) => known.answers.get(name) ?? []);
    },
    get isOvertaken() {
      return isOvertaken;
    },
    get known() {
      checkOpen();
      return known;
    },
    get seen() {
      return first;
    },
    get hasRows() {
      return !onlyHead;
    },
    async verify() {
      if (!isVerified) await read();
    },
    end() {
      ended = true;
    },
  };
}

/** What somebody may have gone by who has read nothing but the row of a space. */
const FIXED = [
  'settings',
  'embedding_model',
  'embedding_dimensions',
  'analyzer',
] as const satisfies (keyof Head)[];

/**
 * Runs several queries and reads the row of the space with one statement, so that all see one state. Throws `not_found`, and
 * `store_busy` for a space that is being copied.
 */
async function readAt(
  { database, name, id, isCopy = false }: SpacePlace,
  run: Database['run'],
  queries: readonly Sql[],
): Promise<{ readonly head: Head; readonly found: readonly (readonly Found[])[] }> {
  const { space } = database.tables;
  const columns = [
    sql`to_json(space.*)::text`,
    ...queries.map((query) =>
      isText(query)
        ? sql`(${query})`
        : sql`(SELECT coalesce(json_agg(${isMemory(query) ? raw('each.memory') : raw('each')}), '[]')::text FROM (${query}) AS each)`,
    ),
  ];
  const statement = sql`SELECT ${joined(columns, ', ')}
    FROM (SELECT copying, ${headColumns} FROM ${space} WHERE space_id = ${id}::uuid) AS space`;
  const [row] = await translated(database, () => run(statement, { reads: true }));
  if (!row) {
    throw new SalienceError(
      'not_found',
      `space ${JSON.stringify(name)} no longer exists: another process has deleted it. Open it again to create a new one`,
      { details: { space: name } },
    );
  }
  const [text, ...found] = row;
  const { copying, ...head } = JSON.parse(text ?? 'null') as Head & { readonly copying: boolean };
  if (copying && !isCopy) throw incomplete(name);
  return {
    head,
    found: found.map((each, at) => {
      const query = queries[at];
      return query && isText(query) ? [{ text: each }] : (JSON.parse(each ?? '[]') as readonly Found[]);
    }),
  };
}

function isText(query: Sql | FormedQuery): boolean {
  return 'form' in query && query.form === 'text';
}

function isMemory(query: Sql | FormedQuery): boolean {
  return 'form' in query && query.form === 'memory';
}
