import type { NewUsage, Usage, UseBefore, UseDecision } from '../../store/store.ts';
import { useBeforeFromJson, usedFromJson } from '../../store/stored-json.ts';
import { checkUsed, dynamicsOf, usageWithout } from '../../store/using.ts';
import { verify } from './checksum.ts';
import type { Connection } from './connection.ts';
import { real } from './driver.ts';
import { findMemory, lastSequence } from './events.ts';
import { setPossibleLinks } from './links.ts';
import { optionalText, text } from './rows.ts';

export interface UsageRow {
  readonly sequence: number;
  readonly at: number;
  readonly strategy: string;
  readonly effect: Usage['effect'];
  readonly query_hash: string;
  readonly session_id: string | null;
  readonly used: string;
  readonly after_event: number;
  readonly before: string | null;
  readonly checksum: number | null;
}

const updateDynamics = `UPDATE memory SET stability = ?, access_count = ?, last_accessed_at = ?, seen = ?, sessions = ?, tier = ?,
  core = ?, cold_since = ?, consolidated_at = ? WHERE id = ?`;

/** Applies a use and logs it, inside the caller's transaction. Returns the sequence of the row in the log. */
export function applyUse(connection: Connection, usage: NewUsage, decision: UseDecision): number {
  checkUsed(usage, decision);
  const before: UseBefore['memories'][number][] = [];
  for (const memory of decision.memories) {
    const found = findMemory(connection, memory.id);
    if (!found) continue;
    before.push({ id: memory.id, ...dynamicsOf(found.memory) });
    connection.run(
      updateDynamics,
      real(memory.stability),
      memory.accessCount,
      memory.lastAccessedAt ?? null,
      memory.seen ?? null,
      JSON.stringify(memory.sessions),
      memory.tier,
      memory.core ? 1 : 0,
      memory.coldSince ?? null,
      memory.consolidatedAt ?? null,
      memory.id,
    );
  }
  const links = setPossibleLinks(connection, decision.links);
  const isPresent = (id: string) => connection.get('SELECT 1 FROM memory WHERE id = ?', id) !== undefined;
  const used = usage.used.filter(({ id }) => isPresent(id));
  const last = lastUsage(connection);
  const { lastInsertRowid } = connection
    .statement(
      `INSERT INTO usage (at, strategy, effect, query_hash, session_id, used, after_event, before)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      Math.max(usage.at, last?.at ?? usage.at),
      text(usage.strategy, 'strategy'),
      usage.effect,
      text(usage.queryHash, 'queryHash'),
      optionalText(usage.sessionId, 'sessionId'),
      JSON.stringify(used.map(({ id, direct }) => ({ id, direct }))),
      lastSequence(connection),
      JSON.stringify({ memories: before, links } satisfies UseBefore),
    );
  return Number(lastInsertRowid);
}

export function readUsage(connection: Connection, after: number, limit = -1): readonly Usage[] {
  const rows = connection.all(
    'SELECT * FROM usage WHERE sequence > ? ORDER BY sequence LIMIT ?',
    after,
    limit,
  ) as UsageRow[];
  return rows.map(usageOf);
}

/** Reads a row of the log. Throws `store_corrupt`. */
export function usageOf(row: UsageRow): Usage {
  const { checksum, ...values } = row;
  verify(Object.values(values), checksum, { table: 'usage', row: row.sequence });
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

/** Returns the last use of the space. */
export function lastUsage(
  connection: Connection,
): { readonly sequence: number; readonly at: number } | undefined {
  return connection.get('SELECT sequence, at FROM usage ORDER BY sequence DESC LIMIT 1') as
    | { sequence: number; at: number }
    | undefined;
}

export function lastUsageSequence(connection: Connection): number {
  return lastUsage(connection)?.sequence ?? 0;
}

/** Removes forgotten memories from all rows of the usage log. */
export function forgetUsage(connection: Connection, ids: ReadonlySet<string>): void {
  const rows = connection.all(
    `SELECT * FROM usage WHERE
       EXISTS (SELECT 1 FROM json_each(used) WHERE json_extract(json_each.value, '$.id') IN (SELECT value FROM json_each(?1)))
       OR EXISTS (SELECT 1 FROM json_each(before, '$.memories') WHERE json_extract(json_each.value, '$.id') IN (SELECT value FROM json_each(?1)))
       OR EXISTS (SELECT 1 FROM json_each(before, '$.links') WHERE json_extract(json_each.value, '$.link.ids[0]') IN (SELECT value FROM json_each(?1))
                  OR json_extract(json_each.value, '$.link.ids[1]') IN (SELECT value FROM json_each(?1)))`,
    JSON.stringify([...ids]),
  ) as UsageRow[];
  for (const row of rows) {
    const { used, before, queryHash, sessionId } = usageWithout(usageOf(row), ids);
    connection.run(
      'UPDATE usage SET query_hash = ?, session_id = ?, used = ?, before = ? WHERE sequence = ?',
      queryHash,
      sessionId ?? null,
      JSON.stringify(used),
      before === undefined ? null : JSON.stringify(before),
      row.sequence,
    );
  }
}
