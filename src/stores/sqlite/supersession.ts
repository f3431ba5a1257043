import type { MemoryRecord } from '../../domain/memory.ts';
import { grouped, type Relations } from '../../store/belief-state.ts';
import type { Connection } from './connection.ts';
import { readVerified, writeMeta } from './meta.ts';

/** Replaces the stored list of what the memory in `row` supersedes. `before` is its record before this write. */
export function writeSupersession(
  connection: Connection,
  row: number,
  memory: MemoryRecord,
  before: MemoryRecord | undefined,
): void {
  const same =
    before !== undefined && JSON.stringify(before.supersedes) === JSON.stringify(memory.supersedes);
  if (!same && (before?.supersedes.length ?? 0) + memory.supersedes.length > 0) {
    connection.run('DELETE FROM supersession WHERE newer_row = ?', row);
    for (const older of memory.supersedes) {
      connection.run('INSERT OR IGNORE INTO supersession (older_id, newer_row) VALUES (?, ?)', older, row);
    }
    relationsChanged(connection);
  }
}

/** Calls {@link relationsChanged} if another memory supersedes one of the new memories already. */
export function noticeSuperseded(connection: Connection, added: readonly Pick<MemoryRecord, 'id'>[]): void {
  if (connection.get('SELECT 1 FROM supersession LIMIT 1') === undefined) return;
  const superseded = connection.get(
    'SELECT 1 FROM supersession WHERE older_id IN (SELECT value FROM json_each(?)) LIMIT 1',
    JSON.stringify(added.map(({ id }) => id)),
  );
  if (superseded) relationsChanged(connection);
}

/** Makes every process read the relations anew. */
export function relationsChanged(connection: Connection): void {
  writeMeta(connection, 'relations', String(readRelationsVersion(connection) + 1));
}

export function readRelationsVersion(connection: Connection): number {
  return Number(readVerified(connection, 'relations') ?? 0);
}

/** Reads which memories supersede which, and the open pairs of possible updates, by row. */
export function readRelations(connection: Connection): Relations<number> {
  // CROSS JOIN fixes the order of the tables. Otherwise SQLite would scan all memories to satisfy ORDER BY.
  const successors = connection.all(
    `SELECT memory.row AS older, newer_row AS newer FROM supersession CROSS JOIN memory ON memory.id = older_id
     ORDER BY older, newer`,
  ) as { older: number; newer: number }[];
  const pairs = connection.all(
    `SELECT a.row AS older, b.row AS newer, similarity FROM similar_pair
     CROSS JOIN memory AS a ON a.id = older_id CROSS JOIN memory AS b ON b.id = newer_id
     WHERE ended_at IS NULL AND similar_pair.kind = 'update' ORDER BY sequence`,
  ) as { older: number; newer: number; similarity: number }[];
  return {
    successors: grouped(successors.map(({ older, newer }) => [older, newer] as const)),
    newer: grouped(pairs.map(({ older, newer: key, similarity }) => [older, { key, similarity }] as const)),
  };
}
