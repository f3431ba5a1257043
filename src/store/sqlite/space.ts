import { closedError, openedReadOnly } from '../faults.ts';
import { createQueue } from '../queue.ts';
import type { SpaceReader, SpaceStore } from '../store.ts';
import { backupTo } from './backup.ts';
import { findDamage } from './check.ts';
import { type Connection, readTransaction, writeTransaction } from './connection.ts';
import { createReader } from './events.ts';
import { translateError, translateFileError } from './faults.ts';
import { eraseForgotten, finishForgetting } from './forget.ts';
import { spaceInfo } from './info.ts';
import { inspectResident } from './inspect.ts';
import { listMemories } from './list.ts';
import { readDerivation } from './meta.ts';
import { type FileSettings, openReader, openWriter, removeEmptyLog } from './opening.ts';
import { openPastOf } from './past.ts';
import { checkFiles, watchPresence } from './presence.ts';
import { type ReindexContext, reindexSpace } from './reindex.ts';
import { createResident } from './resident.ts';
import { readVectors, searchResident } from './search.ts';
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
  const read = <Result>(task: (connection: Connection) => Result) =>
    guarded(() => {
      const connection = readConnection();
      return readTransaction(connection, () => task(connection));
    });
  const committed = createReader(readConnection);

  const close = async () => {
    if (closed) return queue.idle();
    closed = true;
    file.onClose?.();
    await queue.idle();
    if (writer) await saveSnapshot(writer, reader, resident);
    reader.close();
    if (!writer) return removeEmptyLog(path);
    // Where it is the last connection to the file, this puts the log into it and takes the log away.
    writer.close();
  };

  return {
    name,
    erases: 'bytes',
    get: (ids) => guarded(() => committed.get(ids)),
    linksAmong: (ids) => guarded(() => committed.linksAmong(ids)),
    links: (ids, minimum = 0) => read((connection) => resident.links(connection, ids, minimum)),
    pendingPairs: (limit) => guarded(() => committed.pendingPairs(limit)),
    knownPairs: (ids) => guarded(() => committed.knownPairs(ids)),
    uncompared: (limit) => guarded(() => committed.uncompared(limit)),
    pair: (sequence) => guarded(() => committed.pair(sequence)),
    find: (by, values) => guarded(() => committed.find(by, values)),
    around: (memory, count) => guarded(() => committed.around(memory, count)),
    session: (id) => guarded(() => committed.session(id)),
    votes: (id) => guarded(() => committed.votes(id)),
    tombstones: (statements) => guarded(() => committed.tombstones(statements)),
    asKnown: (known, derive) => openPastOf(name, read, known, derive),
    removed: () => guarded(() => committed.removed()),
    settings: () => guarded(() => committed.settings()),
    run: (id) => guarded(() => committed.run(id)),
    history: (id) => guarded(() => committed.history(id)),
    operation: (sequence) => guarded(() => committed.operation(sequence)),
    async write(entry, decide) {
      checkWritable();
      return queue.run(() =>
        guarded(async () => {
          // Of what was forgotten earlier and could not be erased then.
          if (entry.verb === 'forget') await eraseForgotten(writer as Connection, busyTimeout);
          let forgets = false;
          const result = await transaction(async (writer, termIds) => {
            const decision = await decideWith(writer, decide);
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
        guarded(() =>
          transaction(async (writer) => applyUse(writer, usage, await decideWith(writer, decide))),
        ),
      );
    },
    usage: (after = 0) => read((connection) => readUsage(connection, after)),
    vectors: (ids) => read((connection) => readVectors(connection, ids)),
    search: (request) => read((connection) => searchResident(connection, resident, request)),
    inspect: (ids, request) => read((connection) => inspectResident(connection, resident, ids, request)),
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

/** Lets a caller decide on what the open transaction of `writer` sees; its reader ends with that. */
async function decideWith<Decided>(
  writer: Connection,
  decide: (reader: SpaceReader) => Promise<Decided>,
): Promise<Decided> {
  let reading: Connection | undefined = writer;
  const reader = createReader(() => {
    if (reading) return reading;
    throw closedError('the reader of a write that has ended');
  });
  try {
    return await decide(reader);
  } finally {
    reading = undefined;
  }
}

function dataVersion(connection: Connection): number {
  return (connection.get('PRAGMA space.data_version') as { data_version: number }).data_version;
}
