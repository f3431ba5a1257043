import { createHmac, randomBytes } from 'node:crypto';
import { normalisedContent } from '../../domain/statement.ts';
import type { Statement, Tombstone } from '../../store/store.ts';
import type { Moment } from './moment.ts';
import { type Sql, sql, wantedTexts } from './sql.ts';

/**
 * Creates the key of a space. Without it, nobody can guess a statement and test it against a hash, and the hashes of two spaces cannot
 * be compared.
 */
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
  // Looks up hashes by the last known key, and reads the key too: a space that was deleted and created again has a new one.
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

/** Reads the key of the space's tombstones. It never changes, so it is not part of the head that every read returns. */
export async function readTombstoneKey(moment: Moment): Promise<string> {
  const [[row] = []] = await moment.readOnce(keyQuery(moment));
  return String(row?.['tombstone_key'] ?? '');
}

function keyQuery({ place }: Moment): Sql {
  return sql`SELECT tombstone_key FROM ${place.database.tables.space} WHERE space_id = ${place.id}::uuid`;
}

/** Returns the hash that identifies a statement, in hex. */
export function hashOf(key: string, { scope, content }: Statement): string {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([scope, normalisedContent(content)]))
    .digest('hex');
}
