import { columnOf, DYNAMICS, type DynamicField, FIELDS } from '../../domain/fields.ts';
import type { Instant } from '../../domain/time.ts';
import { isStorable } from '../../domain/wellformed.ts';
import type { Dynamics, NewUsage, UseDecision } from '../../store/store.ts';
import { dynamicsOf } from '../../store/using.ts';
import { newStamp, patienceOf, settling } from './commit.ts';
import type { Gathered } from './gather.ts';
import type { SpacePlace } from './moment.ts';
import { checkedText } from './rows.ts';
import { noted } from './shared.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

/** What a use adds to a memory, whatever values the memory has when the use is written. */
interface Addition {
  readonly uses: number;
  /** The earliest values that `lastAccessedAt` and `seen` may have afterwards. */
  readonly accessed: Instant | undefined;
  readonly seen: Instant | undefined;
}

/** Returns what a use adds to each memory, by id. Returns `undefined` if the new values depend on the previous ones in other ways. */
export function additionsOf(
  { state }: Gathered,
  { used, effect }: NewUsage,
  { memories, links }: UseDecision,
): ReadonlyMap<string, Addition> | undefined {
  // Reinforcement depends on when the memory was used before.
  if (effect === 'reinforce' || links.length > 0) return undefined;
  const ids = new Set(used.map(({ id }) => id));
  if (ids.size < used.length || new Set(memories.map(({ id }) => id)).size < memories.length)
    return undefined;
  const additions = new Map<string, Addition>();
  for (const decided of memories) {
    const present = state.memories.get(decided.id)?.memory;
    if (!ids.has(decided.id) || (present && !isAdded(present, decided))) return undefined;
    if (!present) continue;
    const { accessCount, lastAccessedAt, seen } = decided;
    additions.set(decided.id, { uses: accessCount - present.accessCount, accessed: lastAccessedAt, seen });
  }
  return additions;
}

const ADDED: ReadonlySet<DynamicField> = new Set(['accessCount', 'lastAccessedAt', 'seen']);

/** Whether only the fields in `ADDED` differ, and `lastAccessedAt` and `seen` are not earlier than before. */
function isAdded(before: Dynamics, after: Dynamics): boolean {
  const others = (dynamics: Dynamics) =>
    JSON.stringify(DYNAMICS.filter((name) => !ADDED.has(name)).map((name) => dynamics[name] ?? null));
  const isLater = (name: 'lastAccessedAt' | 'seen') =>
    (after[name] ?? Number.NEGATIVE_INFINITY) >= (before[name] ?? Number.NEGATIVE_INFINITY);
  return (
    others(dynamicsOf(before)) === others(dynamicsOf(after)) && isLater('lastAccessedAt') && isLater('seen')
  );
}

/** Arguments of `json_build_object` that give the dynamics of a row in the format of the usage log. */
const DYNAMICS_AS_JSON = raw(
  DYNAMICS.map((name) => {
    const column = `before.${columnOf(name)}`;
    return `'${name}', ${FIELDS[name].kind === 'names' ? `${column}::json` : column}`;
  }).join(', '),
);

/**
 * Adds a use to the current values of the memories, and logs it. This is one statement that verifies nothing, so no other use can
 * overtake it. Returns the sequence of its row in the log, or `undefined` if another writer has the turn.
 */
export async function addUse(
  place: SpacePlace,
  usage: NewUsage,
  additions: ReadonlyMap<string, Addition>,
  { after, turn = '' }: { readonly after: number; readonly turn?: string | undefined },
): Promise<number | undefined> {
  const { database, id } = place;
  const stamp = newStamp();
  const sequenceOf = async (statement: Sql) => {
    const [row] = await database.run(statement);
    return row && Number(row[0]);
  };
  return settling(
    place,
    () => sequenceOf(statementFor(place, usage, additions, stamp, turn)),
    () =>
      sequenceOf(
        sql`SELECT sequence::text FROM ${database.tables.usage}
          WHERE space_id = ${id}::uuid AND sequence > ${after}::bigint AND stamp = ${stamp}::text`,
      ),
  );
}

function statementFor(
  { database, id }: SpacePlace,
  { at, strategy, effect, queryHash, sessionId, used }: NewUsage,
  additions: ReadonlyMap<string, Addition>,
  stamp: string,
  turn: string,
): Sql {
  const { space, memory, usage } = database.tables;
  const asked = JSON.stringify(
    used
      .filter(({ id }) => isStorable(id))
      .map(({ id, direct }, position) => ({ position, id, direct, ...additions.get(id) })),
  );
  const session = sessionId === undefined ? null : checkedText(sessionId, 'sessionId');
  const steps = [
    patienceOf(database),
    sql`moved AS (UPDATE ${space} AS space SET turn = NULL, stamp = ${stamp}::text, usage_stamp = ${stamp}::text,
        usage = space.usage + 1, used_at = greatest(space.used_at, ${at}::bigint) FROM patience
      WHERE space.space_id = ${id}::uuid AND NOT space.copying AND patience.milliseconds IS NOT NULL
        AND (space.turn IS NULL OR space.turn = ${turn}::text OR space.turn_until < clock_timestamp())
      RETURNING space.space_id, space.usage, space.used_at, space.sequence)`,
    // FOR UPDATE reads rows as the last use left them. That use may have committed while this one waited for the space's row.
    sql`before AS MATERIALIZED (SELECT memory.*, asked.position, asked.direct, asked.uses, asked.accessed, asked.at_least
      FROM moved JOIN ${memory} AS memory ON memory.space_id = moved.space_id
      JOIN (SELECT position, id COLLATE "C" AS id, direct, uses, accessed, seen AS at_least FROM json_to_recordset(${asked}::json)
        AS each(position bigint, id text, direct boolean, uses bigint, accessed bigint, seen bigint)) AS asked ON asked.id = memory.id
      FOR UPDATE OF memory)`,
    sql`added AS (UPDATE ${memory} AS memory SET access_count = memory.access_count + before.uses,
        last_accessed_at = greatest(memory.last_accessed_at, before.accessed), seen = greatest(memory.seen, before.at_least)
      FROM before WHERE memory.space_id = before.space_id AND memory.key = before.key AND before.uses IS NOT NULL)`,
    sql`logged AS (INSERT INTO ${usage} AS t (space_id, sequence, stamp, at, strategy, effect, query_hash, session_id, used, after_event, before)
      SELECT moved.space_id, moved.usage, ${stamp}::text, moved.used_at, ${checkedText(strategy, 'strategy')}::text, ${effect}::text,
        ${checkedText(queryHash, 'queryHash')}::text, ${session}::text,
        (SELECT coalesce(json_agg(json_build_object('id', id, 'direct', direct) ORDER BY position), '[]')::text FROM before),
        moved.sequence,
        json_build_object('memories', (SELECT coalesce(json_agg(json_strip_nulls(json_build_object('id', id, ${DYNAMICS_AS_JSON}))
          ORDER BY position), '[]') FROM before WHERE uses IS NOT NULL), 'links', json_build_array())::text
      FROM moved)`,
    ...noted(database),
  ];
  return sql`WITH ${joined(steps, ', ')} SELECT usage::text FROM moved`;
}
