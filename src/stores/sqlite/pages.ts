import { SalienceError } from '../../domain/errors.ts';
import type { SavedPages } from '../../store/rows.ts';
import { checksumOf, withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';
import { readVerified, writeMeta } from './meta.ts';

/**
 * Bytes of a part that go into one row. What SQLite and the driver copy them into is used again and again, and is still in the
 * processor's cache when it is verified and copied to where it stays: new memory costs more than all of that.
 */
const PAGE_BYTES = 512 * 1024;

/** How much of its space an index reflects: all events and all uses up to these sequences. */
export interface Reflected {
  readonly sequence: number;
  readonly usage: number;
}

/** The index that was saved last, and what it reflects; `undefined` when there is none. */
export function loadPages(connection: Connection):
  | {
      readonly reflected: Reflected;
      bytes(): number;
      /** See {@link SavedPages}; `undefined` where a page is damaged. */
      readonly parts: (...given: Parameters<SavedPages['parts']>) => ReturnType<typeof partsOf>;
    }
  | undefined {
  const reflected = savedReflection(connection);
  if (!reflected) return undefined;
  return {
    reflected,
    bytes: () => bytesOf(connection),
    parts: (pause, place) => partsOf(connection, pause, place),
  };
}

function bytesOf(connection: Connection): number {
  const row = connection.get('SELECT sum(length(bytes)) AS bytes FROM page') as { bytes: number | null };
  return row.bytes ?? 0;
}

async function partsOf(
  connection: Connection,
  ...[pause, place]: Parameters<SavedPages['parts']>
): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  const all = connection.all(
    'SELECT part, count(*) AS pieces, sum(length(bytes)) AS length FROM page GROUP BY part ORDER BY min(rowid)',
  ) as { part: string; pieces: number; length: number }[];
  const parts = new Map<string, Uint8Array>();
  for (const { part, pieces, length } of all) {
    // A cache that is damaged is none; doctor reports it.
    if (length > pieces * PAGE_BYTES) return undefined;
    const room = place(part, length);
    let end = 0;
    for (let number = 0; number < pieces; number++) {
      const page = connection.get(
        'SELECT bytes, checksum FROM page WHERE part = ? AND number = ?',
        part,
        number,
      ) as { bytes: Uint8Array; checksum: number | null } | undefined;
      if (!page || checksumOf([part, number, page.bytes]) !== page.checksum) return undefined;
      room.set(page.bytes, end);
      end += page.bytes.length;
      await pause();
    }
    parts.set(part, room);
  }
  return parts;
}

/** Saves an index piece by piece, inside the caller's write transaction. */
export function* savePages(
  connection: Connection,
  parts: ReadonlyMap<string, Uint8Array>,
  reflected: Reflected,
): Generator<undefined, void> {
  yield* dropPages(connection);
  // The SQLite of Node.js 22 binds no bytes as NULL.
  const insert = connection.statement(
    "INSERT INTO page (part, number, bytes, checksum) VALUES (?, ?, coalesce(?, x''), ?)",
  );
  for (const [part, bytes] of parts) {
    for (let number = 0; number === 0 || number * PAGE_BYTES < bytes.length; number++) {
      const piece = bytes.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES);
      insert.run(...withChecksum([part, number, piece]));
      yield;
    }
  }
  writeMeta(connection, 'snapshot', String(reflected.sequence));
  writeMeta(connection, 'snapshot_usage', String(reflected.usage));
}

/** Drops the saved index, in steps: it may hold what is forgotten, or was derived by other means. */
export function* dropPages(connection: Connection): Generator<undefined, void> {
  // What is deleted is overwritten, page by page.
  for (const [row] of connection.lists('SELECT rowid FROM page')) {
    connection.run('DELETE FROM page WHERE rowid = ?', row as number);
    yield;
  }
  writeMeta(connection, 'snapshot', undefined);
  writeMeta(connection, 'snapshot_usage', undefined);
}

/** What the saved index reflects; undefined without one, and where that is damaged, as one that follows what it does not know would be. */
export function savedReflection(connection: Connection): Reflected | undefined {
  try {
    const sequence = readVerified(connection, 'snapshot');
    const usage = readVerified(connection, 'snapshot_usage');
    return sequence === undefined ? undefined : { sequence: Number(sequence), usage: Number(usage ?? 0) };
  } catch (error) {
    if (!SalienceError.isInstance(error)) throw error;
    return undefined;
  }
}
