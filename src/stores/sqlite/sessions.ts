import type { Session } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { text } from './rows.ts';

interface SessionRow {
  readonly id: string;
  readonly scope: string;
  readonly started_at: number;
  readonly active_at: number;
  readonly ended_at: number | null;
}

/** See `SpaceReader.session`. */
export function readSession(connection: Connection, id: string | undefined): Session | undefined {
  const row = (
    id === undefined
      ? connection.get(
          'SELECT * FROM session WHERE ended_at IS NULL ORDER BY started_at DESC, id DESC LIMIT 1',
        )
      : connection.get('SELECT * FROM session WHERE id = ?', id)
  ) as SessionRow | undefined;
  return (
    row && {
      id: row.id,
      scope: row.scope,
      startedAt: row.started_at,
      activeAt: row.active_at,
      endedAt: row.ended_at ?? undefined,
    }
  );
}

export function writeSession(
  connection: Connection,
  { id, scope, startedAt, activeAt, endedAt }: Session,
): void {
  connection.run(
    'INSERT OR REPLACE INTO session (id, scope, started_at, active_at, ended_at) VALUES (?, ?, ?, ?, ?)',
    text(id, 'sessionId'),
    text(scope, 'scope'),
    startedAt,
    activeAt,
    endedAt ?? null,
  );
}
