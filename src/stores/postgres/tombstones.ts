import { createHmac, randomBytes } from 'node:crypto';
import { normalisedContent } from '../../domain/statement.ts';
import type { Statement, Tombstone } from '../../store/store.ts';
import type { Moment } from './moment.ts';
import { type Sql, sql, wantedTexts } from './sql.ts';

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
  const { database, id, secrets } = moment.place;
  const lookUp = (key: string) => {
    const hashes = statements.map((statement) => hashOf(key, statement));
    return {
      hashes,
      query: sql`SELECT hash, at, reason FROM ${database.tables.tombstone}
        WHERE space_id = ${id}::uuid AND hash IN ${wantedTexts(hashes)}`,
    };
  };
  // With the key that was read last; a space that was deleted and made anew has another one.
  const guess = lookUp(secrets.tombstoneKey ?? '');
  const [[row] = [], guessed = []] = await moment.readOnce(keyQuery(moment), guess.query);
  const key = String(row?.['tombstone_key'] ?? '');
  const isRight = key === secrets.tombstoneKey;
  const { hashes, query } = isRight ? guess : lookUp(key);
  secrets.tombstoneKey = key;
  const found = new Map(
    (isRight ? guessed : await moment.rows(query)).map((each) => [
      String(each['hash']),
      { at: Number(each['at']), reason: String(each['reason']) },
    ]),
  );
  return hashes.map((hash) => found.get(hash));
}

/** It never changes, and stays out of what every read brings along. */
export async function readTombstoneKey(moment: Moment): Promise<string> {
  const [[row] = []] = await moment.readOnce(keyQuery(moment));
  return String(row?.['tombstone_key'] ?? '');
}

function keyQuery({ place }: Moment): Sql {
  return sql`SELECT tombstone_key FROM ${place.database.tables.space} WHERE space_id = ${place.id}::uuid`;
}

/** What a statement is known again by, in hex. */
export function hashOf(key: string, { scope, content }: Statement): string {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([scope, normalisedContent(content)]))
    .digest('hex');
}
