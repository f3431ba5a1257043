import { grouped, type Relations } from '../../store/belief-state.ts';
import { overtaken } from '../../store/moment.ts';
import type { Feed, IndexedRow, IndexRows, Position } from '../../store/rows.ts';
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
import { fromRow, RECORD_COLUMNS, termsFromJson, vectorFromText } from './rows.ts';
import { rowSource } from './source.ts';
import { type Sql, sql, wantedNumbers } from './sql.ts';
import type { Terms } from './terms.ts';

/** Rows of one statement: parsing its answer keeps a program for some milliseconds. */
const BATCH = 250;

/** Events, and uses, that the first statement of a moment brings along. */
const MOST_ALONG = 1000;

/** What an index of this process follows. */
export interface Following {
  readonly terms: Terms;
  /** Where it goes on from, which the first statement of the next moment does at once. */
  position: Position | undefined;
  /** The last read that found nothing but the row of the space: a read that follows it at once goes on from it. */
  begun?: (Omit<LastRead, 'known'> & { readonly along: FeedAlong }) | undefined;
  /** How many of the next snapshots begin from no earlier read. */
  overtaken: number;
  /** The last snapshot: a use that follows it is of what it returned. */
  last?: LastRead | undefined;
  /** How many of the next snapshots read along what a use would read. */
  usesAhead: number;
}

/** The feed that the first statement of a moment brings along. */
export interface FeedAlong {
  readonly after: Position | undefined;
  readonly company: Company | undefined;
  /** `undefined` where none was brought. */
  feed(): { readonly feed: Feed | undefined } | undefined;
}

/** What the resident index reads of a space, of one moment. */
export function indexRows(
  moment: Moment,
  index: Following,
  along: FeedAlong,
  inTransaction: boolean,
): IndexRows {
  const { database, id, name } = moment.place;
  return {
    ...rowSource(moment, index.terms, index.usesAhead > 0),
    // The index may have gone on while this moment waited for its turn.
    version: async () =>
      (await moment.renewed(() => index.position !== undefined && index.position !== along.after)).stamp,
    position: async () => positionOf(await moment.head()),
    async feed(after) {
      const head = await moment.head();
      const brought = along.after?.stamp === after.stamp ? along.feed() : undefined;
      const feed = brought
        ? brought.feed
        : feedOf(head, after, await moment.read(...feedQueries(moment.place, after)));
      // A state of before, rather than a log that was restored: who reads what is there now can tell.
      if (!feed && inTransaction) throw overtaken(name);
      index.position = feed?.position;
      return feed;
    },
    indexed: (keys) => batches(moment, index.terms, keys),
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
export function followFrom(place: SpacePlace, { position: after }: Following): FeedAlong {
  let brought: { readonly feed: Feed | undefined } | undefined;
  return {
    after,
    feed: () => brought,
    company: after && {
      queries: feedQueries(place, after, MOST_ALONG + 1),
      take(head, found) {
        // What is cut off would be taken for the end of the log.
        brought = found.every((rows) => rows.length <= MOST_ALONG)
          ? { feed: feedOf(head, after, found) }
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
  readonly used: string;
  readonly stamp: string;
}

/** Both logs are read from the last row that was taken in, which must be what it was. */
function feedQueries({ database, id }: SpacePlace, after: Position, limit?: number): readonly Sql[] {
  const { event, usage } = database.tables;
  const end = limit === undefined ? sql`` : sql`LIMIT ${limit}::bigint`;
  return [
    sql`SELECT sequence, memory_key, memory_id, verb, link, stamp FROM ${event}
      WHERE space_id = ${id}::uuid AND sequence >= ${after.sequence}::bigint ORDER BY sequence ${end}`,
    sql`SELECT sequence, used, stamp FROM ${usage}
      WHERE space_id = ${id}::uuid AND sequence >= ${after.usage}::bigint ORDER BY sequence ${end}`,
  ];
}

function feedOf(head: Head, after: Position, found: readonly (readonly Found[])[]): Feed | undefined {
  const events = [...((found[0] ?? []) as readonly unknown[] as readonly FeedEvent[])];
  const uses = [...((found[1] ?? []) as readonly unknown[] as readonly FeedUse[])];
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
    used: [
      ...new Set(uses.flatMap(({ sequence, used }) => usedFromJson(used, sequence).map(({ id }) => id))),
    ],
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
 * Memories as an index takes them in. All of them are read as they are by then, page by page: what is written meanwhile
 * comes again with the feed, which goes on from before the first page.
 */
async function* batches(
  moment: Moment,
  terms: Terms,
  keys: readonly number[] | undefined,
): AsyncGenerator<readonly IndexedRow[]> {
  const { memory, derived } = moment.place.database.tables;
  const select = sql`SELECT ${RECORD_COLUMNS}, derived.terms AS terms, encode(derived.vector, 'base64') AS vector
    FROM ${memory} AS memory LEFT JOIN ${derived} AS derived
      ON derived.space_id = memory.space_id AND derived.generation = space.generation AND derived.key = memory.key
    WHERE memory.space_id = ${moment.place.id}::uuid`;
  const take = async (read: Moment, query: Sql) => {
    const rows = await read.rows(query);
    const dimensions = embeddingOf(await read.head())?.dimensions;
    return rows.map((row) => indexedRow(row, terms, dimensions));
  };
  if (keys) {
    for (let start = 0; start < keys.length; start += BATCH) {
      const page = wantedNumbers(keys.slice(start, start + BATCH));
      yield await take(moment, sql`${select} AND memory.key IN ${page}`);
    }
    return;
  }
  const pageAfter = (key: number) =>
    take(
      startMoment(moment.place),
      sql`${select} AND memory.key > ${key}::bigint ORDER BY memory.key LIMIT ${BATCH}::bigint`,
    );
  for (let next: ReturnType<typeof pageAfter> | undefined = pageAfter(-1); next; ) {
    const rows: readonly IndexedRow[] = await next;
    const last = rows.at(-1)?.key;
    // The next page is under way while this one is taken in.
    next = last === undefined || rows.length < BATCH ? undefined : pageAfter(last);
    // Who asks no further must not leave its failure behind.
    next?.catch(() => undefined);
    yield rows;
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
