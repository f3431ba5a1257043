import type { ResidentIndex } from '../../index/resident-index.ts';
import { decodeSnapshot, encodeSnapshot } from '../../index/snapshot.ts';
import type { Connection } from './connection.ts';
import { readMeta, writeMeta } from './meta.ts';

/** Bytes of a part that go into one row. */
const PAGE_BYTES = 16 * 1024 * 1024;

/** The index that was saved last, and the sequence it reflects; `undefined` when there is none. */
export function loadPages(
  connection: Connection,
): { readonly index: ResidentIndex; readonly sequence: number } | undefined {
  const sequence = readMeta(connection, 'snapshot');
  if (sequence === undefined) return undefined;
  const pages = connection.all('SELECT part, bytes FROM page ORDER BY part, number') as {
    part: string;
    bytes: Uint8Array;
  }[];
  const parts = new Map<string, Uint8Array>();
  for (const { part, bytes } of pages) {
    const before = parts.get(part);
    parts.set(part, before ? joined(before, bytes) : bytes);
  }
  const index = decodeSnapshot(parts);
  return index && { index, sequence: Number(sequence) };
}

/** Saves an index that reflects all events up to `sequence`, inside the caller's write transaction. */
export function savePages(connection: Connection, index: ResidentIndex, sequence: number): void {
  dropPages(connection);
  const insert = connection.statement('INSERT INTO page (part, number, bytes) VALUES (?, ?, ?)');
  for (const [part, bytes] of encodeSnapshot(index)) {
    for (let number = 0; number === 0 || number * PAGE_BYTES < bytes.length; number++) {
      insert.run(part, number, bytes.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES));
    }
  }
  writeMeta(connection, 'snapshot', String(sequence));
}

/** Drops the saved index: it may hold what is forgotten, or was derived by other means. */
export function dropPages(connection: Connection): void {
  connection.run('DELETE FROM page');
  writeMeta(connection, 'snapshot', undefined);
}

/** The sequence that the saved index reflects, 0 without one. */
export function savedSequence(connection: Connection): number {
  return Number(readMeta(connection, 'snapshot') ?? 0);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
