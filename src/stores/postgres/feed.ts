import { grouped, type Relations } from '../../store/belief-state.ts';
import { overtaken } from '../../store/moment.ts';
import type { Feed, IndexedRow, IndexRows, Position, WaitingApart } from '../../store/rows.ts';
import type { MemoryEvent } from '../../store/store.ts';
import { linkChangeFromJson, usedFromJson } from '../../store/stored-json.ts';
import type { LastRead } from './known.ts';
import {
  type Company,
  embeddingOf,
  type Found,
  type Head,
  type Moment,
  positionOf,
  type SpacePlace,
  stampOf,
  startMoment,
} from './moment.ts';
import { readPages } from './pages.ts';
import { fromRow, termsFromJson, vectorFromText } from './rows.ts';
import { rowSource } from './source.ts';
import { isAnyNumber, type Sql, sql } from './sql.ts';
import type { Terms } from './terms.ts';

/** Rows of one statement. Parsing its result blocks the event loop for some milliseconds. */
const BATCH = 128;

/** The maximum range of keys in one statement. */
const MOST_SPAN = 1024;

/** Rows that are yielded together. The index lets other work run in between. */
const AT_ONCE = 16;

/** Events and uses that one statement reads. Uses are long, and parsing them blocks the event loop for some milliseconds. */
const EVENTS_AT_ONCE = 1000;
const USES_AT_ONCE = 200;

/** The maximum number of events and uses whose memories are read along with them. */
const MOST_ROWS_ALONG = 100;
const MOST_USES_ALONG = 10;

/** How many snapshots after a change also read the changed memories: writes often come in series. */
export const ROWS_AHEAD = 16;

/** The state of an index of this process that follows a space. */
export interface Following {
  readonly terms: Terms;
  /** The position of the index. The first statement of the next moment also reads the feed from there. */
  position: Position | undefined;
  /** The last read that found only the row of the space. A read directly after it continues from it. */
  begun?: (Omit<LastRead, 'known'> & { readonly along: FeedAlong }) | undefined;
  /** Events since the index was saved, or loaded from a saved one; the whole log if it was built from the rows. */
  unsaved: number;
  /** How many of the next snapshots do not continue from an earlier read. */
  overtaken: number;
  /** The last snapshot. A use that follows it usually concerns the memories that it returned. */
  last?: LastRead | undefined;
  /** How many of the next snapshots also read what a use would need. */
  usesAhead: number;
  /** How many of the next snapshots also read the memories that the feed names. These cost more than the feed itself. */
  rowsAhead: number;
}

/** The feed that the first statement of a moment also reads. */
export interface FeedAlong {
  readonly after: Position | undefined;
  readonly company: Company | undefined;
  /** `undefined` if it was not read. `rows` are those of memories that it names, as read by {@link rowsQuery}. */
  feed(): { readonly feed: Feed | undefined; readonly rows: readonly Found[] } | undefined;
}

/** The reads of the resident index, at one moment. */
export function indexRows(
  moment: Moment,
  index: Following,
  along: FeedAlong,
  inTransaction: boolean,
  apart: WaitingApart,
): IndexRows {
  const { database, id, name } = moment.place;
  const { takeRows, ...source } = rowSource(moment, index.terms, index.usesAhead > 0);
  return {
    ...source,
    apart,
    // The index may have advanced while this moment waited for its turn.
    version: async () =>
      (await moment.renewed(() => index.position !== undefined && index.position !== along.after)).stamp,
    position: async () => positionOf(await moment.head()),
    async feed(after) {
      const head = await moment.head();
      const brought = along.after?.stamp === after.stamp ? along.feed() : undefined;
      if (brought?.feed) takeRows(brought.rows);
      const feed = brought ? brought.feed : feedOf(head, after, ...(await readFeed(moment, after)));
      // Probably an older state, not a restored log. A new read of the current state can tell the two apart.
      if (!feed && inTransaction) throw overtaken(name);
      if (feed && feed.written.length + feed.used.length > 0) index.rowsAhead = ROWS_AHEAD;
      index.unsaved += feed ? feed.position.sequence - after.sequence : 0;
      index.position = feed?.position;
      return feed;
    },
    async *indexed(keys) {
      yield* batches(moment, index.terms, keys, along.feed()?.rows, takeRows);
      if (!keys) index.unsaved = (await moment.head()).sequence;
    },
    relations: () => readRelations(moment),
    async size() {
      const [row] = await moment.rows<{ size: number }>(
        sql`SELECT count(*) AS size FROM ${database.tables.memory} WHERE space_id = ${id}::uuid`,
      );
      return row?.size ?? 0;
    },
    pages: () => readPages(moment, index.terms),
  };
}

/** Prepares to read, with the first statement, the changes after the position of the index. */
export function followFrom(place: SpacePlace, { position: after, rowsAhead }: Following): FeedAlong {
  const rows = after && rowsAhead > 0 ? [rowsAfter(place, after)] : [];
  let brought: ReturnType<FeedAlong['feed']>;
  return {
    after,
    feed: () => brought,
    company: after && {
      queries: [
        eventsQuery(place, after.sequence, EVENTS_AT_ONCE + 1),
        usesQuery(place, after.usage, USES_AT_ONCE + 1),
        ...rows,
      ],
      take(head, found) {
        const [events = [], uses = [], rows = []] = found;
        // A truncated result would be mistaken for the end of the log.
        brought =
          events.length <= EVENTS_AT_ONCE && uses.length <= USES_AT_ONCE
            ? { feed: feedOf(head, after, eventsOf(events), usesOf(uses)), rows: rows.map(flat) }
            : undefined;
      },
    },
  };
}

interface FeedEvent {
  readonly sequence: number;
  readonly memory_key: number;
  readonly memory_id: string;
  readonly verb: MemoryEvent['verb'];
  readonly link: string | null;
  readonly stamp: string;
}

interface FeedUse {
  readonly sequence: number;
  readonly ids: readonly string[];
  readonly stamp: string;
}

function eventsQuery({ database, id }: SpacePlace, from: number, most: number): Sql {
  return sql`SELECT sequence, memory_key, memory_id, verb, link, stamp FROM ${database.tables.event}
    WHERE space_id = ${id}::uuid AND sequence >= ${from}::bigint ORDER BY sequence LIMIT ${most}::bigint`;
}

function usesQuery({ database, id }: SpacePlace, from: number, most: number): Sql {
  return sql`SELECT sequence, used, stamp FROM ${database.tables.usage}
    WHERE space_id = ${id}::uuid AND sequence >= ${from}::bigint ORDER BY sequence LIMIT ${most}::bigint`;
}

function eventsOf(rows: readonly Found[]): readonly FeedEvent[] {
  return rows as readonly unknown[] as readonly FeedEvent[];
}

function usesOf(rows: readonly Found[]): readonly FeedUse[] {
  return (rows as readonly unknown[] as readonly { sequence: number; used: string; stamp: string }[]).map(
    ({ sequence, used, stamp }) => ({
      sequence,
      ids: usedFromJson(used, sequence).map(({ id }) => id),
      stamp,
    }),
  );
}

/** Reads both logs from the last rows that the index has. These must be unchanged. */
async function readFeed(
  moment: Moment,
  after: Position,
): Promise<readonly [events: readonly FeedEvent[], uses: readonly FeedUse[]]> {
  const events: FeedEvent[] = [];
  const uses: FeedUse[] = [];
  for (let hasMore = true; hasMore; ) {
    const next = (all: readonly { readonly sequence: number }[], first: number) =>
      (all.at(-1)?.sequence ?? first - 1) + 1;
    const [someEvents = [], someUses = []] = await moment.read(
      eventsQuery(moment.place, next(events, after.sequence), EVENTS_AT_ONCE),
      usesQuery(moment.place, next(uses, after.usage), USES_AT_ONCE),
    );
    events.push(...eventsOf(someEvents));
    uses.push(...usesOf(someUses));
    hasMore = someEvents.length === EVENTS_AT_ONCE || someUses.length === USES_AT_ONCE;
  }
  return [events, uses];
}

/** Selects the first memories that the feed names, in the form of {@link rowsQuery}. */
function rowsAfter(place: SpacePlace, after: Position): Sql {
  const { event, usage, memory } = place.database.tables;
  const here = sql`space_id = ${place.id}::uuid`;
  const keys = sql`(SELECT memory_key AS key FROM ${event} WHERE ${here} AND sequence > ${after.sequence}::bigint
        ORDER BY sequence LIMIT ${MOST_ROWS_ALONG}::bigint)
      UNION SELECT found.key FROM
        (SELECT used FROM ${usage} WHERE ${here} AND sequence > ${after.usage}::bigint ORDER BY sequence LIMIT ${MOST_USES_ALONG}::bigint) AS log,
        json_array_elements(log.used::json) AS named,
        LATERAL (SELECT used.key FROM ${memory} AS used WHERE used.${here} AND used.id = named ->> 'id' LIMIT 1) AS found`;
  return sql`${rowsQuery(place)} AND memory.key = ANY (ARRAY(${keys}))`;
}

/** Flattens a row of {@link rowsQuery}: the columns of the memory, and its derived data. */
function flat({ memory, terms, vector }: Found): Found {
  return { ...(memory as Found), terms, vector };
}

function feedOf(
  head: Head,
  after: Position,
  foundEvents: readonly FeedEvent[],
  foundUses: readonly FeedUse[],
): Feed | undefined {
  const events = [...foundEvents];
  const uses = [...foundUses];
  const lastEvent = after.sequence > 0 ? events.shift() : undefined;
  const lastUse = after.usage > 0 ? uses.shift() : undefined;
  if (
    (lastEvent?.sequence ?? 0) !== after.sequence ||
    (lastUse?.sequence ?? 0) !== after.usage ||
    stampOf(head.generation, lastEvent?.stamp ?? '', lastUse?.stamp ?? '') !== after.stamp
  ) {
    return undefined;
  }
  const written = new Map<number, Feed['written'][number]>();
  for (const { memory_key: key, memory_id: id, verb, link } of events) {
    // An event without a memory is about the settings of the space.
    if (link !== null || id === '') continue;
    const sameText = verb === 'maintain' && written.get(key)?.sameText !== false;
    written.set(key, { key, id, sameText });
  }
  return {
    position: positionOf(head),
    written: [...written.values()],
    used: [...new Set(uses.flatMap(({ ids }) => ids))],
    linked: events.flatMap(({ sequence, link }) =>
      link === null ? [] : linkChangeFromJson(link, sequence).link.ids,
    ),
    relations: head.relations,
  };
}

/** Reads which memories supersede or may update which, by key. */
async function readRelations(moment: Moment): Promise<Relations<number>> {
  const { database, id } = moment.place;
  const { supersession, memory, similar_pair } = database.tables;
  const [successors = [], pairs = []] = (await moment.read(
    sql`SELECT memory.key AS older, supersession.key AS newer FROM ${supersession} AS supersession
      JOIN ${memory} AS memory ON memory.space_id = supersession.space_id AND memory.id = supersession.older_id
      WHERE supersession.space_id = ${id}::uuid ORDER BY older, newer`,
    sql`SELECT older.key AS older, newer.key AS newer, similarity FROM ${similar_pair} AS pair
      JOIN ${memory} AS older ON older.space_id = pair.space_id AND older.id = pair.older_id
      JOIN ${memory} AS newer ON newer.space_id = pair.space_id AND newer.id = pair.newer_id
      WHERE pair.space_id = ${id}::uuid AND ended_at IS NULL AND pair.kind = 'update' ORDER BY pair.sequence`,
  )) as readonly (readonly unknown[])[] as readonly (readonly {
    older: number;
    newer: number;
    similarity: number;
  }[])[];
  return {
    successors: grouped(successors.map(({ older, newer }) => [older, newer] as const)),
    newer: grouped(pairs.map(({ older, newer: key, similarity }) => [older, { key, similarity }] as const)),
  };
}

/**
 * Selects whole memories with their derived data. A lateral lookup by key: for a plain join of tables without statistics,
 * PostgreSQL would read and sort a whole table for every page.
 */
function rowsQuery({ database, id }: SpacePlace): Sql {
  const { memory, derived } = database.tables;
  return sql`SELECT memory, derived.terms AS terms, encode(derived.vector, 'base64') AS vector
    FROM ${memory} AS memory LEFT JOIN LATERAL (
      SELECT each.terms, each.vector FROM ${derived} AS each
      WHERE each.space_id = ${id}::uuid AND each.generation = space.generation AND each.key = memory.key LIMIT 1) AS derived ON true
    WHERE memory.space_id = ${id}::uuid`;
}

/**
 * Reads memories for an index. Without `keys`, reads all memories page by page, each page in its current state. Changes made
 * meanwhile arrive again with the feed, which continues from before the first page.
 */
async function* batches(
  moment: Moment,
  terms: Terms,
  keys: readonly number[] | undefined,
  /** Rows of this moment that were already read. */
  known: readonly Found[] = [],
  /** Called with the rows of this moment if they are few: their records are likely to be needed. */
  tell: (rows: readonly Found[]) => void = () => {},
): AsyncGenerator<readonly IndexedRow[]> {
  const select = rowsQuery(moment.place);
  const taken = async (read: Moment, rows: readonly Found[]) => {
    const dimensions = embeddingOf(await read.head())?.dimensions;
    return rows.map((row) => indexedRow(row, terms, dimensions));
  };
  if (keys) {
    const wanted = new Set(keys);
    const there = known.filter((row) => wanted.has(Number(row['key'])));
    if (there.length > 0) yield await taken(moment, there);
    for (const row of there) wanted.delete(Number(row['key']));
    const missing = [...wanted];
    for (let start = 0; start < missing.length; start += BATCH) {
      const page = missing.slice(start, start + BATCH);
      const rows = (await moment.rows(sql`${select} AND memory.key ${isAnyNumber(page)}`)).map(flat);
      if (missing.length <= BATCH) tell(rows);
      yield await taken(moment, rows);
    }
    return;
  }
  const { key: end } = await moment.head();
  let span = BATCH;
  // By ranges of keys: a query for the rows after a key, in order, would sort again for every page.
  const pageAfter = async (key: number) => {
    const page = startMoment(moment.place);
    const rows = await page.rows(
      sql`${select} AND memory.key > ${key}::bigint AND memory.key <= ${key + span}::bigint ORDER BY memory.key`,
    );
    return { page, rows: rows.map(flat) };
  };
  let next: ReturnType<typeof pageAfter> | undefined = pageAfter(-1);
  for (let last = -1 + span; next; ) {
    const { page, rows } = await next;
    // Widen the range where many memories were forgotten.
    span = rows.length * 2 < BATCH ? Math.min(span * 2, MOST_SPAN) : BATCH;
    // Read the next page while the index takes in this one.
    next = last >= end ? undefined : pageAfter(last);
    last += span;
    // If the consumer stops here, a failure of the next page must not be an unhandled rejection.
    next?.catch(() => undefined);
    for (let at = 0; at < rows.length; at += AT_ONCE) yield await taken(page, rows.slice(at, at + AT_ONCE));
  }
}

function indexedRow(row: Found, terms: Terms, dimensions: number | undefined): IndexedRow {
  const key = Number(row['key']);
  const { terms: stored, vector } = row;
  const counts = typeof stored === 'string' ? termsFromJson(stored, key) : new Map<string, number>();
  const numbered = [...counts]
    .map(([text, count]) => [terms.numberOf(text), count] as const)
    .sort(([a], [b]) => a - b);
  return {
    key,
    memory: fromRow(row),
    termIds: numbered.map(([number]) => number),
    termCounts: numbered.map(([, count]) => count),
    vector: typeof vector === 'string' ? vectorFromText(vector, key, dimensions) : undefined,
  };
}
