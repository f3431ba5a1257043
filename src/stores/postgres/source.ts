import { damagedRow, isTextList, storedJson } from '../../store/damage.ts';
import type { KeyedRows } from '../../store/rows.ts';
import { containsText, isPlainText } from '../../store/substring.ts';
import { keysWithMetadata } from './attributes.ts';
import { LINK_COLUMNS, neighboursQuery, takeNeighbours } from './links.ts';
import { embeddingOf, type Found, type Moment } from './moment.ts';
import { fromRow, memoriesWhere, vectorFromBytes } from './rows.ts';
import {
  type FormedQuery,
  isAnyNumber,
  isAnyText,
  joined,
  raw,
  type Sql,
  sql,
  wantedNumbers,
} from './sql.ts';
import type { Terms } from './terms.ts';

/** The most vectors that are read ahead. Another statement would cost more than reading some vectors needlessly. */
const MOST_READ_AHEAD = 240;

/** The most records that are read along with vectors. The first keys are the best, and those records will be returned. */
const MOST_READ_ALONG = 64;

/** The most records that one statement reads. Parsing them blocks the event loop for some milliseconds. */
const RECORDS_AT_ONCE = 128;

/**
 * Returns the condition that a row may contain a plain text: it contains it, or it has characters beyond ASCII, which may become ASCII
 * in lower case.
 */
function mayContain(text: string): Sql {
  const conditions = ['title', 'content', 'tags'].map((name) => {
    const column = raw(`memory.${name}`);
    return sql`strpos(lower(${column}), ${text.toLowerCase()}::text) > 0 OR octet_length(${column}) <> char_length(${column})`;
  });
  return sql`(${joined(conditions, ' OR ')})`;
}

/** Creates a source of the rows of a space at one moment. With `readsLinks`, links among the memories are read along with them. */
export function rowSource(
  moment: Moment,
  terms: Terms,
  readsLinks = false,
): KeyedRows & {
  /** Adds rows of this moment that were read in another way. */
  takeRows(rows: readonly Found[]): void;
} {
  const { database, id } = moment.place;
  const { memory, derived, link } = database.tables;
  const known = new Map<number, Found>();
  /** The ids of the records that were last requested. */
  let returned: readonly string[] = [];
  const vectors = new Map<number, Buffer | undefined>();
  const here = sql`memory.space_id = ${id}::uuid`;
  const recordsQuery = (keys: readonly number[]) =>
    memoriesWhere(moment.place, sql`memory.key ${isAnyNumber(keys)}`);
  /** Selects one text: the keys and lengths of the vectors as JSON, then all their bytes in base64. */
  const vectorsQuery = (keys: readonly number[]): FormedQuery => ({
    ...sql`SELECT json_agg(json_build_array(key, octet_length(vector))) || ';' || encode(string_agg(vector, ''), 'base64')
      FROM ${derived} WHERE space_id = ${id}::uuid AND generation = space.generation AND key ${isAnyNumber(keys)} AND vector IS NOT NULL`,
    form: 'text',
  });
  const takeVectors = (text: string) => {
    const end = text.indexOf(';');
    const bytes = Buffer.from(text.slice(end + 1), 'base64');
    let at = 0;
    for (const [key, length] of JSON.parse(text.slice(0, end)) as readonly (readonly [number, number])[]) {
      vectors.set(key, bytes.subarray(at, at + length));
      at += length;
    }
  };
  const idOf = (key: number) => known.get(key)?.['id'] as string | undefined;
  const take = (rows: readonly Found[]) => {
    for (const row of rows) {
      known.set(Number(row['key']), row);
      moment.known.rows.set(String(row['id']), row);
    }
  };
  /** Selects the links among these memories, which a use of them may change. */
  const linksQuery = (keys: readonly number[]) => {
    const ids = sql`(SELECT memory.id FROM ${memory} AS memory WHERE ${here} AND memory.key IN ${wantedNumbers(keys)})`;
    return sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link
      WHERE link.space_id = ${id}::uuid AND a_id IN ${ids} AND b_id IN ${ids}`;
  };
  return {
    readsAlong: true,
    takeRows: take,
    async vectors(keys, soon) {
      const missing = keys.filter((key) => !vectors.has(key));
      if (missing.length > 0) {
        const asked = [...missing, ...(soon?.(MOST_READ_AHEAD) ?? [])];
        const best = asked.slice(0, MOST_READ_ALONG);
        const [[found] = [], records = [], links = []] = await moment.read(
          vectorsQuery(asked),
          recordsQuery(best),
          ...(readsLinks ? [linksQuery(best)] : []),
        );
        take(records);
        if (readsLinks)
          moment.known.links = { among: new Set(records.map((row) => String(row['id']))), rows: links };
        for (const key of asked) vectors.set(key, undefined);
        if (typeof found?.['text'] === 'string') takeVectors(found['text']);
      }
      const dimensions = embeddingOf(await moment.head())?.dimensions;
      return keys.map((key) => {
        const bytes = vectors.get(key);
        return bytes && vectorFromBytes(bytes, key, dimensions);
      });
    },
    async records(keys) {
      const missing = keys.filter((key) => !known.has(key));
      let links: readonly Found[] | undefined;
      for (let start = 0; start < missing.length; start += RECORDS_AT_ONCE) {
        const [records = [], among] = await moment.read(
          recordsQuery(missing.slice(start, start + RECORDS_AT_ONCE)),
          ...(readsLinks && !links ? [linksQuery(keys)] : []),
        );
        take(records);
        links ??= among;
      }
      returned = keys.flatMap((key) => idOf(key) ?? []);
      if (links) moment.known.links = { among: new Set(returned), rows: links };
      return keys.map((key) => {
        const row = known.get(key);
        if (!row) throw damagedRow({ table: 'memory', row: key }, 'it is missing');
        return fromRow(row);
      });
    },
    async keysOf(ids) {
      const { rows, keys } = moment.known;
      const keyOf = (each: string) => keys.get(each) ?? (rows.get(each)?.['key'] as number | undefined);
      const missing = ids.filter((each) => keyOf(each) === undefined);
      if (missing.length > 0) {
        const found = await moment.rows<{ id: string; key: number }>(
          sql`SELECT id, key FROM ${memory} AS memory WHERE ${here} AND id ${isAnyText(missing)}`,
        );
        for (const row of found) keys.set(row.id, row.key);
      }
      return ids.map(keyOf);
    },
    async idsOf(keys) {
      const found = new Map<number, string>();
      const missing = keys.filter((key) => !known.has(key));
      if (missing.length > 0) {
        // Words in context are read before links. The neighbours of the hits will be needed too, so they are read at once.
        const hits = returned.filter((each) => !moment.known.neighbours.has(each));
        const [rows = [], beside = []] = await moment.read(
          sql`SELECT id, key FROM ${memory} AS memory WHERE ${here} AND key ${isAnyNumber(missing)}`,
          ...(hits.length > 0 ? [neighboursQuery(moment, hits)] : []),
        );
        for (const row of rows) found.set(Number(row['key']), String(row['id']));
        takeNeighbours(moment, hits, beside);
      }
      return keys.map((key) => idOf(key) ?? found.get(key));
    },
    termIds: (texts) => texts.map((text) => terms.known(text)),
    termsOf: (ids) => ids.map((number) => terms.textOf(number)),
    keysWithMetadata: async (conditions) => (await keysWithMetadata(moment, conditions)) ?? new Set(),
    async keysContaining(text, among) {
      // Reads every text that may match. Only a query without terms needs this, which is rare.
      const rows = await moment.rows<{ key: number; title: string | null; content: string; tags: string }>(
        sql`SELECT key, title, content, tags FROM ${memory} AS memory
          WHERE ${here} ${among ? sql`AND key IN ${wantedNumbers(among)}` : sql``}
          ${isPlainText(text) ? sql`AND ${mayContain(text)}` : sql``}`,
      );
      return rows
        .filter(({ key, title, content, tags }) =>
          containsText(
            {
              title: title ?? undefined,
              content,
              tags: storedJson<string[]>(tags, isTextList, { table: 'memory', row: key }, 'tags'),
            },
            text,
          ),
        )
        .map(({ key }) => key);
    },
  };
}
