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

/** An open database with one space. It has one connection for writes and one for committed reads, or one for both. */
export interface OpenDatabase {
  readonly name: string;
  /** For messages. */
  readonly path: string;
  /** Absent if the space is read-only. */
  readonly writer: Connection | undefined;
  readonly reader: Connection;
  /** Opens another connection for reading; absent for a space in memory. */
  readonly openReader?: (() => Promise<Connection>) | undefined;
  /** Queues of writes and of reads. With one connection they are the same queue, so that no read sees half of a write. */
  readonly writes: Queue;
  readonly reads: Queue;
  /** Shared by all handles of the database. */
  readonly residence: Residence;
  readonly room?: Room | undefined;
  /** The log of the writer; absent for a space in memory. */
  readonly log?: Log | undefined;
  /** Whether an index is saved for the next process. */
  readonly keepsPages: boolean;
  readonly busyTimeout: number;
  /** Throws `store_replaced` if the file was deleted, moved or replaced, so that a commit would be lost. */
  checkPresence(): void;
  /** Called once, after all operations have ended. */
  release(): Promise<void>;
}

/** Bytes. A smaller file is read completely before a thread would have started. */
export const LITTLE = 8 << 20;

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
        // Before the write too: a large write reaches the log before its commit.
        database.checkPresence();
        // Another handle or connection may have removed terms that are cached here.
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
  /** A transaction that may write any number of pages. Its COMMIT leaves them in the log. */
  const large: typeof transaction = (task) =>
    log ? log.leaving(() => transaction(task)) : transaction(task);
  const guarded = async <Result>(task: () => Result): Promise<Awaited<Result>> => {
    try {
      return await task();
    } catch (error) {
      throw translateError(error, path);
    }
  };
  /** The number of writes that have not ended. */
  let underWay = 0;
  /** Runs a write in its turn. Resolves when the write survives a power cut; others may read and write until then. */
  const writing = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    checkWritable();
    return inTurn(task);
  };
  /** Runs a write that empties the log, and waits for long reads first: they would keep the log in use. */
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
    // Not awaited. A later call tries again after a failure, and closing empties the log anyway.
    if (!closed && log.isLong()) void writes.run(() => log.empty()).catch(() => undefined);
  };
  /** Runs reads one after the other, so that a read that awaits its connection is still one transaction. */
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
  /** Cached by version: every recall reads it, and it hardly ever changes. */
  const stateOf = (connection: Connection) => {
    state = readVersionedState(connection, state);
    return state;
  };
  const read = <Result>(task: (connection: Connection) => Promise<Result> | Result) =>
    queued((connection) => longReadTransaction(connection, () => task(connection)));
  /**
   * Runs a long read on a connection of its own, so that recalls can run meanwhile. Uses the shared connection for a small
   * file, where opening one takes longer than the read, and for a space in memory or a file that was moved, where there can
   * be only one connection.
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
  /** Whether another connection is worth its cost, and would open the same file. */
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
        // The erasure that follows empties the log.
        const result = await (entry.verb === 'forget' ? large : transaction)(decideAndApply);
        residence.written(added);
        // Also erases what could not be erased earlier. Comes after the write, because its error says that all is forgotten.
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
      // The backup is complete, so a failure to store its time is ignored.
      await writing(() => transaction((writer) => writeMeta(writer, 'backup', formatInstant(at)))).catch(
        () => undefined,
      );
    },
    async close() {
      closed = true;
      // First, because some of these use the queues of writes and reads.
      await long.idle();
      await counts.idle();
      await writes.idle();
      await reads.idle();
      await log?.close();
      await guarded(() => database.release());
    },
  };
  if (writer && database.keepsPages) core.savePages = savingPages(database, writer, writes);
  return withRanking(core, createResidence, residence, database.room);
}

/** Converts a new memory to the row that an index would read. */
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

/** See `SpaceCore.savePages`. Does not wait for another writer that locks the file. */
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
