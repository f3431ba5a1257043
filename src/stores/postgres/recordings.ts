import type { Keep, LogPlace, NewRecording, Recording, RecordingRequest } from '../../store/recording.ts';
import { detailsFromJson, hitsFromJson } from '../../store/stored-json.ts';
import { newStamp, patienceOf } from './commit.ts';
import { translated } from './connection.ts';
import type { Found, Moment, SpacePlace } from './moment.ts';
import { checkedText } from './rows.ts';
import { joined, sql, wanted } from './sql.ts';

interface RecordingRow {
  readonly sequence: number;
  readonly at: number;
  readonly strategy: string;
  readonly session_id: string | null;
  readonly query: string | null;
  readonly hits: string;
  readonly details: string;
  readonly redacted: boolean;
}

export const RECORDING_COLUMNS = sql`sequence, at, strategy, session_id, query, hits, details, redacted`;

/** The most outdated rows that are deleted along with a new one, so that no recall waits for a log with a year's backlog. */
const REMOVED_AT_ONCE = 100;

/** Records a recall: see `SpaceCore.record`. Runs one statement that verifies nothing, because it depends on nothing that was read. */
export async function applyRecording(
  { database, id }: SpacePlace,
  recording: NewRecording | undefined,
  keep: Keep,
): Promise<number | undefined> {
  const { space, recall } = database.tables;
  const row = recording && toRow(recording);
  const added = row
    ? sql`, added AS (
        INSERT INTO ${recall} (space_id, sequence, at, strategy, session_id, query, hits, details, redacted)
        SELECT ${id}::uuid, moved.recording, ${row.at}::bigint, ${row.strategy}::text, ${row.sessionId}::text, ${row.query}::text, ${row.hits}::text, ${row.details}::text, false
        FROM moved WHERE ${keep.most}::numeric > 0 AND ${row.at}::bigint >= ${keep.since}::numeric)`
    : sql``;
  const wiped =
    recording || keep.texts
      ? sql``
      : sql`, wiped AS (
          UPDATE ${recall} AS recall SET query = NULL FROM moved
          WHERE recall.space_id = ${id}::uuid AND recall.query IS NOT NULL
            AND recall.sequence > moved.recording - ${keep.most}::numeric AND recall.at >= ${keep.since}::numeric)`;
  const statement = sql`WITH ${patienceOf(database)}
    , moved AS (
      UPDATE ${space} SET recording = recording + ${recording ? 1 : 0}::bigint, stamp = ${newStamp()}
      FROM patience WHERE space_id = ${id}::uuid AND NOT copying AND patience.milliseconds IS NOT NULL RETURNING recording)
    , cut AS (
      DELETE FROM ${recall} AS recall USING moved
      WHERE recall.space_id = ${id}::uuid AND recall.sequence <= moved.recording - ${keep.most}::numeric)
    , aged AS (
      DELETE FROM ${recall} AS recall USING moved
      WHERE recall.space_id = ${id}::uuid AND recall.sequence > moved.recording - ${keep.most}::numeric
        AND recall.sequence IN (
          SELECT sequence FROM ${recall} WHERE space_id = ${id}::uuid AND at < ${keep.since}::numeric
          ORDER BY at ${recording ? sql`LIMIT ${REMOVED_AT_ONCE}::bigint` : sql``}))
    ${added}${wiped}
    SELECT recording::text FROM moved`;
  const [found] = await translated(database, () => database.run(statement));
  return found?.[0] === undefined ? undefined : Number(found[0]);
}

function toRow({ at, strategy, sessionId, query, hits, details }: NewRecording) {
  return {
    at,
    strategy: checkedText(strategy, 'strategy'),
    sessionId: sessionId === undefined ? null : checkedText(sessionId, 'sessionId'),
    query: query === undefined ? null : checkedText(query, 'query'),
    hits: JSON.stringify(hits.map(({ id, score }) => ({ id, score }))),
    details: JSON.stringify(details),
  };
}

/** See `SpaceReader.place`. */
export async function readPlace(moment: Moment): Promise<LogPlace> {
  const { database, id } = moment.place;
  const [[row] = []] = await moment.read(
    sql`SELECT count(*) AS waiting FROM ${database.tables.similar_pair} WHERE space_id = ${id}::uuid AND ended_at IS NULL`,
  );
  const { sequence, usage, pair } = await moment.head();
  return { sequence, usage, pair, waiting: Number(row?.['waiting'] ?? 0) };
}

/** See `SpaceReader.recordings`. */
export async function readRecordings(
  moment: Moment,
  { limit, sequence, before, since, strategy, sessionId }: RecordingRequest,
): Promise<readonly Recording[]> {
  const { database, id } = moment.place;
  const conditions = [
    sql`space_id = ${id}::uuid`,
    ...(sequence === undefined ? [] : [sql`sequence = ${sequence}::numeric`]),
    ...(before === undefined ? [] : [sql`sequence < ${before}::numeric`]),
    ...(since === undefined ? [] : [sql`at >= ${since}::numeric`]),
    ...(strategy === undefined ? [] : [sql`strategy = ${wanted(strategy)}`]),
    ...(sessionId === undefined ? [] : [sql`session_id = ${wanted(sessionId)}`]),
  ];
  const rows = await moment.rows(
    sql`SELECT ${RECORDING_COLUMNS} FROM ${database.tables.recall} WHERE ${joined(conditions, ' AND ')}
      ORDER BY sequence DESC LIMIT ${limit}::bigint`,
  );
  return rows.map(recordingOf);
}

/** Reads a row of the log. Throws `store_corrupt`. */
export function recordingOf(found: Found): Recording {
  const row = found as unknown as RecordingRow;
  return {
    sequence: row.sequence,
    at: row.at,
    strategy: row.strategy,
    sessionId: row.session_id ?? undefined,
    query: row.query ?? undefined,
    hits: hitsFromJson(row.hits, row.sequence),
    details: detailsFromJson(row.details, row.sequence),
    redacted: row.redacted,
  };
}

export function toRecordingRow(recording: Recording): Found {
  const { sessionId, ...row } = toRow(recording);
  return { ...row, session_id: sessionId, sequence: recording.sequence, redacted: recording.redacted };
}
