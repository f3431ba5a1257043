import { SalienceError } from '../../domain/errors.ts';
import type { SpaceInfo } from '../../store/store.ts';
import { embeddingOf, type Found, type SpacePlace, settingsOf, startMoment } from './moment.ts';
import { termsFromJson } from './rows.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { joined, type Sql, sql } from './sql.ts';
import { TABLES, type TableName } from './tables.ts';

/**
 * Counts what a space holds: see `SpaceCore.info`. Runs one statement, so the counts are of one state. `bytes` excludes indexes.
 * Damaged terms are not counted: `doctor`, which has to name them, counts first.
 */
export async function spaceInfo(place: SpacePlace): Promise<SpaceInfo> {
  try {
    return await readInfo(place, true);
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.code !== 'store_corrupt') throw error;
    return readInfo(place, false);
  }
}

/** With `onServer`, the server counts the terms, and fails if some are not JSON. Otherwise this process does. */
async function readInfo(place: SpacePlace, onServer: boolean): Promise<SpaceInfo> {
  const { database, id, name } = place;
  const { tables } = database;
  const here = sql`space_id = ${id}::uuid`;
  const count = (table: TableName, condition = sql`TRUE`) =>
    sql`SELECT count(*) AS count FROM ${tables[table]} WHERE ${here} AND ${condition}`;
  const countBy = (column: Sql) =>
    sql`SELECT ${column} AS value, count(*) AS count FROM ${tables.memory} WHERE ${here} GROUP BY ${column} ORDER BY ${column}`;
  const sizes = (Object.keys(TABLES) as TableName[]).map(
    (table) => sql`SELECT sum(pg_column_size(t.*)) AS size FROM ${tables[table]} AS t WHERE ${here}`,
  );
  const moment = startMoment(place);
  const current = sql`generation = space.generation`;
  const [memories, vectors, terms, types, scopes, tiers, links, pending, events, bytes] = await moment.read(
    count('memory'),
    count('derived', sql`${current} AND vector IS NOT NULL`),
    onServer
      ? sql`SELECT count(DISTINCT part.term) AS count FROM ${tables.derived} AS derived,
          json_array_elements_text(derived.terms::json) WITH ORDINALITY AS part(term, place)
          WHERE ${here} AND ${current} AND part.place % 2 = 1`
      : sql`SELECT key, terms FROM ${tables.derived} WHERE ${here} AND ${current}`,
    countBy(sql`type`),
    countBy(sql`scope`),
    countBy(sql`tier`),
    count('link'),
    count('similar_pair', sql`ended_at IS NULL`),
    count('event'),
    sql`SELECT sum(size) AS count FROM (${joined(sizes, ' UNION ALL ')}) AS sizes`,
  );
  const head = await moment.head();
  const counts = (rows: typeof types = []) =>
    Object.fromEntries(rows.map((row) => [String(row['value']), Number(row['count'])]));
  const only = (rows: typeof types = []) => Number(rows[0]?.['count'] ?? 0);
  return {
    name,
    memories: only(memories),
    vectors: only(vectors),
    terms: onServer ? only(terms) : countTerms(terms),
    byType: counts(types),
    byScope: counts(scopes),
    byTier: counts(tiers),
    links: only(links),
    pendingPairs: only(pending),
    events: only(events),
    sequence: head.sequence,
    embedding: embeddingOf(head),
    analyzer: head.analyzer ?? undefined,
    settings: settingsOf(head),
    bytes: only(bytes),
    path: undefined,
    schemaVersion: SCHEMA_VERSION,
  };
}

/** Counts the distinct terms of the rows that can be read. */
function countTerms(rows: readonly Found[] = []): number {
  const terms = new Set<string>();
  for (const { key, terms: json } of rows) {
    try {
      for (const term of termsFromJson(json, Number(key)).keys()) terms.add(term);
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
    }
  }
  return terms.size;
}
