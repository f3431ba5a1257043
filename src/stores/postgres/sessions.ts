import type { Session } from '../../store/store.ts';
import type { Found, Moment } from './moment.ts';
import { checkedText } from './rows.ts';
import { sql, wanted } from './sql.ts';

interface SessionRow {
  readonly id: string;
  readonly scope: string;
  readonly started_at: number;
  readonly active_at: number;
  readonly ended_at: number | null;
}

export const SESSION_COLUMNS = sql`id, scope, started_at, active_at, ended_at`;

/** See `SpaceReader.session`. */
export async function readSession(moment: Moment, id: string | undefined): Promise<Session | undefined> {
  const { database, id: space } = moment.place;
  const from = sql`SELECT ${SESSION_COLUMNS} FROM ${database.tables.session} WHERE space_id = ${space}::uuid`;
  const [row] = await moment.rows(
    id === undefined
      ? sql`${from} AND ended_at IS NULL ORDER BY started_at DESC, id DESC LIMIT 1`
      : sql`${from} AND id = ${wanted(id)}`,
  );
  return row && sessionOf(row);
}

export function sessionOf(found: Found): Session {
  const { id, scope, started_at, active_at, ended_at } = found as unknown as SessionRow;
  return { id, scope, startedAt: started_at, activeAt: active_at, endedAt: ended_at ?? undefined };
}

export function toSessionRow({ id, scope, startedAt, activeAt, endedAt }: Session): Found {
  return {
    id: checkedText(id, 'sessionId'),
    scope: checkedText(scope, 'scope'),
    started_at: startedAt,
    active_at: activeAt,
    ended_at: endedAt ?? null,
  };
}
