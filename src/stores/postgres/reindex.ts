import { derivePage, neverQuiet, REINDEX_ROUNDS } from '../../store/reindexing.ts';
import type { IndexedText, ReindexRequest } from '../../store/store.ts';
import { type Changes, commit, newStamp, patienceOf, WITHOUT_PAGES } from './commit.ts';
import { translated } from './connection.ts';
import { type Head, type SpacePlace, startMoment } from './moment.ts';
import { fromRow, RECORD_COLUMNS } from './rows.ts';
import { type Sql, sql, wantedNumbers } from './sql.ts';
import { toDerivedRow } from './write.ts';

const PAGE = 500;

/**
 * See `SpaceStore.reindex`. The next generation of what is derived is written beside the present one, page by page; a
 * single statement then makes it count, if nothing was written meanwhile.
 */
export async function reindexSpace(
  place: SpacePlace,
  request: ReindexRequest,
  checkOpen: () => void,
): Promise<void> {
  const { database, id } = place;
  const { space, memory, derived, event } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const start = await startMoment(place).head();
  const generation = start.generation + 1;
  const run = (statement: Sql) => translated(database, () => database.run(statement));
  const discard = (which: Sql) => run(sql`DELETE FROM ${derived} WHERE ${here} AND generation ${which}`);
  /** Derives memories anew; returns the last key among them. */
  const deriveWhere = async (condition: Sql) => {
    checkOpen();
    const rows = await startMoment(place).rows(
      sql`SELECT ${RECORD_COLUMNS} FROM ${memory} AS memory WHERE ${here} AND ${condition} ORDER BY key LIMIT ${PAGE}::bigint`,
    );
    if (rows.length === 0) return undefined;
    const keys = rows.map((row) => Number(row['key']));
    await writeRows(keys, await derivePage(request, rows.map(fromRow)));
    return { last: keys.at(-1) ?? 0, count: keys.length };
  };
  const writeRows = async (keys: readonly number[], texts: readonly IndexedText[]) => {
    const rows = texts.map((text, at) => toDerivedRow(generation, keys[at] ?? 0, text));
    await run(
      // Not into a space that is being deleted: its rows would come back with the next one of its name.
      sql`WITH ${patienceOf(database)}, present AS MATERIALIZED (
          SELECT space_id FROM ${space} AS space, patience WHERE ${here} AND patience.milliseconds IS NOT NULL FOR KEY SHARE OF space)
        INSERT INTO ${derived} (space_id, generation, key, terms, vector)
        SELECT present.space_id, generation, key, terms, decode(vector, 'base64')
        FROM present, json_to_recordset(${JSON.stringify(rows)}::json) AS r(generation bigint, key bigint, terms text, vector text)
        ON CONFLICT (space_id, generation, key) DO UPDATE SET terms = excluded.terms, vector = excluded.vector`,
    );
  };
  // Of one that did not come to its end.
  await discard(sql`> ${start.generation}::bigint`);
  const [count] = await startMoment(place).rows<{ total: number }>(
    sql`SELECT count(*) AS total FROM ${memory} WHERE ${here}`,
  );
  const total = count?.total ?? 0;
  let done = 0;
  for (
    let page = await deriveWhere(sql`TRUE`);
    page;
    page = await deriveWhere(sql`key > ${page.last}::bigint`)
  ) {
    done += page.count;
    request.progress?.(Math.min(done, total), total);
  }
  let { sequence } = start;
  for (let round = 0; round < REINDEX_ROUNDS; round++) {
    checkOpen();
    const now = await startMoment(place).head();
    if (now.sequence !== sequence) {
      const changed = await startMoment(place).rows<{ key: number }>(
        sql`SELECT DISTINCT memory_key AS key FROM ${event} WHERE ${here}
          AND sequence > ${sequence}::bigint AND sequence <= ${now.sequence}::bigint`,
      );
      for (let at = 0; at < changed.length; at += PAGE) {
        const keys = changed.slice(at, at + PAGE).map(({ key }) => key);
        await run(
          sql`DELETE FROM ${derived} WHERE ${here} AND generation = ${generation}::bigint AND key IN ${wantedNumbers(keys)}`,
        );
        await deriveWhere(sql`key IN ${wantedNumbers(keys)}`);
      }
      sequence = now.sequence;
      continue;
    }
    if (!(await commit(place, now, headAfter(now, request, generation), recomparing(now, request)))) continue;
    await discard(sql`< ${generation}::bigint`);
    return;
  }
  await discard(sql`= ${generation}::bigint`);
  throw neverQuiet(place.name);
}

function headAfter(now: Head, { analyzer, embedding }: ReindexRequest, generation: number): Head {
  return {
    ...now,
    stamp: newStamp(),
    generation,
    analyzer,
    embedding_model: embedding?.model ?? null,
    embedding_dimensions: embedding?.dimensions ?? null,
  };
}

/** Another model finds other memories similar. */
function recomparing(now: Head, { embedding }: ReindexRequest): Changes {
  const isOther = now.embedding_model !== (embedding?.model ?? null);
  return {
    ...WITHOUT_PAGES,
    ...(isOther ? { memory: { set: { rows: [{ compared: true }], to: { compared: false } } } } : {}),
  };
}
