import { createHmac, randomBytes } from 'node:crypto';
import type { Statement, Tombstone } from '../store.ts';
import type { Connection } from './connection.ts';
import { readMeta, writeMeta } from './meta.ts';
import { text } from './rows.ts';

/** See `SpaceReader.tombstones`. */
export function readTombstones(
  connection: Connection,
  statements: readonly Statement[],
): readonly (Tombstone | undefined)[] {
  const key = readMeta(connection, 'tombstone_key');
  return statements.map((statement) =>
    key === undefined
      ? undefined
      : (connection.get('SELECT at, reason FROM tombstone WHERE hash = ?', hashOf(key, statement)) as
          | Tombstone
          | undefined),
  );
}

export function bury(connection: Connection, statement: Statement, { at, reason }: Tombstone): void {
  connection.run(
    'INSERT OR REPLACE INTO tombstone (hash, at, reason) VALUES (?, ?, ?)',
    hashOf(keyOf(connection), statement),
    at,
    text(reason, 'reason'),
  );
}

export function exhume(connection: Connection, statement: Statement): void {
  const key = readMeta(connection, 'tombstone_key');
  if (key !== undefined) connection.run('DELETE FROM tombstone WHERE hash = ?', hashOf(key, statement));
}

/** Without the key nobody can try out what a hash stands for, not even with the hashes of another space. */
function keyOf(connection: Connection): string {
  const known = readMeta(connection, 'tombstone_key');
  if (known !== undefined) return known;
  const key = randomBytes(32).toString('hex');
  writeMeta(connection, 'tombstone_key', key);
  return key;
}

function hashOf(key: string, { scope, content }: Statement): Uint8Array {
  return createHmac('sha256', Buffer.from(key, 'hex'))
    .update(JSON.stringify([scope, content]))
    .digest();
}
