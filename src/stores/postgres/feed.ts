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

/** Rows of one statement: parsing its answer keeps a program for some milliseconds. */
const BATCH = 128;

/** Keys of one statement at most. */
const MOST_SPAN = 1024;

/** Rows that are handed on together: whoever takes them in lets others go on in between. */
const AT_ONCE = 16;

/** Events, and uses, that one statement brings: uses are long, and parsing them keeps a program for some milliseconds. */
const EVENTS_AT_ONCE = 1000;
const USES_AT_ONCE = 200;

/** Of so many events and uses the memories come along, too. */
const MOST_ROWS_ALONG = 100;
const MOST_USES_ALONG = 10;

/** Snapshots after a change that read along what changed since: whoever writes is apt to go on. */
export const ROWS_AHEAD = 16;

/** What an index of this process follows. */
export interface Following {
  readonly terms: Terms;
  /** Where it goes on from, which the first statement of the next moment does at once. */
  position: Position | undefined;
  /** The last read that found nothing but the row of the space: a read that follows it at once goes on from it. */
  begun?: (Omit<LastRead, 'known'> & { readonly along: FeedAlong }) | undefined;
  /** Events that were taken in since the index was saved, or opened as it was saved; all of the log, if it was made of the rows. */
  unsaved: number;
  /** How many of the next snapshots begin from no earlier read. */
  overtaken: number;
  /** The last snapshot: a use that follows it is of what it returned. */
  last?: LastRead | undefined;
  /** How many of the next snapshots read along what a use would read. */
  usesAhead: number;
  /** How many of the next snapshots read along the memories that the feed names: they cost more than the feed itself. */
  rowsAhead: number;
}

/** The feed that the first statement of a moment brings along. */
export interface FeedAlong {
  readonly after: Position | undefined;
  readonly company: Company | undefined;
  /** `undefined` where none was brought. `rows`: of memories that it names, as {@link rowsQuery} reads them. */
  feed(): { readonly feed: Feed | undefined; readonly rows: readonly Found[] } | undefined;
}

/** What the resident index reads of a space, of one moment. */
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
    // The index may have gone on while this moment waited for its turn.
    version: async () =>
      (await moment.renewed(() => index.position !== undefined && index.position !== along.after)).stamp,
    position: async () => positionOf(await moment.head()),
    async feed(after) {
      const head = await moment.head();
      const brought = along.after?.stamp === after.stamp ? along.feed() : undefined;
      if (brought?.feed) takeRows(brought.rows);
      const feed = brought ? brought.feed : feedOf(head, after, ...(await readFeed(moment, after)));
      // A state of before, rather than a log that was restored: who reads what is there now can tell.
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

/** Brings along what happened after what was followed last. */
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
        // What is cut off would be taken for the end of the log.
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

/** Both logs, from the last row that was taken in, which must be what it was. */
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

/** The memories that the feed names first, as {@link rowsQuery} reads them. */
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

/** A row of {@link rowsQuery}: the columns of the memory, and what is derived from it. */
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

/** How the memories of the space stand to each other, by key. */
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
 * Memories, whole, with what is derived from their texts, each found by its key: joined, tables that nobody has analysed yet are read as a
 * whole, and sorted, for every page.
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
 * Memories as an index takes them in. All of them are read as they are by then, page by page: what is written meanwhile
 * comes again with the feed, which goes on from before the first page.
 */
async function* batches(
  moment: Moment,
  terms: Terms,
  keys: readonly number[] | undefined,
  /** Rows of this moment that are known. */
  known: readonly Found[] = [],
  /** Told of a few rows of this moment that were read: their records are apt to be asked for. */
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
  // By spans of keys: the rows after a key in their order would be sorted anew for every page.
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
    // Where much was forgotten, there is little in a span.
    span = rows.length * 2 < BATCH ? Math.min(span * 2, MOST_SPAN) : BATCH;
    // The next page is under way while this one is taken in.
    next = last >= end ? undefined : pageAfter(last);
    last += span;
    // Who asks no further must not leave its failure behind.
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
