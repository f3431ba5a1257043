import { existsSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SalienceError } from '../../domain/errors.ts';
import { atOnce, inSlices, startLongSlices } from '../../domain/slices.ts';
import { waitForNames } from '../../domain/wait-for-disk.ts';
import type { CopyHead, CopyRows, CopySource, CopyTarget, StoreCopying } from '../../store/copying.ts';
import { NOT_ERASED_YET } from '../../store/damage.ts';
import { anotherCopy, missingSpace } from '../../store/faults.ts';
import {
  linkChangeFromJson,
  settingsFromJson,
  settingsToJson,
  usedFromJson,
} from '../../store/stored-json.ts';
import { readAside } from './aside.ts';
import { findDamage } from './check.ts';
import { type Connection, longReadTransaction, readTransaction, writeTransaction } from './connection.ts';
import { putRow, readPart, removeRow } from './copy-rows.ts';
import { checkLinks } from './directory.ts';
import { isBusy, translateFileError } from './faults.ts';
import { bytesOf, fileNameOf, filesIn, hasLog, listSpaceNames, pathOf, removeFiles } from './files.ts';
import { emptyLog, finishForgetting } from './forget.ts';
import {
  readDerivation,
  readGeneration,
  readSettings,
  readVerified,
  writeDerivation,
  writeMeta,
  writeSettings,
} from './meta.ts';
import { type FileSettings, finishErasure, openReader, openWriter } from './opening.ts';
import { checkFiles, inodeOf, leftBehind, moveTo } from './presence.ts';
import { wrongChecksums } from './protection.ts';
import { LITTLE } from './space.ts';
import { describeStrays } from './strays.ts';
import { createTermIds } from './terms.ts';

const NOTHING_COPIED = 'nothing was copied';

/** The folder of incomplete copies. A file in it is not a space until it is complete. */
const INCOMPLETE = '.copying';

/** Copies between the files of a directory and another store. */
export function copyingIn(directory: string, settings: FileSettings): StoreCopying {
  return {
    async from(space) {
      const path = pathOf(directory, space);
      if (!existsSync(path) && !hasLog(path)) throw missingSpace(space, await listSpaceNames(directory));
      await checkFiles(path);
      const connection = await openCurrent(path, space, settings);
      try {
        await refuseDamage(connection);
      } catch (error) {
        connection.close();
        throw translateFileError(error, path, NOTHING_COPIED);
      }
      return sourceOf(connection);
    },
    async into(space) {
      checkLinks(directory);
      const path = join(directory, fileNameOf(space));
      const incomplete = incompleteOf(directory, space);
      if (existsSync(path)) {
        await removeFormerNames(directory, space);
        throw exists(space, path);
      }
      await checkFiles(path);
      const isContinued = existsSync(incomplete);
      const connection = await openIncomplete(incomplete, space, settings).catch((error: unknown) => {
        if (!SalienceError.isInstance(error) || error.code !== 'store_busy') throw error;
        throw anotherCopy(space, error);
      });
      // Refuses a second copy, which could otherwise write into the space that the first one completes.
      connection.database.exec('PRAGMA space.locking_mode = EXCLUSIVE');
      try {
        await writeTransaction(connection, settings.busyTimeout, () => {});
        // A killed process may have left this file under another name too, under which it would outlive the space. Another process
        // that makes such a file now tries again, and finds that this copy is in progress.
        for (const made of madeFor(incomplete)) await rm(made, { force: true });
      } catch (error) {
        connection.close();
        throw isBusy(error) ? anotherCopy(space, error) : translateFileError(error, incomplete);
      }
      /** It is of no use any more, and nobody would find the texts in it. */
      const refuse = async () => {
        await removeFiles(incomplete);
        removeIfEmpty(dirname(incomplete));
        return exists(space, path);
      };
      return targetOf(connection, settings, isContinued, async () => {
        if (existsSync(path)) throw await refuse();
        await checkFiles(path);
        try {
          moveTo(incomplete, path);
        } catch (error) {
          // Another process made it meanwhile.
          throw existsSync(path) ? await refuse() : translateFileError(error, path);
        }
        removeIfEmpty(dirname(incomplete));
        await waitForNames(dirname(path));
      });
    },
    unlisted: () => describeStrays(directory),
  };
}

/** Describes each unfinished copy in one sentence. An interrupted copy keeps its texts until a new call resumes it. */
export function describeUnfinished(directory: string): readonly string[] {
  const folder = join(directory, INCOMPLETE);
  return [...filesIn(folder)]
    .filter((file) => file.endsWith('.db'))
    .sort()
    .map((file) => unfinishedAt(join(folder, file)));
}

function unfinishedAt(path: string): string {
  return `${path} is a copy that has not ended, with texts in it; copy or restore that space again, or remove ${dirname(path)} while no copy is running`;
}

function incompleteOf(directory: string, space: string): string {
  return join(directory, INCOMPLETE, fileNameOf(space));
}

/**
 * Removes further names (hard links) of a space's file, which remain if a process was killed while it renamed the file.
 * Otherwise the texts would survive the deletion of the file under its own name.
 */
export async function removeFormerNames(directory: string, space: string): Promise<void> {
  const file = fileNameOf(space);
  const inode = inodeOf(join(directory, file));
  if (inode === undefined) return;
  const incomplete = incompleteOf(directory, space);
  const made = [join(directory, file), incomplete].flatMap(madeFor);
  for (const former of [incomplete, ...made])
    if (inodeOf(former) === inode) await rm(former, { force: true });
  removeIfEmpty(dirname(incomplete));
}

/** The files that processes make, or made until they were killed, to give them this name. */
function madeFor(path: string): readonly string[] {
  const folder = dirname(path);
  return filesIn(folder)
    .filter((name) => name.startsWith(`${basename(path)}-new-`))
    .map((name) => join(folder, name));
}

/** Opens the rest of an interrupted copy to resume it. If it is damaged, starts a new one. */
async function openIncomplete(path: string, space: string, settings: FileSettings): Promise<Connection> {
  const hasBegun = existsSync(path) || leftBehind(path);
  try {
    await checkFiles(path);
    const connection = await openWriter(path, space, settings);
    if (!hasBegun) return connection;
    const damage = await inSlices(wrongChecksums(connection), startLongSlices()).catch((error: unknown) => {
      connection.close();
      throw translateFileError(error, path);
    });
    if (damage.length === 0) return connection;
    connection.close();
  } catch (error) {
    if (!hasBegun || !SalienceError.isInstance(error)) throw error;
    if (error.code !== 'store_corrupt' && error.code !== 'not_a_store') throw error;
  }
  await removeFiles(path);
  return openWriter(path, space, settings);
}

function exists(space: string, path: string): SalienceError {
  return new SalienceError(
    'already_exists',
    `space ${JSON.stringify(space)} exists already in ${basename(path)}, and a copy overwrites nothing; delete it first (salience spaces delete), or copy into another store`,
    { details: { space } },
  );
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // Another copy is on its way in it.
  }
}

/** A file of an older schema is brought up to date first, as opening it for writing does. */
async function openCurrent(path: string, space: string, settings: FileSettings): Promise<Connection> {
  try {
    return await openReader(path, space, settings);
  } catch (error) {
    if (!SalienceError.isInstance(error) || error.details['version'] === undefined) throw error;
    (await openWriter(path, space, settings)).close();
    return openReader(path, space, settings);
  }
}

/**
 * Throws `store_corrupt` if a space is damaged. A damaged page can hide rows without an error: they would be missing in the copy,
 * in which no check could find that out.
 */
async function refuseDamage(connection: Connection): Promise<void> {
  const { path } = connection;
  const aside = bytesOf(path) < LITTLE ? undefined : readAside;
  const found = await longReadTransaction(connection, () => findDamage(connection, aside));
  const findings = found.filter((finding) => finding !== NOT_ERASED_YET);
  if (findings.length === 0) return;
  throw new SalienceError('store_corrupt', `${path}: ${findings[0]}; ${NOTHING_COPIED}`, {
    details: { path, findings },
  });
}

function rowsOf(connection: Connection): CopyRows {
  const attempt = attemptsOf(connection);
  return {
    rows: (part, range) => attempt(() => readPart(connection, part, range)),
    count: (part) =>
      attempt(() => {
        const table = part === 'compared' ? 'memory' : part;
        return (connection.get(`SELECT count(*) AS count FROM ${table}`) as { count: number }).count;
      }),
    async [Symbol.asyncDispose]() {
      connection.close();
    },
  };
}

/** Returns a function that reads in one transaction. */
function attemptsOf(connection: Connection) {
  return async <Result>(task: () => Result): Promise<Result> => {
    try {
      return readTransaction(connection, task);
    } catch (error) {
      throw translateFileError(error, connection.path);
    }
  };
}

function sourceOf(connection: Connection): CopySource {
  const attempt = attemptsOf(connection);
  return {
    ...rowsOf(connection),
    head: () => attempt(() => readHead(connection)),
    touched: ({ sequence, usage }) =>
      attempt(() => {
        const events = connection.all(
          'SELECT sequence, memory_row AS key, link, redacted FROM event WHERE sequence > ?',
          sequence,
        ) as { sequence: number; key: number; link: string | null; redacted: number }[];
        const uses = connection.all('SELECT sequence, used FROM usage WHERE sequence > ?', usage) as {
          sequence: number;
          used: string;
        }[];
        const ids = [
          ...events.flatMap((event) =>
            event.link === null ? [] : linkChangeFromJson(event.link, event.sequence).link.ids,
          ),
          ...uses.flatMap((use) => usedFromJson(use.used, use.sequence).map(({ id }) => id)),
        ];
        const named = connection.all(
          'SELECT row AS key FROM memory WHERE id IN (SELECT value FROM json_each(?))',
          JSON.stringify([...new Set(ids)]),
        ) as { key: number }[];
        const keys = [...events, ...named].map(({ key }) => key).filter((key) => key > 0);
        return { keys: [...new Set(keys)], redacted: events.some((event) => event.redacted === 1) };
      }),
  };
}

function readHead(connection: Connection): CopyHead {
  const last = (table: string) =>
    (connection.get('SELECT seq FROM sqlite_sequence WHERE name = ?', table) as { seq: number } | undefined)
      ?.seq ?? 0;
  const at = (table: string) =>
    (connection.get(`SELECT at FROM ${table} ORDER BY sequence DESC LIMIT 1`) as { at: number } | undefined)
      ?.at ?? 0;
  const ordinal = connection.get('SELECT coalesce(max(ordinal), 0) AS last FROM memory') as { last: number };
  return {
    stamp: String(connection.version()),
    generation: readGeneration(connection),
    key: last('memory'),
    sequence: last('event'),
    at: at('event'),
    usage: last('usage'),
    usedAt: at('usage'),
    pair: last('similar_pair'),
    recording: last('recall'),
    ordinal: Number(readVerified(connection, 'ordinal') ?? ordinal.last),
    ...readDerivation(connection),
    settings: settingsToJson(readSettings(connection)),
    tombstoneKey: readVerified(connection, 'tombstone_key'),
  };
}

function targetOf(
  connection: Connection,
  { busyTimeout }: FileSettings,
  isContinued: boolean,
  publish: () => Promise<void>,
): CopyTarget {
  const termIds = createTermIds(connection);
  /** What was copied and is no longer there, or says something else, may have been forgotten: its words and bytes are here. */
  let hasRemains = isContinued;
  let lastEvent = 0;
  const failed = (error: unknown) =>
    translateFileError(error, connection.path, 'what was copied before is kept');
  const write = async (task: () => void) => {
    try {
      await writeTransaction(connection, busyTimeout, task);
    } catch (error) {
      termIds.clear();
      throw failed(error);
    }
  };
  return {
    ...rowsOf(connection),
    unfinished: () => (existsSync(connection.path) ? unfinishedAt(connection.path) : undefined),
    put: (part, rows, gone) => {
      if (gone.length > 0) hasRemains = true;
      if (part === 'event') {
        const sequences = rows.map(({ sequence }) => Number(sequence));
        // The log only grows: an event that was copied already is one that was redacted since.
        if (sequences.some((sequence) => sequence <= lastEvent)) hasRemains = true;
        lastEvent = sequences.reduce((last, sequence) => Math.max(last, sequence), lastEvent);
      }
      return write(() => {
        for (const row of gone) removeRow(connection, part, row);
        for (const row of rows) putRow(connection, termIds, part, row);
      });
    },
    async finish(head) {
      await write(() => {
        const { tombstoneKey, ordinal, settings } = head;
        writeDerivation(connection, head);
        writeSettings(connection, settingsFromJson(settings, { table: 'space', row: 0 }));
        writeMeta(connection, 'ordinal', String(ordinal));
        writeMeta(connection, 'tombstone_key', tombstoneKey);
        const lasts = {
          memory: head.key,
          event: head.sequence,
          usage: head.usage,
          similar_pair: head.pair,
          recall: head.recording,
        };
        for (const [table, last] of Object.entries(lasts)) {
          connection.run('DELETE FROM sqlite_sequence WHERE name = ?', table);
          connection.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, last);
        }
        if (hasRemains) atOnce(finishForgetting(connection, termIds));
      });
      await finishErasure(connection, busyTimeout);
      // Only the file gets the name of the space, and closing would hide that the disk has no room for what is in the log.
      try {
        emptyLog(connection);
      } catch (error) {
        throw failed(error);
      }
      connection.close();
      await publish();
    },
  };
}
