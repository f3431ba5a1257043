import { checksumOf, withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';
import { readMeta, writeMeta } from './meta.ts';

/** Bytes of a part that go into one row. */
const PAGE_BYTES = 64 * 1024 * 1024;

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
      /** `undefined` where a page is damaged. */
      parts(): ReadonlyMap<string, Uint8Array> | undefined;
    }
  | undefined {
  if (readMeta(connection, 'snapshot') === undefined) return undefined;
  return {
    reflected: savedReflection(connection),
    bytes: () => bytesOf(connection),
    parts: () => partsOf(connection),
  };
}

function bytesOf(connection: Connection): number {
  const row = connection.get('SELECT sum(length(bytes)) AS bytes FROM page') as { bytes: number | null };
  return row.bytes ?? 0;
}

function partsOf(connection: Connection): ReadonlyMap<string, Uint8Array> | undefined {
  const pages = connection.all('SELECT part, number, bytes, checksum FROM page ORDER BY part, number') as {
    part: string;
    number: number;
    checksum: number | null;
    bytes: Uint8Array;
  }[];
  const pieces = new Map<string, Uint8Array[]>();
  for (const { part, number, bytes, checksum } of pages) {
    // A cache that is damaged is none; doctor reports it.
    if (checksumOf([part, number, bytes]) !== checksum) return undefined;
    const before = pieces.get(part);
    if (before) before.push(bytes);
    else pieces.set(part, [bytes]);
  }
  return new Map(Array.from(pieces, ([part, of]) => [part, of.length === 1 ? of[0]! : joined(of)]));
}

/** Saves an index, inside the caller's write transaction. */
export function savePages(
  connection: Connection,
  parts: ReadonlyMap<string, Uint8Array>,
  reflected: Reflected,
): void {
  dropPages(connection);
  // The SQLite of Node.js 22 binds no bytes as NULL.
  const insert = connection.statement(
    "INSERT INTO page (part, number, bytes, checksum) VALUES (?, ?, coalesce(?, x''), ?)",
  );
  for (const [part, bytes] of parts) {
    for (let number = 0; number === 0 || number * PAGE_BYTES < bytes.length; number++) {
      const piece = bytes.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES);
      insert.run(...withChecksum([part, number, piece]));
    }
  }
  writeMeta(connection, 'snapshot', String(reflected.sequence));
  writeMeta(connection, 'snapshot_usage', String(reflected.usage));
}

/** Drops the saved index: it may hold what is forgotten, or was derived by other means. */
export function dropPages(connection: Connection): void {
  connection.run('DELETE FROM page');
  writeMeta(connection, 'snapshot', undefined);
  writeMeta(connection, 'snapshot_usage', undefined);
}

/** What the saved index reflects: nothing without one. */
export function savedReflection(connection: Connection): Reflected {
  return {
    sequence: Number(readMeta(connection, 'snapshot') ?? 0),
    usage: Number(readMeta(connection, 'snapshot_usage') ?? 0),
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
