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

/** The upper limit of the random step to the next generation. It keeps apart reindexes that start at the same time. */
const APART = 2 ** 31;

/**
 * Derives everything anew: see `SpaceStore.reindex`. Writes a new generation of derived rows beside the present one, page by page.
 * A single statement then makes it the current one, if nothing was written meanwhile. If several run at once, the first one wins.
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
  // Higher than all others, so that the next reindex that succeeds deletes the rows of unfinished ones.
  const generation = Math.max(start.generation, known?.last ?? 0) + randomInt(1, APART);
  const run = (statement: Sql) => translated(database, () => database.run(statement));
  const discard = (which: Sql) => run(sql`DELETE FROM ${derived} WHERE ${here} AND generation ${which}`);
  /** Derives one page of memories. Returns the last key and the number of memories, or `undefined` if there were none. */
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
      // Writes nothing if the space was deleted: the rows would belong to the next space with this name.
      sql`WITH ${patienceOf(database)}, present AS MATERIALIZED (
          SELECT space_id FROM ${space} AS space, patience WHERE ${here} AND NOT copying AND patience.milliseconds IS NOT NULL FOR KEY SHARE OF space)
        INSERT INTO ${derived} (space_id, generation, key, terms, vector)
        SELECT present.space_id, generation, key, terms, decode(vector, 'base64')
        FROM present, json_to_recordset(${JSON.stringify(rows)}::json) AS r(generation bigint, key bigint, terms text, vector text)
        ON CONFLICT (space_id, generation, key) DO UPDATE SET terms = excluded.terms, vector = excluded.vector`,
    );
  };
  const discardOwn = () => discard(sql`= ${generation}::bigint`);
  /** Whether this generation is the current one, or may be. */
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
    // Also if the caller has aborted. The next reindex deletes what cannot be deleted now.
    if (!isLive) await onBehalf(undefined, discardOwn).catch(() => undefined);
    throw error;
  }
}

/** Whether another reindex has already done what this one was asked to do. */
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

/** Returns the changes of other tables. After a change of the model, all memories are compared again. */
function recomparing(now: Head, { embedding }: ReindexRequest): Changes {
  const isOther = now.embedding_model !== (embedding?.model ?? null);
  return {
    ...WITHOUT_PAGES,
    ...(isOther ? { memory: { set: { rows: [{ compared: true }], to: { compared: false } } } } : {}),
  };
}
