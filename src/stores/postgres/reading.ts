import { isOvertaken, overtaken } from '../../store/moment.ts';
import type { WaitingApart } from '../../store/rows.ts';
import type { StoreReader, StoreSnapshot } from '../../store/store.ts';
import { READING, type Transaction, translated } from './connection.ts';
import { readEvents } from './events.ts';
import { type Following, followFrom, indexRows } from './feed.ts';
import { findMemories, memoriesAround } from './find.ts';
import { isFresh } from './known.ts';
import { readLinks, readNeighbours } from './links.ts';
import { listMemories } from './list.ts';
import { embeddingOf, type Moment, type SpacePlace, settingsOf, startMoment } from './moment.ts';
import { readOperations } from './operations.ts';
import { readPairs, readUncompared } from './pairs.ts';
import { readPlace, readRecordings } from './recordings.ts';
import { readStanding, readStated } from './relations.ts';
import { fromRow, memoriesWhere } from './rows.ts';
import { readSession } from './sessions.ts';
import { isAnyText, sql } from './sql.ts';
import { readTombstones } from './tombstones.ts';
import { readUsage } from './usage.ts';
import { readVotes } from './votes.ts';

/** Creates a reader of memories and logs at one moment. */
export function createReader(moment: Moment): StoreReader {
  return {
    async get(ids) {
      const { rows } = moment.known;
      const missing = ids.filter((each) => !rows.has(each));
      if (missing.length > 0) {
        const found = await moment.rows(memoriesWhere(moment.place, sql`memory.id ${isAnyText(missing)}`));
        for (const row of found) rows.set(String(row['id']), row);
      }
      return ids.map((each) => {
        const row = rows.get(each);
        return row && fromRow(row);
      });
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

/** After a snapshot was overtaken by a write, this many snapshots do not start from an earlier read, because others are writing. */
const SNAPSHOTS_APART = 16;

/**
 * Runs `work` on a snapshot of one moment, with the rows that the index follows. Starts over if a write overtakes it, finally in a
 * transaction.
 */
export async function readingSnapshot<Result>(
  place: SpacePlace,
  index: Following,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  const begun = index.overtaken === 0 && isFresh(index.begun) ? index.begun : undefined;
  index.begun = undefined;
  if (index.overtaken > 0) index.overtaken--;
  const waits = startWaits(place.name);
  try {
    for (const from of begun ? [begun, undefined] : [undefined]) {
      try {
        return await readOnce(place, index, undefined, waits.apart(false), work, from);
      } catch (error) {
        if (!isOvertaken(error)) throw error;
        index.overtaken = SNAPSHOTS_APART;
      }
    }
    for (;;) {
      const result = await waits.orAnew(() => readInTransaction(place, index, waits, work));
      if (result) return result.value;
    }
  } finally {
    waits.end();
  }
}

/** Reads in a transaction, which sees one state even if others write meanwhile. */
function readInTransaction<Result>(
  place: SpacePlace,
  index: Following,
  waits: Waits,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
): Promise<Result> {
  return translated(place.database, () =>
    place.database.transaction(READING, (transaction) => {
      // All statements use this one connection. If each transaction took a second one, the pool could deadlock.
      const { run, readBytes } = transaction ?? place.database;
      const within = { ...place, database: { ...place.database, run, readBytes } };
      return readOnce(within, index, transaction, waits.apart(transaction !== undefined), work);
    }),
  );
}

/**
 * How a snapshot waits for the turn of an index. The reader that has the turn needs a connection to go on. If readers that wait held
 * all connections, none could ever finish. So a transaction ends before it waits, and a new one begins afterwards.
 */
interface Waits {
  /** `holds`: whether the attempt holds a connection, and so must end before it waits. */
  apart(holds: boolean): WaitingApart;
  /** Returns the result of an attempt. If the attempt must wait, waits after its end and returns `undefined`. */
  orAnew<Result>(attempt: () => Promise<Result>): Promise<{ readonly value: Result } | undefined>;
  /** Ends the turn, if this snapshot has it. */
  end(): void;
}

function startWaits(space: string): Waits {
  // Kept between attempts: an earlier attempt may have queued for the turn, and the next must not queue behind it.
  let turn: Promise<() => void> | undefined;
  let hasTurn = false;
  const wanted: (() => Promise<void>)[] = [];
  return {
    apart(holds) {
      const wait: WaitingApart['wait'] = async (wait) => {
        if (!holds) return wait();
        wanted.push(wait);
        throw overtaken(space);
      };
      return {
        async turn(now, later) {
          const free = turn ? undefined : now();
          if (free) turn = Promise.resolve(free);
          hasTurn ||= free !== undefined;
          if (hasTurn) return;
          await wait(async () => {
            turn ??= later();
            await turn;
            hasTurn = true;
          });
        },
        wait,
      };
    },
    async orAnew(attempt) {
      try {
        const value = await attempt();
        if (wanted.length === 0) return { value };
      } catch (error) {
        if (wanted.length === 0 || !isOvertaken(error)) throw error;
      }
      for (const wait of wanted.splice(0)) await wait();
      return undefined;
    },
    end() {
      turn?.then((free) => free()).catch(() => undefined);
    },
  };
}

async function readOnce<Result>(
  place: SpacePlace,
  index: Following,
  transaction: Transaction | undefined,
  apart: WaitingApart,
  work: (snapshot: StoreSnapshot) => Promise<Result>,
  begun?: Following['begun'],
): Promise<Result> {
  const following = begun?.along ?? followFrom(place, index);
  const moment = startMoment(place, {
    company: following.company,
    transaction,
    begun,
    earlier: index.last,
  });
  try {
    const result = await work({
      ...createReader(moment),
      ...indexRows(moment, index, following, transaction !== undefined, apart),
      sequence: async () => (await moment.head()).sequence,
    });
    await moment.verify();
    const head = moment.seen;
    const at = performance.now();
    if (head && moment.hasRows) index.last = { head, at, known: moment.known };
    // If the index has advanced meanwhile, the next snapshot starts from the index instead.
    else if (head && following.after === index.position) index.begun = { head, at, along: following };
    if (index.usesAhead > 0) index.usesAhead--;
    if (index.rowsAhead > 0) index.rowsAhead--;
    return result;
  } catch (error) {
    // The error may come from a state that is outdated. Then `verify` throws that it was overtaken instead.
    if (!isOvertaken(error)) await moment.verify();
    throw error;
  } finally {
    moment.end();
  }
}
