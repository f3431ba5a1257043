import { linkKey } from '../../store/links.ts';
import type { SearchableMemory, State } from '../../store/state.ts';
import { EVENT_COLUMNS, eventOf } from './events.ts';
import { stateOf } from './gather.ts';
import { LINK_COLUMNS, linkOf } from './links.ts';
import { embeddingOf, type SpacePlace, startMoment } from './moment.ts';
import { keptPairOf, PAIR_COLUMNS } from './pairs.ts';
import { fromRow, RECORD_COLUMNS, termsFromJson, vectorFromText } from './rows.ts';
import { SESSION_COLUMNS, sessionOf } from './sessions.ts';
import { sql } from './sql.ts';
import { USAGE_COLUMNS, usageOf } from './usage.ts';
import { VOTE_COLUMNS, voteOf } from './votes.ts';

/** Reads everything: see `SpaceCore.everything`. Runs one statement, so everything is of one moment. */
export async function readState(place: SpacePlace): Promise<State> {
  const { database, id } = place;
  const { memory, derived, event, link, usage, similar_pair, session, vote } = database.tables;
  const here = sql`space_id = ${id}::uuid`;
  const moment = startMoment(place);
  const [memories = [], events = [], links = [], usages = [], pairs = [], sessions = [], votes = []] =
    await moment.read(
      sql`SELECT ${RECORD_COLUMNS}, memory.compared, derived.terms AS terms, encode(derived.vector, 'base64') AS vector
        FROM ${memory} AS memory LEFT JOIN ${derived} AS derived
          ON derived.space_id = memory.space_id AND derived.generation = space.generation AND derived.key = memory.key
        WHERE memory.${here} ORDER BY memory.key`,
      sql`SELECT ${EVENT_COLUMNS} FROM ${event} WHERE ${here} ORDER BY sequence`,
      sql`SELECT ${LINK_COLUMNS} FROM ${link} AS link WHERE ${here}`,
      sql`SELECT ${USAGE_COLUMNS} FROM ${usage} WHERE ${here} ORDER BY sequence`,
      sql`SELECT ${PAIR_COLUMNS} FROM ${similar_pair} WHERE ${here} ORDER BY sequence`,
      sql`SELECT ${SESSION_COLUMNS} FROM ${session} WHERE ${here}`,
      sql`SELECT ${VOTE_COLUMNS} FROM ${vote} WHERE ${here} ORDER BY operation`,
    );
  const head = await moment.head();
  const dimensions = embeddingOf(head)?.dimensions;
  return {
    ...stateOf(head),
    memories: new Map(
      memories.map((row): [string, SearchableMemory] => {
        const key = Number(row['key']);
        const { terms, vector } = row;
        const record = fromRow(row);
        return [
          record.id,
          {
            memory: record,
            terms: typeof terms === 'string' ? termsFromJson(terms, key) : new Map(),
            vector: typeof vector === 'string' ? vectorFromText(vector, key, dimensions) : undefined,
          },
        ];
      }),
    ),
    compared: new Set(memories.filter((row) => row['compared']).map((row) => String(row['id']))),
    events: events.map(eventOf),
    links: new Map(links.map((row) => [linkKey(linkOf(row)), linkOf(row)])),
    usages: usages.map(usageOf),
    pairs: new Map(pairs.map((row) => [Number(row['sequence']), keptPairOf(row)])),
    sessions: new Map(sessions.map((row) => [String(row['id']), sessionOf(row)])),
    votes: votes.map(voteOf),
  };
}
