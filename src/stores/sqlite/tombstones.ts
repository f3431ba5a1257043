import { createHmac, randomBytes } from 'node:crypto';
import { normalisedContent } from '../../domain/statement.ts';
import type { Statement, Tombstone } from '../../store/store.ts';
import type { Connection } from './connection.ts';
import { readVerified, writeMeta } from './meta.ts';
import { text } from './rows.ts';

/** See `SpaceReader.tombstones`. */
export function readTombstones(
  connection: Connection,
  statements: readonly Statement[],
): readonly (Tombstone | undefined)[] {
  const key = readVerified(connection, 'tombstone_key');
  return statements.map((statement) =>
    key === undefined
      ? undefined
      : hashesOf(key, statement)
          .map((hash) => connection.get('SELECT at, reason FROM tombstone WHERE hash = ?', hash))
          .find((row): row is Tombstone => row !== undefined),
  );
}

export function addTombstone(connection: Connection, statement: Statement, { at, reason }: Tombstone): void {
  const key = keyOf(connection);
  removeTombstone(connection, statement);
  connection.run(
    'INSERT INTO tombstone (hash, at, reason) VALUES (?, ?, ?)',
    hashOf(key, normalised(statement)),
    at,
    text(reason, 'reason'),
  );
}

export function removeTombstone(connection: Connection, statement: Statement): void {
  const key = readVerified(connection, 'tombstone_key');
  if (key === undefined) return;
  for (const hash of hashesOf(key, statement)) connection.run('DELETE FROM tombstone WHERE hash = ?', hash);
}

/**
 * Returns the key of this space, and creates it first if there is none. Without the key, nobody can guess a statement and test it
 * against a hash, and the hashes of two spaces cannot be compared.
 */
function keyOf(connection: Connection): string {
  const known = readVerified(connection, 'tombstone_key');
  if (known !== undefined) return known;
  const key = randomBytes(32).toString('hex');
  writeMeta(connection, 'tombstone_key', key);
  return key;
}

/** Returns the hashes of the normalised content and of the content as given, which an older version stored. */
function hashesOf(key: string, statement: Statement): readonly Uint8Array[] {
  const same = normalised(statement);
  const hash = hashOf(key, same);
  return same.content === statement.content ? [hash] : [hash, hashOf(key, statement)];
}

function normalised({ scope, content }: Statement): Statement {
  return { scope, content: normalisedContent(content) };
}

function hashOf(key: string, { scope, content }: Statement): Uint8Array {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([scope, content]))
    .digest();
}
