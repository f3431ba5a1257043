import { SalienceError } from '../../domain/errors.ts';
import { missingMemory } from '../../store/faults.ts';
import type { RewriteAside } from './aside.ts';
import { type Connection, retryWhileBusy } from './connection.ts';
import { isBusy, translateError } from './faults.ts';
import { readMeta, writeMeta } from './meta.ts';
import { dropPages } from './pages.ts';
import { erasePairs } from './pairs.ts';
import { forgetRecordings } from './recordings.ts';
import type { BytesRow } from './rows.ts';
import { relationsChanged } from './supersession.ts';
import { decodeTermVector } from './term-vector.ts';
import type { TermIds } from './terms.ts';
import { forgetUsage } from './usage.ts';
import { eraseVotes } from './votes.ts';

/**
 * Takes a memory and everything it ever said out of all tables, inside the caller's transaction; others still mention
 * it until {@link redactMentions}, and the bytes go with {@link eraseForgotten} afterwards. Returns the memory's row.
 * Throws `not_found`.
 */
export function redactMemory(connection: Connection, id: string): number {
  const found = connection.get(
    `SELECT row FROM memory WHERE id = ?1
     UNION ALL SELECT max(memory_row) FROM event WHERE memory_id = ?1 LIMIT 1`,
    id,
  ) as { row: number | null } | undefined;
  if (found?.row == null) throw missingMemory(id);
  connection.run('DELETE FROM memory WHERE id = ?', id);
  connection.run('UPDATE event SET before = NULL, link = NULL, redacted = 1 WHERE memory_id = ?', id);
  erasePairs(connection, id);
  relationsChanged(connection);
  eraseVotes(connection, id);
  return found.row;
}

/** Takes forgotten memories out of what was logged of others before `operation`: all of them in one pass. */
export function redactMentions(connection: Connection, ids: ReadonlySet<string>, operation: number): void {
  // The links that they were the second end of: without them they cannot be made again.
  connection.run(
    `UPDATE event SET link = NULL, redacted = 1 WHERE link IS NOT NULL AND operation < ?
     AND json_extract(link, '$.link.ids[1]') IN (SELECT value FROM json_each(?))`,
    operation,
    JSON.stringify([...ids]),
  );
  forgetUsage(connection, ids);
  forgetRecordings(connection, ids);
}

/**
 * Ends a transaction that forgets, in steps: removes the terms that no memory uses and the saved index, which may hold what is
 * forgotten, and remembers that the bytes are still to be erased.
 */
export function* finishForgetting(connection: Connection, termIds: TermIds): Generator<undefined, void> {
  const used = new Set<number>();
  for (const row of connection.each('SELECT row, bytes, checksum FROM term_vector')) {
    decodeTermVector(row as unknown as BytesRow, (term) => used.add(term));
    yield;
  }
  for (const [id] of connection.lists('SELECT id FROM term') as [number][]) {
    if (used.has(id)) continue;
    connection.run('DELETE FROM term WHERE id = ?', id);
    yield;
  }
  termIds.clear();
  yield* dropPages(connection);
  writeMeta(connection, 'erasure', 'pending');
}

/**
 * Erases the bytes of what was forgotten: rewrites the file from the living rows alone, because when pages are
 * split SQLite leaves copies of rows behind that `secure_delete` does not reach, and empties the log.
 * Does nothing when nothing is pending. Throws `store_busy` when another process keeps the log from being emptied.
 */
export async function eraseForgotten(
  connection: Connection,
  timeout: number,
  aside?: RewriteAside,
): Promise<void> {
  if (readMeta(connection, 'erasure') === undefined) return;
  const { path, database } = connection;
  try {
    if (!(await aside?.(path, 'VACUUM space')))
      await retryWhileBusy(timeout, () => database.exec('VACUUM space'));
    const emptied = await aside?.(path, EMPTY_LOG);
    if (emptied?.[0]?.[0] !== 0) await retryWhileBusy(timeout, () => emptyLog(connection));
    await retryWhileBusy(timeout, () => writeMeta(connection, 'erasure', undefined));
  } catch (error) {
    throw notErased(connection.path, error);
  }
}

/** Its first number is 0 where it did. */
const EMPTY_LOG = 'PRAGMA space.wal_checkpoint(TRUNCATE)';

/** Moves the whole log into the file and cuts it to nothing. Throws a busy error when someone still reads from it. */
function emptyLog(connection: Connection): void {
  const { busy } = connection.get(EMPTY_LOG) as { busy: number };
  if (busy) throw Object.assign(new Error('the log is in use'), { errcode: 5 });
}

function notErased(path: string, cause: unknown): unknown {
  const translated = translateError(cause, path);
  if (!SalienceError.isInstance(translated)) return translated;
  const reason = isBusy(cause)
    ? 'another process is reading the file, so that its log still holds the bytes; run forget again when it is done'
    : `erasing the bytes failed (${translated.code}); fix that and run forget again`;
  return new SalienceError(
    translated.code,
    `the memory is forgotten and no recall finds it, but ${reason}, or open the space again: ${path}`,
    { details: { path, written: true, erased: false }, cause },
  );
}
