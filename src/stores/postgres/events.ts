import type { EventQuery, MemoryEvent } from '../../store/store.ts';
import {
  linkChangeFromJson,
  recordFromJson,
  settingsFromJson,
  settingsToJson,
} from '../../store/stored-json.ts';
import type { Found, Moment } from './moment.ts';
import { checkedText } from './rows.ts';
import { type Sql, sql, wanted } from './sql.ts';

interface EventRow {
  readonly sequence: number;
  readonly operation: number;
  readonly at: number;
  readonly verb: MemoryEvent['verb'];
  readonly memory_key: number;
  readonly memory_id: string;
  readonly before: string | null;
  readonly redacted: boolean;
  readonly undoes: number | null;
  readonly link: string | null;
  readonly run: string | null;
  readonly settings: string | null;
}

export const EVENT_COLUMNS = sql`sequence, operation, at, verb, memory_key, memory_id, before, redacted, undoes, link, run, settings`;

/** Reads events: see `StoreReader.events`. */
export async function readEvents(moment: Moment, query: EventQuery): Promise<readonly MemoryEvent[]> {
  const { event, memory } = moment.place.database.tables;
  const { id } = moment.place;
  const where = (condition: Sql, limit = sql``) =>
    sql`SELECT ${EVENT_COLUMNS} FROM ${event} AS event WHERE space_id = ${id}::uuid AND ${condition} ORDER BY sequence ${limit}`;
  const found = (statement: Sql) => moment.rows(statement).then((rows) => rows.map(eventOf));
  if ('memory' in query) return found(where(sql`memory_id = ${wanted(query.memory)}`));
  if ('run' in query) return found(where(sql`run = ${wanted(query.run)}`));
  if ('after' in query)
    return found(where(sql`sequence > ${query.after}::bigint`, sql`LIMIT ${query.limit}::bigint`));
  if ('removed' in query) {
    return found(
      where(sql`sequence IN (
        SELECT max(sequence) FROM ${event} WHERE space_id = ${id}::uuid AND before IS NOT NULL AND memory_id NOT IN (
          SELECT memory.id FROM ${memory} AS memory WHERE memory.space_id = ${id}::uuid)
        GROUP BY memory_id)`),
    );
  }
  return found(where(sql`operation = ${query.operation}::bigint`));
}

/** Reads a row of the log. Throws `store_corrupt`. */
export function eventOf(found: Found): MemoryEvent {
  const row = found as unknown as EventRow;
  const { sequence } = row;
  return {
    sequence,
    operation: row.operation,
    at: row.at,
    verb: row.verb,
    memoryId: row.memory_id,
    before: row.before === null ? undefined : recordFromJson(row.before, sequence),
    redacted: row.redacted,
    undoes: row.undoes ?? undefined,
    link: row.link === null ? undefined : linkChangeFromJson(row.link, sequence),
    settings:
      row.settings === null ? undefined : settingsFromJson(row.settings, { table: 'event', row: sequence }),
    run: row.run ?? undefined,
  };
}

/** Returns the columns of an event. Throws `invalid_text`. */
export function toEventRow(event: MemoryEvent, memoryKey: number, stamp: string): Found {
  const { sequence, operation, at, verb, memoryId, before, redacted, undoes, link, run, settings } = event;
  const other = link?.link.ids[1];
  return {
    sequence,
    operation,
    stamp,
    at,
    verb,
    memory_key: memoryKey,
    memory_id: checkedText(memoryId, 'id'),
    before: before === undefined ? null : JSON.stringify(before),
    redacted,
    undoes: undoes ?? null,
    link: link === undefined ? null : JSON.stringify(link),
    other_id: other ?? null,
    run: run === undefined ? null : checkedText(run, 'run'),
    settings: settings === undefined ? null : settingsToJson(settings),
  };
}
