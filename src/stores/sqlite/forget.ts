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
 * Removes a memory and all its texts from all tables, inside the caller's transaction. {@link redactMentions} then removes
 * mentions of it in the log of others, and {@link eraseForgotten} erases the bytes. Returns the memory's row. Throws
 * `not_found`.
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

/** Removes forgotten memories from the log entries of other memories before `operation`, all in one pass. */
export function redactMentions(connection: Connection, ids: ReadonlySet<string>, operation: number): void {
  // Link events of which they were the second end. Without the memory the link cannot be restored.
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
 * Ends a transaction that forgets, in steps. Removes the terms that no memory uses and the saved index, which may contain
 * forgotten memories, and records that the bytes still have to be erased.
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
 * Erases the bytes of forgotten memories: rewrites the file from the remaining rows and empties the log. `secure_delete` is
 * not enough, because SQLite leaves copies of rows behind when it splits pages. Does nothing if no erasure is pending.
 * Throws `store_busy` if another process prevents emptying the log.
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

/** The first column of its result is 0 if it succeeded. */
const EMPTY_LOG = 'PRAGMA space.wal_checkpoint(TRUNCATE)';

/** Moves the whole log into the file and truncates it. Throws a busy error if a connection still reads from it. */
export function emptyLog(connection: Connection): void {
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
    `this is forgotten and no recall finds it, but ${reason}, or open the space again: ${path}`,
    { details: { path, written: true, erased: false }, cause },
  );
}
