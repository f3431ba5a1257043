import { createHmac, randomBytes } from 'node:crypto';
import { normalisedContent } from '../../domain/statement.ts';
import type { Statement, Tombstone } from '../../store/store.ts';
import type { Moment } from './moment.ts';
import { sql, wantedTexts } from './sql.ts';

/** Without the key nobody can try out what a hash stands for, not even with the hashes of another space. */
export function newTombstoneKey(): string {
  return randomBytes(32).toString('hex');
}

/** See `SpaceReader.tombstones`. */
export async function readTombstones(
  moment: Moment,
  statements: readonly Statement[],
): Promise<readonly (Tombstone | undefined)[]> {
  if (statements.length === 0) return [];
  const key = await readTombstoneKey(moment);
  const { database, id } = moment.place;
  const hashes = statements.map((statement) => hashOf(key, statement));
  const rows = await moment.rows<Tombstone & { hash: string }>(
    sql`SELECT hash, at, reason FROM ${database.tables.tombstone}
      WHERE space_id = ${id}::uuid AND hash IN ${wantedTexts(hashes)}`,
  );
  const found = new Map(rows.map(({ hash, at, reason }) => [hash, { at, reason }]));
  return hashes.map((hash) => found.get(hash));
}

/** It never changes, and stays out of what every read brings along. */
export async function readTombstoneKey(moment: Moment): Promise<string> {
  const { database, id } = moment.place;
  const [row] = await moment.rows<{ tombstone_key: string }>(
    sql`SELECT tombstone_key FROM ${database.tables.space} WHERE space_id = ${id}::uuid`,
  );
  return row?.tombstone_key ?? '';
}

/** What a statement is known again by, in hex. */
export function hashOf(key: string, { scope, content }: Statement): string {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([scope, normalisedContent(content)]))
    .digest('hex');
}
