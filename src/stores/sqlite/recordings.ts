import {
  type Keep,
  type LogPlace,
  type NewRecording,
  type Recording,
  type RecordingRequest,
  recordingWithout,
} from '../../store/recording.ts';
import { detailsFromJson, hitsFromJson } from '../../store/stored-json.ts';
import { verify } from './checksum.ts';
import type { Connection } from './connection.ts';
import type { SqlValue } from './driver.ts';
import { lastSequence } from './events.ts';
import { writeMeta } from './meta.ts';
import { optionalText, text } from './rows.ts';
import { lastUsageSequence } from './usage.ts';

export interface RecordingRow {
  readonly sequence: number;
  readonly at: number;
  readonly strategy: string;
  readonly session_id: string | null;
  readonly query: string | null;
  readonly hits: string;
  readonly details: string;
  readonly redacted: number;
  readonly checksum: number | null;
}

/** Old rows removed together with a new one. A limit, so that a recall never waits for the removal of a whole log. */
const REMOVED_AT_ONCE = 100;

/**
 * Records a recall inside the caller's transaction, and removes recordings that may no longer be kept. Returns the sequence
 * of the last recording, and whether it removed something for another reason than age, so that its bytes must be erased.
 */
export function applyRecording(
  connection: Connection,
  recording: NewRecording | undefined,
  keep: Keep,
): { readonly sequence: number; readonly erases: boolean } {
  if (recording) insert(connection, recording);
  const sequence = lastRecording(connection);
  connection.run('DELETE FROM recall WHERE sequence <= ?', sequence - keep.most);
  const erases = changed(connection) && keep.most === 0;
  connection.run(
    'DELETE FROM recall WHERE sequence IN (SELECT sequence FROM recall WHERE at < ? ORDER BY at LIMIT ?)',
    keep.since,
    recording ? REMOVED_AT_ONCE : -1,
  );
  if (recording || keep.texts) return { sequence, erases: markErasure(connection, erases) };
  connection.run('UPDATE recall SET query = NULL WHERE query IS NOT NULL');
  return { sequence, erases: markErasure(connection, changed(connection) || erases) };
}

function markErasure(connection: Connection, erases: boolean): boolean {
  if (erases) writeMeta(connection, 'erasure', 'pending');
  return erases;
}

function changed(connection: Connection): boolean {
  return (connection.get('SELECT changes() AS count') as { count: number }).count > 0;
}

function insert(
  connection: Connection,
  { at, strategy, sessionId, query, hits, details }: NewRecording,
): void {
  connection.run(
    'INSERT INTO recall (at, strategy, session_id, query, hits, details) VALUES (?, ?, ?, ?, ?, ?)',
    at,
    text(strategy, 'strategy'),
    optionalText(sessionId, 'sessionId'),
    optionalText(query, 'query'),
    JSON.stringify(hits.map(({ id, score }) => ({ id, score }))),
    JSON.stringify(details),
  );
}

function lastRecording(connection: Connection): number {
  const last = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'recall'");
  return (last as { seq: number } | undefined)?.seq ?? 0;
}

/** See `SpaceReader.place`. */
export function readPlace(connection: Connection): LogPlace {
  const last = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'similar_pair'");
  const waiting = connection.get('SELECT count(*) AS count FROM similar_pair WHERE ended_at IS NULL') as {
    count: number;
  };
  return {
    sequence: lastSequence(connection),
    usage: lastUsageSequence(connection),
    pair: (last as { seq: number } | undefined)?.seq ?? 0,
    waiting: waiting.count,
  };
}

/** See `SpaceReader.recordings`. */
export function readRecordings(connection: Connection, request: RecordingRequest): readonly Recording[] {
  const conditions: readonly (readonly [string, SqlValue | undefined])[] = [
    ['sequence = ?', request.sequence],
    ['sequence < ?', request.before],
    // The `+` keeps SQLite from using the index of instants, which would require a sort.
    ['+at >= ?', request.since],
    ['strategy = ?', request.strategy],
    ['session_id = ?', request.sessionId],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  const where = given.length === 0 ? '' : `WHERE ${given.map(([sql]) => sql).join(' AND ')}`;
  const rows = connection.all(
    `SELECT * FROM recall ${where} ORDER BY sequence DESC LIMIT ?`,
    ...given.map(([, value]) => value as SqlValue),
    request.limit,
  ) as RecordingRow[];
  return rows.map(recordingOf);
}

/** A row of the log. Throws `store_corrupt`. */
export function recordingOf(row: RecordingRow): Recording {
  const place = { table: 'recall', row: row.sequence };
  const { checksum, ...values } = row;
  verify(Object.values(values), checksum, place);
  return {
    sequence: row.sequence,
    at: row.at,
    strategy: row.strategy,
    sessionId: row.session_id ?? undefined,
    query: row.query ?? undefined,
    hits: hitsFromJson(row.hits, row.sequence),
    details: detailsFromJson(row.details, row.sequence),
    redacted: row.redacted === 1,
  };
}

/** Removes memories from the log, and the query of each recording that returned or named them. */
export function forgetRecordings(connection: Connection, ids: ReadonlySet<string>): void {
  const rows = connection.all(
    `SELECT * FROM recall WHERE
       EXISTS (SELECT 1 FROM json_each(hits) WHERE json_extract(json_each.value, '$.id') IN (SELECT value FROM json_each(?1)))
       OR EXISTS (SELECT 1 FROM json_tree(details, '$.options') WHERE json_tree.type = 'text' AND atom IN (SELECT value FROM json_each(?1)))`,
    JSON.stringify([...ids]),
  ) as RecordingRow[];
  for (const row of rows) {
    const { hits, details } = recordingWithout(recordingOf(row), ids);
    connection.run(
      'UPDATE recall SET session_id = NULL, query = NULL, hits = ?, details = ?, redacted = 1 WHERE sequence = ?',
      JSON.stringify(hits),
      JSON.stringify(details),
      row.sequence,
    );
  }
}
