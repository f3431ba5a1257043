import type { Usage } from '../../store/store.ts';
import { useBeforeFromJson, usedFromJson } from '../../store/stored-json.ts';
import type { Found, Moment } from './moment.ts';
import { checkedText } from './rows.ts';
import { sql } from './sql.ts';

interface UsageRow {
  readonly sequence: number;
  readonly at: number;
  readonly strategy: string;
  readonly effect: Usage['effect'];
  readonly query_hash: string;
  readonly session_id: string | null;
  readonly used: string;
  readonly after_event: number;
  readonly before: string | null;
}

export const USAGE_COLUMNS = sql`sequence, at, strategy, effect, query_hash, session_id, used, after_event, before`;

/** See `SpaceReader.usage`. */
export async function readUsage(
  moment: Moment,
  after: number,
  limit: number | undefined,
): Promise<readonly Usage[]> {
  const { database, id } = moment.place;
  const rows = await moment.rows(
    sql`SELECT ${USAGE_COLUMNS} FROM ${database.tables.usage}
      WHERE space_id = ${id}::uuid AND sequence > ${after}::bigint ORDER BY sequence
      ${limit === undefined ? sql`` : sql`LIMIT ${limit}::bigint`}`,
  );
  return rows.map(usageOf);
}

/** Reads a row of the log. Throws `store_corrupt`. */
export function usageOf(found: Found): Usage {
  const row = found as unknown as UsageRow;
  return {
    sequence: row.sequence,
    at: row.at,
    strategy: row.strategy,
    effect: row.effect,
    queryHash: row.query_hash,
    sessionId: row.session_id ?? undefined,
    used: usedFromJson(row.used, row.sequence),
    after: row.after_event,
    ...(row.before === null ? {} : { before: useBeforeFromJson(row.before, row.sequence) }),
  };
}

/** Returns the columns of a use, except its stamp. Throws `invalid_text`. */
export function toUsageRow(usage: Usage): Found {
  const { sequence, at, strategy, effect, queryHash, sessionId, used, after, before } = usage;
  return {
    sequence,
    at,
    strategy: checkedText(strategy, 'strategy'),
    effect,
    query_hash: checkedText(queryHash, 'queryHash'),
    session_id: sessionId === undefined ? null : checkedText(sessionId, 'sessionId'),
    used: JSON.stringify(used.map(({ id, direct }) => ({ id, direct }))),
    after_event: after,
    before: before === undefined ? null : JSON.stringify(before),
  };
}
