import { closedError, openedReadOnly } from '../faults.ts';
import { createQueue } from '../queue.ts';
import type { SpaceStore } from '../store.ts';
import { backupTo } from './backup.ts';
import { findDamage } from './check.ts';
import { type Connection, longReadTransaction, writeTransaction } from './connection.ts';
import { createReader } from './events.ts';
import { translateError, translateFileError } from './faults.ts';
import { eraseForgotten, finishForgetting } from './forget.ts';
import { spaceInfo } from './info.ts';
import { listMemories } from './list.ts';
import { readDerivation } from './meta.ts';
import { type FileSettings, openReader, openWriter, removeEmptyLog } from './opening.ts';
import { openPastOf } from './past.ts';
import { checkFiles, watchPresence } from './presence.ts';
import { reading, readingSnapshot } from './reading.ts';
import { type ReindexContext, reindexSpace } from './reindex.ts';
import { createResident } from './resident.ts';
import { saveSnapshot } from './snapshot.ts';
import { createTermIds, type TermIds } from './terms.ts';
import { applyUse, readUsage } from './usage.ts';
import { applyDecision } from './write.ts';

export interface SpaceFile extends FileSettings {
  readonly name: string;
  readonly path: string;
  readonly readOnly: boolean;
  /** Called with every connection once it is open. */
  readonly onConnect?: ((connection: Connection) => void) | undefined;
  readonly onClose?: (() => void) | undefined;
}

/** Opens one space: a connection that writes, one write at a time, and one that reads what is committed. */
export async function openSpaceFile(file: SpaceFile): Promise<SpaceStore> {
  const { name, path, busyTimeout } = file;
  await checkFiles(path).catch((error: unknown) => {
    throw translateFileError(error, path);
  });
  const writer = file.readOnly ? undefined : await openWriter(path, name, file);
  const reader = await openReader(path, name, file).catch((error: unknown) => {
    writer?.close();
    throw error;
  });
  if (writer) file.onConnect?.(writer);
  file.onConnect?.(reader);
  const checkPresence = watchPresence(path);
  const termIds = writer && createTermIds(writer);
  const resident = createResident();
  const queue = createQueue();
  const reads = createQueue();
  let closed = false;
  let knownVersion: number | undefined;

  const readConnection = () => {
    if (closed) throw closedError(`space ${JSON.stringify(name)}`);
    return reader;
  };
  const checkWritable = () => {
    readConnection();
    if (!writer) throw openedReadOnly(name);
  };
  /** Must run in the queue. */
  const transaction = async <Result>(
    task: (writer: Connection, termIds: TermIds) => Promise<Result> | Result,
  ): Promise<Result> => {
    if (!writer || !termIds) throw openedReadOnly(name);
    try {
      return await writeTransaction(writer, busyTimeout, async () => {
        // Another connection may have removed terms that are remembered here.
        const version = dataVersion(writer);
        if (version !== knownVersion) termIds.clear();
        knownVersion = version;
        const result = await task(writer, termIds);
        checkPresence();
        return result;
      });
    } catch (error) {
      termIds.clear();
      throw error;
    }
  };
  const guarded = async <Result>(task: () => Result): Promise<Awaited<Result>> => {
    try {
      return await task();
    } catch (error) {
      throw translateError(error, path);
    }
  };
  /** Reads one after the other: one that waits for its connection is one transaction all the same. */
  const queued = <Result>(task: (connection: Connection) => Promise<Result> | Result) =>
    guarded(() => {
      const connection = readConnection();
      return reads.run(async () => task(connection));
    });
  const read = <Result>(task: (connection: Connection) => Promise<Result> | Result) =>
    queued((connection) => longReadTransaction(connection, () => task(connection)));
  const committed = createReader(() => reader);

  const ended = async () => {
    await queue.idle();
    await reads.idle();
  };
  const close = async () => {
    if (closed) return ended();
    closed = true;
    file.onClose?.();
    await ended();
    if (writer) await saveSnapshot(writer, reader, resident);
    reader.close();
    if (!writer) return removeEmptyLog(path);
    // Where it is the last connection to the file, this puts the log into it and takes the log away.
    writer.close();
  };

  return {
    name,
    erases: 'bytes',
    get: (ids) => queued(() => committed.get(ids)),
    linksAmong: (ids) => queued(() => committed.linksAmong(ids)),
    links: (ids, minimum) => queued(() => committed.links(ids, minimum)),
    pendingPairs: (limit) => queued(() => committed.pendingPairs(limit)),
    knownPairs: (ids) => queued(() => committed.knownPairs(ids)),
    uncompared: (limit) => queued(() => committed.uncompared(limit)),
    pair: (sequence) => queued(() => committed.pair(sequence)),
    find: (by, values) => queued(() => committed.find(by, values)),
    around: (memory, count) => queued(() => committed.around(memory, count)),
    session: (id) => queued(() => committed.session(id)),
    votes: (id) => queued(() => committed.votes(id)),
    tombstones: (statements) => queued(() => committed.tombstones(statements)),
    asKnown: (known, derive) => openPastOf(name, read, known, derive),
    removed: () => queued(() => committed.removed()),
    settings: () => queued(() => committed.settings()),
    run: (id) => queued(() => committed.run(id)),
    history: (id) => queued(() => committed.history(id)),
    operation: (sequence) => queued(() => committed.operation(sequence)),
    async write(entry, decide) {
      checkWritable();
      return queue.run(() =>
        guarded(async () => {
          // Of what was forgotten earlier and could not be erased then.
          if (entry.verb === 'forget') await eraseForgotten(writer as Connection, busyTimeout);
          let forgets = false;
          const result = await transaction(async (writer, termIds) => {
            const decision = await reading(writer, decide);
            applyDecision(writer, termIds, entry, decision);
            forgets = decision.changes.some((change) => change.kind === 'redact');
            if (forgets) finishForgetting(writer, termIds);
            return decision.result;
          });
          if (forgets) await eraseForgotten(writer as Connection, busyTimeout);
          return result;
        }),
      );
    },
    async use(usage, decide) {
      checkWritable();
      return queue.run(() =>
        guarded(() => transaction(async (writer) => applyUse(writer, usage, await reading(writer, decide)))),
      );
    },
    usage: (after = 0) => read((connection) => readUsage(connection, after)),
    snapshot: (work) => read((connection) => readingSnapshot(connection, resident, work)),
    list: (request) => read((connection) => listMemories(connection, request)),
    info: () => read((connection) => spaceInfo(connection, name)),
    check: () => read(findDamage),
    derivation: () => read(readDerivation),
    async reindex(request) {
      checkWritable();
      const exclusive: ReindexContext['transaction'] = async (task) => {
        checkWritable();
        return queue.run(() => transaction(task));
      };
      await guarded(() => reindexSpace({ name, reader: readConnection, transaction: exclusive }, request));
    },
    residentBytes: resident.bytes,
    backup: (path) => guarded(() => backupTo(readConnection(), path)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function dataVersion(connection: Connection): number {
  return (connection.get('PRAGMA space.data_version') as { data_version: number }).data_version;
}
