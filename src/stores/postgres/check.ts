import { SalienceError } from '../../domain/errors.ts';
import { recordFromJson } from '../../store/stored-json.ts';
import { translated } from './connection.ts';
import { missingConstraints } from './constraints.ts';
import { embeddingOf, type SpacePlace, startMoment } from './moment.ts';
import { fromRow, RECORD_COLUMNS, termsFromJson, vectorFromText } from './rows.ts';
import { type Sql, sql } from './sql.ts';
import { LINE_ROWS } from './write.ts';

/** The number of rows that one statement checks. */
const PAGE = 1000;

/**
 * Finds damaged rows, and derived rows that do not match their memories. Returns one sentence per problem. Damage on the disk is for
 * the server to find, by its checksums (`initdb --data-checksums`) and `pg_amcheck`. Rows that must match are read by one statement,
 * so that others may write between two statements.
 */
export async function findDamage(place: SpacePlace): Promise<readonly string[]> {
  const { database, id } = place;
  const { memory, derived, event } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const problems: string[] = [...(await translated(database, () => missingConstraints(database)))];
  const look = (task: () => void) => {
    try {
      task();
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
      problems.push(error.message);
    }
  };
  const lines = Object.keys(LINE_ROWS) as (keyof typeof LINE_ROWS)[];
  let after = -1;
  for (;;) {
    const page = startMoment(place);
    const [rows = [], ...found] = await page.read(
      sql`SELECT ${RECORD_COLUMNS}, derived.key AS derived_key, derived.terms, encode(derived.vector, 'base64') AS vector
        FROM ${memory} AS memory LEFT JOIN ${derived} AS derived
          ON derived.space_id = memory.space_id AND derived.generation = space.generation AND derived.key = memory.key
        WHERE memory.${here} AND memory.key > ${after}::bigint ORDER BY memory.key LIMIT ${PAGE}::bigint`,
      ...lines.map(
        (line) => sql`SELECT key, count(*) AS count FROM ${database.tables[line]}
        WHERE ${here} AND key IN (SELECT key FROM ${memory} WHERE ${here} AND key > ${after}::bigint ORDER BY key LIMIT ${PAGE}::bigint)
        GROUP BY key`,
      ),
    );
    const dimensions = embeddingOf(await page.head())?.dimensions;
    for (const row of rows) {
      const key = Number(row['key']);
      look(() => {
        const record = fromRow(row);
        for (const [at, line] of lines.entries()) {
          const count = Number(found[at]?.find((each) => each['key'] === key)?.['count'] ?? 0);
          if (count !== LINE_ROWS[line](record).length)
            problems.push(`the rows of ${line} about the memory ${key} do not match it: update the memory`);
        }
      });
      if (row['derived_key'] === null) {
        problems.push(`the memory ${key} has no terms: reindex the space`);
        continue;
      }
      look(() => void termsFromJson(row['terms'], key));
      if (typeof row['vector'] === 'string')
        look(() => void vectorFromText(String(row['vector']), key, dimensions));
    }
    if (rows.length < PAGE) break;
    after = Number(rows.at(-1)?.['key']);
  }
  const count = (query: Sql) => sql`SELECT count(*) AS count FROM ${query}`;
  const rest = startMoment(place);
  const [orphans, events, befores] = await rest.read(
    count(sql`${derived} AS derived WHERE ${here} AND generation = space.generation
      AND NOT EXISTS (SELECT 1 FROM ${memory} AS memory WHERE memory.${here} AND memory.key = derived.key)`),
    sql`SELECT count(*) AS count, coalesce(max(sequence), 0) AS last FROM ${event} WHERE ${here}`,
    sql`SELECT sequence, before FROM ${event} WHERE ${here} AND before IS NOT NULL ORDER BY sequence`,
  );
  const head = await rest.head();
  if (Number(orphans?.[0]?.['count']) > 0)
    problems.push(`${orphans?.[0]?.['count']} rows of derived belong to no memory: reindex the space`);
  const { count: counted, last } = events?.[0] ?? {};
  if (Number(counted) !== head.sequence || Number(last) !== head.sequence)
    problems.push(
      `the log has ${counted} events up to ${last}, but the space records ${head.sequence}: restore the database from a backup`,
    );
  for (const row of befores ?? [])
    look(() => void recordFromJson(String(row['before']), Number(row['sequence'])));
  return problems;
}
