import { inSlices, pauseIfDue, startLongSlices } from '../../domain/slices.ts';
import { formatInstant } from '../../domain/time.ts';
import { createResidence, type NewMemory, newMemory, type Residence } from '../../search/residence.ts';
import { signalOfCaller, unlessAborted } from '../../store/cancelling.ts';
import { closedError, openedReadOnly } from '../../store/faults.ts';
import { createQueue, type Queue } from '../../store/queue.ts';
import type { Room } from '../../store/room.ts';
import type { IndexedRow } from '../../store/rows.ts';
import type { SpaceCore, SpaceStore } from '../../store/store.ts';
import { withRanking } from '../../store/with-ranking.ts';
import { type ReadAside, readAside, rewriteAside } from './aside.ts';
import { backupTo } from './backup.ts';
import { findDamage } from './check.ts';
import { type Connection, longReadTransaction, writeTransaction } from './connection.ts';
import { lastSequence } from './events.ts';
import { translateError } from './faults.ts';
import { positionAt } from './feed.ts';
import { bytesOf } from './files.ts';
import { eraseForgotten, finishForgetting } from './forget.ts';
import { spaceInfo } from './info.ts';
import type { Log } from './log.ts';
import { readVersionedState, type VersionedState, writeMeta } from './meta.ts';
import { savePages } from './pages.ts';
import { readingState } from './past.ts';
import { reading, readingSnapshot } from './reading.ts';
import { applyRecording } from './recordings.ts';
import { type ReindexContext, reindexSpace } from './reindex.ts';
import { createTermIds, type TermIds } from './terms.ts';
import { applyUse } from './usage.ts';
import { applyDecision, type Inserted } from './write.ts';

/** An open database with one space in it: a connection that writes, and one that reads what is committed, or one for both. */
export interface OpenDatabase {
  readonly name: string;
  /** For messages. */
  readonly path: string;
  /** Absent where it may only be read. */
  readonly writer: Connection | undefined;
  readonly reader: Connection;
  /** Opens another one that reads; absent in memory. */
  readonly openReader?: (() => Promise<Connection>) | undefined;
  /** Writes take turns, and so do reads. Of one connection it is the same queue: no read sees half of a write. */
  readonly writes: Queue;
  readonly reads: Queue;
  /** Of all handles of the database. */
  readonly residence: Residence;
  readonly room?: Room | undefined;
  /** Of the writer; absent in memory. */
  readonly log?: Log | undefined;
  /** Whether an index is saved for the next process. */
  readonly keepsPages: boolean;
  readonly busyTimeout: number;
  /** Throws when what is about to be committed would be found by nobody. */
  checkPresence(): void;
  /** Called once, when nothing is under way any more. */
  release(): Promise<void>;
}

/** Of a smaller file, in bytes, everything is read sooner than a thread has started. */
const LITTLE = 8 << 20;

/** One handle of a database. */
export function openSpace(database: OpenDatabase): SpaceStore {
  const { name, path, writer, reader, writes, reads, residence, busyTimeout, log } = database;
  const termIds = writer && createTermIds(writer);
  /** Checks, backups and erasures. */
  const long = createQueue();
  const counts = createQueue();
  let closed = false;
  let knownVersion: number | undefined;

  const checkOpen = () => {
    if (closed) throw closedError(`space ${JSON.stringify(name)}`);
  };
  const checkWritable = () => {
    checkOpen();
    if (!writer) throw openedReadOnly(name);
  };
  /** Must run in the queue of writes. */
  const transaction = async <Result>(
    task: (writer: Connection, termIds: TermIds) => Promise<Result> | Result,
  ): Promise<Result> => {
    if (!writer || !termIds) throw openedReadOnly(name);
    try {
      return await writeTransaction(writer, busyTimeout, async () => {
        // A large write goes into the log before it is committed.
        database.checkPresence();
        // Another handle or connection may have removed terms that are remembered here.
        const version = writer.version();
        if (version !== knownVersion) termIds.clear();
        const result = await task(writer, termIds);
        database.checkPresence();
        knownVersion = writer.version();
        return result;
      });
    } catch (error) {
      termIds.clear();
      throw error;
    }
  };
  /** One that may write any number of pages: its COMMIT leaves them in the log. */
  const large: typeof transaction = (task) =>
    log ? log.leaving(() => transaction(task)) : transaction(task);
  const guarded = async <Result>(task: () => Result): Promise<Awaited<Result>> => {
    try {
      return await task();
    } catch (error) {
      throw translateError(error, path);
    }
  };
  /** Writes that were asked for and are not done. */
  let underWay = 0;
  /** A write in its turn. It is done once a power cut cannot take it back; until then others may read and write. */
  const writing = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    checkWritable();
    return inTurn(task);
  };
  /** One that empties the log, and is seen whole by checks: while anything reads for long, the log is in use. */
  const erasing = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    checkWritable();
    return long.run(() => inTurn(task));
  };
  const inTurn = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    underWay++;
    try {
      const result = await writes.run(() => guarded(task));
      await settled();
      return result;
    } finally {
      underWay--;
    }
  };
  const settled = async () => {
    if (!log) return;
    await log.settle(underWay <= 1);
    // Nobody waits for it, and what could not be done now is done later. Closing empties it anyway.
    if (!closed && log.isLong()) void writes.run(() => log.empty()).catch(() => undefined);
  };
  /** Reads one after the other: one that waits for its connection is one transaction all the same. */
  const queued = <Result>(task: (connection: Connection) => Promise<Result> | Result) =>
    guarded(() => {
      checkOpen();
      return reads.run(async () => {
        const pause = pauseIfDue();
        if (pause) await pause;
        return task(reader);
      });
    });
  let state: VersionedState | undefined;
  /** It is asked for in every recall, and hardly ever changes. */
  const stateOf = (connection: Connection) => {
    state = readVersionedState(connection, state);
    return state;
  };
  const read = <Result>(task: (connection: Connection) => Promise<Result> | Result) =>
    queued((connection) => longReadTransaction(connection, () => task(connection)));
  /**
   * What takes long has a connection of its own, so that recalls go on beside it: not of a small file, where opening one takes longer
   * than the rest, and neither in memory nor of a file that was moved, where there is but one.
   */
  const apart = <Result>(
    queue: Queue,
    task: (connection: Connection, aside?: ReadAside) => Promise<Result>,
  ) =>
    guarded(() => {
      checkOpen();
      return queue.run(async () => {
        const own = await another();
        if (!own) return queued((connection) => task(connection));
        try {
          return await task(own, readAside);
        } finally {
          own.close();
        }
      });
    });
  const another = async () => (isWorthAnother() ? database.openReader?.().catch(() => undefined) : undefined);
  /** Whether another connection pays, and finds the file that this one has. */
  const isWorthAnother = () => {
    if (!database.openReader || bytesOf(path) < LITTLE) return false;
    try {
      database.checkPresence();
      return true;
    } catch {
      return false;
    }
  };
  const readApart: typeof apart = (queue, task) =>
    apart(queue, (connection, aside) => longReadTransaction(connection, () => task(connection, aside)));

  /** Must run in the queue of writes. */
  const erase = () =>
    eraseForgotten(writer as Connection, busyTimeout, isWorthAnother() ? rewriteAside : undefined);

  const core: SpaceCore = {
    name,
    erases: 'bytes',
    everything: () => {
      const signal = signalOfCaller();
      return readApart(long, (connection) =>
        inSlices(unlessAborted(readingState(connection), signal), startLongSlices()),
      );
    },
    write: (entry, decide) =>
      (entry.verb === 'forget' ? erasing : writing)(async () => {
        let forgets = false;
        const added: NewMemory[] = [];
        const decideAndApply = async (writer: Connection, termIds: TermIds) => {
          const decision = await reading(writer, decide);
          const keep = (inserted: Inserted, sequence: number) =>
            void added.push(newMemory(indexedRow(inserted, termIds), sequence));
          await inSlices(
            applyDecision(writer, termIds, entry, decision, residence.wantsWritten() ? keep : undefined),
            startLongSlices(),
          );
          forgets = decision.changes.some((change) => change.kind === 'redact');
          if (forgets) await inSlices(finishForgetting(writer, termIds), startLongSlices());
          return decision.result;
        };
        // What follows empties the log.
        const result = await (entry.verb === 'forget' ? large : transaction)(decideAndApply);
        residence.written(added);
        // Also what was forgotten earlier and could not be erased then: afterwards, since its failure says that all is forgotten.
        if (forgets || entry.verb === 'forget') await erase();
        return result;
      }),
    use: (usage, decide) =>
      writing(() => transaction(async (writer) => applyUse(writer, usage, await reading(writer, decide)))),
    async record(recording, keep) {
      const { sequence, erases } = await writing(() =>
        transaction((writer) => applyRecording(writer, recording, keep)),
      );
      if (erases) await erasing(erase);
      return sequence;
    },
    snapshot: (work) => read((connection) => readingSnapshot(connection, stateOf, work)),
    info: () => readApart(counts, (connection) => inSlices(spaceInfo(connection, name), startLongSlices())),
    check: () => readApart(long, findDamage),
    async reindex(request) {
      checkWritable();
      const exclusive: ReindexContext['transaction'] = async (task) => {
        checkWritable();
        return writes.run(() =>
          large((writer, termIds) => inSlices(task(writer, termIds), startLongSlices())),
        );
      };
      await guarded(() => reindexSpace({ name, read: queued, transaction: exclusive }, request));
      await settled();
    },
    async backup(target, at) {
      const signal = signalOfCaller();
      await apart(long, (connection, aside) => backupTo(connection, target, aside, signal));
      if (!writer || at === undefined) return;
      // The backup is whole: that its moment cannot be noted is no failure of it.
      await writing(() => transaction((writer) => writeMeta(writer, 'backup', formatInstant(at)))).catch(
        () => undefined,
      );
    },
    async close() {
      closed = true;
      // Of these, some are writes and reads in their turns.
      await long.idle();
      await counts.idle();
      await writes.idle();
      await reads.idle();
      await log?.close();
      await database.release();
    },
  };
  if (writer && database.keepsPages) core.savePages = savingPages(database, writer, writes);
  return withRanking(core, createResidence, residence, database.room);
}

/** A new memory as it would be read. */
function indexedRow({ row, ordinal, memory, indexed }: Inserted, termIds: TermIds): IndexedRow {
  const terms = [...indexed.terms].map(([term, count]) => [termIds.idOf(term), count] as const);
  terms.sort(([a], [b]) => a - b);
  return {
    key: row,
    memory: { ...memory, ordinal },
    termIds: terms.map(([id]) => id),
    termCounts: terms.map(([, count]) => count),
    vector: indexed.vector,
  };
}

/** See `SpaceCore.savePages`. A writer that holds the file up is not waited for. */
function savingPages(
  { checkPresence }: Pick<OpenDatabase, 'checkPresence'>,
  writer: Connection,
  writes: Queue,
): NonNullable<SpaceCore['savePages']> {
  return (parts, position) =>
    writes.run(() =>
      writeTransaction(writer, 0, async () => {
        checkPresence();
        const now = positionAt(writer, lastSequence(writer), position.usage);
        if (now.stamp === position.stamp && now.sequence === position.sequence) {
          await inSlices(savePages(writer, parts, position), startLongSlices());
        }
      }),
    );
}
