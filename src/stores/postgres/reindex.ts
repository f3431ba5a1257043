import { randomInt } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import { onBehalf } from '../../store/cancelling.ts';
import { derivePage, neverQuiet, REINDEX_ROUNDS } from '../../store/reindexing.ts';
import type { IndexedText, ReindexRequest } from '../../store/store.ts';
import { type Changes, commit, newStamp, patienceOf, WITHOUT_PAGES } from './commit.ts';
import { translated } from './connection.ts';
import { type Head, type SpacePlace, startMoment } from './moment.ts';
import { fromRow, RECORD_COLUMNS } from './rows.ts';
import { type Sql, sql, wantedNumbers } from './sql.ts';
import { toDerivedRow } from './write.ts';

const PAGE = 500;

/** Generations between two, at most: reindexes that begin at the same time each have one of their own. */
const APART = 2 ** 31;

/**
 * See `SpaceStore.reindex`. The next generation of what is derived is written beside the present one, page by page; a
 * single statement then makes it count, if nothing was written meanwhile. Of several at the same time the first one counts.
 */
export async function reindexSpace(
  place: SpacePlace,
  request: ReindexRequest,
  checkOpen: () => void,
): Promise<void> {
  const { database, id } = place;
  const { space, memory, derived, event } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const beginning = startMoment(place);
  const [known] = await beginning.rows<{ last: number }>(
    sql`SELECT coalesce(max(generation), 0) AS last FROM ${derived} WHERE ${here}`,
  );
  const start = await beginning.head();
  // After all others, so that what did not come to its end goes with the next one that does.
  const generation = Math.max(start.generation, known?.last ?? 0) + randomInt(1, APART);
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
          SELECT space_id FROM ${space} AS space, patience WHERE ${here} AND NOT copying AND patience.milliseconds IS NOT NULL FOR KEY SHARE OF space)
        INSERT INTO ${derived} (space_id, generation, key, terms, vector)
        SELECT present.space_id, generation, key, terms, decode(vector, 'base64')
        FROM present, json_to_recordset(${JSON.stringify(rows)}::json) AS r(generation bigint, key bigint, terms text, vector text)
        ON CONFLICT (space_id, generation, key) DO UPDATE SET terms = excluded.terms, vector = excluded.vector`,
    );
  };
  const discardOwn = () => discard(sql`= ${generation}::bigint`);
  /** Whether it counts, or may. */
  let isLive = false;
  try {
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
      if (now.generation !== start.generation) {
        if (!isAsAsked(now, request)) throw anotherReindex(place.name);
        await discardOwn();
        return;
      }
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
      isLive = true;
      isLive = await commit(place, now, headAfter(now, request, generation), recomparing(now, request));
      if (!isLive) continue;
      await discard(sql`< ${generation}::bigint`);
      return;
    }
    throw neverQuiet(place.name);
  } catch (error) {
    // Also for a caller who has given up. What cannot be removed goes with the next reindex.
    if (!isLive) await onBehalf(undefined, discardOwn).catch(() => undefined);
    throw error;
  }
}

/** Whether another one did meanwhile what was to be done. */
function isAsAsked(now: Head, { analyzer, embedding }: ReindexRequest): boolean {
  const { model = null, dimensions = null } = embedding ?? {};
  return (
    now.analyzer === analyzer && now.embedding_model === model && now.embedding_dimensions === dimensions
  );
}

function anotherReindex(space: string): SalienceError {
  return new SalienceError(
    'store_busy',
    `space ${JSON.stringify(space)} was reindexed by another process in another way meanwhile; this reindex changed nothing. Have all processes use the same embedder and analyzer, and reindex again`,
    { details: { space } },
  );
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
