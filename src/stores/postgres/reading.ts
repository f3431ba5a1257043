import { isOvertaken } from '../../store/moment.ts';
import type { StoreReader, StoreSnapshot } from '../../store/store.ts';
import { READING, type Transaction, translated } from './connection.ts';
import { readEvents } from './events.ts';
import { type Following, followFrom, indexRows } from './feed.ts';
import { findMemories, memoriesAround } from './find.ts';
import { readLinks, readNeighbours } from './links.ts';
import { listMemories } from './list.ts';
import { embeddingOf, type Moment, type SpacePlace, settingsOf, startMoment } from './moment.ts';
import { readOperations } from './operations.ts';
import { readPairs, readUncompared } from './pairs.ts';
import { readPlace, readRecordings } from './recordings.ts';
import { readStanding, readStated } from './relations.ts';
import { fromRow, RECORD_COLUMNS } from './rows.ts';
import { readSession } from './sessions.ts';
import { sql, wantedTexts } from './sql.ts';
import { readTombstones } from './tombstones.ts';
import { readUsage } from './usage.ts';
import { readVotes } from './votes.ts';

/** Reads memories and logs at one moment. */
export function createReader(moment: Moment): StoreReader {
  return {
    async get(ids) {
      if (ids.length === 0) return [];
      const { database, id } = moment.place;
      const rows = await moment.rows(
        sql`SELECT ${RECORD_COLUMNS} FROM ${database.tables.memory} AS memory
          WHERE space_id = ${id}::uuid AND id IN ${wantedTexts(ids)}`,
      );
      const found = new Map(rows.map((row) => [row['id'], fromRow(row)]));
      return ids.map((each) => found.get(each));
    },
    storedLinks: (ids, { among = false } = {}) => readLinks(moment, ids, among),
    stated: (query) => readStated(moment, query),
    standing: (ids) => readStanding(moment, ids),
    neighbours: (ids) => readNeighbours(moment, ids),
    pairs: (query) => readPairs(moment, query),
    find: (by, values) => findMemories(moment, by, values),
    around: (memory, count) => memoriesAround(moment, memory, count),
    session: (id) => readSession(moment, id),
    votes: (id) => readVotes(moment, id),
    tombstones: (statements) => readTombstones(moment, statements),
    uncompared: (limit) => readUncompared(moment, limit),
    async state() {
      const head = await moment.head();
      return {
        settings: settingsOf(head),
        embedding: embeddingOf(head),
        analyzer: head.analyzer ?? undefined,
      };
    },
    events: (query) => readEvents(moment, query),
    list: (request) => listMemories(moment, request),
    operations: (request) => readOperations(moment, request),
    usage: (after = 0, limit) => readUsage(moment, after, limit),
    place: () => readPlace(moment),
    recordings: (request) => readRecordings(moment, request),
  };
}

/** Lets `work` read one moment with everything that an index follows. */
export async function readingSnapshot<Result>(
  place: SpacePlace,
  index: Following,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  try {
    return await readOnce(place, index, undefined, work);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  }
  // A transaction sees one state, however much is written meanwhile.
  return translated(place.database, () =>
    place.database.transaction(READING, (transaction) => readOnce(place, index, transaction, work)),
  );
}

async function readOnce<Result>(
  place: SpacePlace,
  index: Following,
  transaction: Transaction | undefined,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  const following = followFrom(place, index);
  const moment = startMoment(place, { company: following.company, transaction });
  try {
    return await work({
      ...createReader(moment),
      ...indexRows(moment, index, following, transaction !== undefined),
      sequence: async () => (await moment.head()).sequence,
    });
  } finally {
    moment.end();
  }
}
