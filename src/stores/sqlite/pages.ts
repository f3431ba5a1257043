import { randomBytes } from 'node:crypto';
import { SalienceError } from '../../domain/errors.ts';
import type { Awaitable, PlaceOfPart, SavedPages } from '../../store/rows.ts';
import { type FillAside, fillAside } from './aside.ts';
import { checksumOf, withChecksum } from './checksum.ts';
import type { Connection } from './connection.ts';
import { readMeta, readVerified, writeMeta } from './meta.ts';
import { release } from './release.ts';
import { hasThreads, type Room } from './thread.ts';

/**
 * Bytes of a part in one row. Up to this size, the driver reuses the same buffer for every row, and it is still in the
 * processor's cache when it is verified and copied. Larger buffers would be returned to the system each time, and allocating
 * new memory costs more than all the rest.
 */
const PAGE_BYTES = 64 * 1024;

/** Pages between two pauses for other work. */
const PAGES_BETWEEN = 8;

/** Bytes. Another thread reads longer parts at the same time. Starting a thread takes as long as reading this many bytes. */
const MOST_BYTES_HERE = 64 * 1024 * 1024;

/** The part of the log that an index reflects: all events and uses up to these sequences. */
export interface Reflected {
  readonly sequence: number;
  readonly usage: number;
}

/** How long parts are read on another thread. */
export interface Aside {
  readonly fill?: FillAside;
  readonly mostBytesHere?: number;
}

/** Returns the last saved index, and the part of the log that it reflects; `undefined` if there is none. */
export function loadPages(
  connection: Connection,
  aside?: Aside,
):
  | {
      readonly reflected: Reflected;
      bytes(): number;
      /** See {@link SavedPages}; `undefined` where a page is damaged. */
      readonly load: SavedPages['load'];
    }
  | undefined {
  const reflected = savedReflection(connection);
  if (!reflected) return undefined;
  return {
    reflected,
    bytes: () => bytesOf(connection),
    load: (pause, place, decode) => load(connection, aside, pause, place, decode),
  };
}

function bytesOf(connection: Connection): number {
  const row = connection.get('SELECT sum(length(bytes)) AS bytes FROM page') as { bytes: number | null };
  return row.bytes ?? 0;
}

interface Part {
  readonly part: string;
  readonly pieces: number;
  readonly length: number;
}

type Pause = () => Awaitable<void>;

async function load<Index>(
  connection: Connection,
  { fill = fillAside, mostBytesHere = MOST_BYTES_HERE }: Aside = {},
  pause: Pause,
  place: PlaceOfPart,
  decode: (parts: ReadonlyMap<string, Uint8Array>) => Awaitable<Index | undefined>,
): Promise<Index | undefined> {
  // Older versions wrote no id that distinguishes one saved index from the next.
  const saved = readMeta(connection, 'snapshot_id');
  if (saved === undefined) return undefined;
  const own = nameOf(saved, '');
  const [first, ...others] = connection.all(
    `SELECT substr(part, ?2) AS part, count(*) AS pieces, sum(length(bytes)) AS length FROM page
     WHERE substr(part, 1, ?2 - 1) = ?1 GROUP BY part ORDER BY min(rowid)`,
    own,
    own.length + 1,
  ) as Part[];
  const parts = new Map<string, Uint8Array>();
  const shared: SharedPart[] = [];
  try {
    // The first part says where the others go. Another thread begins with the longest one.
    for (const part of [first, ...others.sort((a, b) => b.length - a.length)]) {
      if (!part) continue;
      // A damaged cache is ignored; `doctor` reports it.
      if (part.length > part.pieces * PAGE_BYTES) return undefined;
      const isLong = hasThreads() && part.length > mostBytesHere;
      const room = place(part.part, part.length, isLong);
      parts.set(part.part, room);
      const piecesOf: Pieces = { ...part, name: nameOf(saved, part.part) };
      if (isLong && room.buffer instanceof SharedArrayBuffer)
        shared.push(beginAside(connection, piecesOf, room, fill));
      else if (!(await readPart(connection, piecesOf, room, pause))) return undefined;
    }
    // Meanwhile, another thread reads the rest.
    const index = await decode(parts);
    for (const each of shared) if (!(await finish(connection, each, pause))) return undefined;
    return index;
  } finally {
    for (const { left, done } of shared) {
      Atomics.store(left, 0, 0);
      await done;
    }
  }
}

/** The name under which the pieces of a part are saved. It includes the id of the index, so that indexes do not mix. */
function nameOf(saved: string, part: string): string {
  return `${saved} ${part}`;
}

interface Pieces extends Part {
  /** See {@link nameOf}. */
  readonly name: string;
}

function readPiece(connection: Connection, { name }: Pieces, number: number): Uint8Array | undefined {
  const page = connection.get(
    'SELECT bytes, checksum FROM page WHERE part = ? AND number = ?',
    name,
    number,
  ) as { bytes: Uint8Array; checksum: number | null } | undefined;
  return page && checksumOf([name, number, page.bytes]) === page.checksum ? page.bytes : undefined;
}

/** Reads the pieces of a part. Returns whether all are undamaged. */
async function readPart(
  connection: Connection,
  part: Pieces,
  room: Uint8Array,
  pause: Pause,
): Promise<boolean> {
  let end = 0;
  for (let number = 0; number < part.pieces; number++) {
    const bytes = readPiece(connection, part, number);
    if (!bytes) return false;
    room.set(bytes, end);
    end += bytes.length;
    release(bytes);
    if (number % PAGES_BETWEEN === 0) await pause();
  }
  return true;
}

const NO_BYTES = new Uint8Array(0);

/** A part that another thread reads from its first piece on, and this one from its last. */
interface SharedPart {
  readonly part: Pieces;
  readonly room: Uint8Array;
  /** Pieces that nobody has taken yet. */
  readonly left: Int32Array;
  /** How many pieces the other thread has read; `undefined` where it read none, or others than this connection finds. */
  readonly done: Promise<number | undefined>;
}

function beginAside(connection: Connection, part: Pieces, room: Uint8Array, fill: FillAside): SharedPart {
  const left = new Int32Array(new SharedArrayBuffer(4)).fill(part.pieces);
  return { part, room, left, done: readAside(connection, part, { bytes: room, left }, fill) };
}

async function readAside(
  connection: Connection,
  { name }: Pieces,
  into: Room,
  fill: FillAside,
): Promise<number | undefined> {
  const rows = await fill(
    connection.path,
    into,
    'SELECT bytes, number, checksum FROM space.page WHERE part = ? ORDER BY number',
    name,
  );
  const isSame = rows?.every(
    ([crc, number, checksum], at) =>
      number === at && checksumOf([name, at, NO_BYTES], crc as number) === checksum,
  );
  return isSame ? rows?.length : undefined;
}

/** Reads the pieces that the other thread has not taken. Returns whether all pieces are undamaged. */
async function finish(
  connection: Connection,
  { part, room, left, done }: SharedPart,
  pause: Pause,
): Promise<boolean> {
  let [end, number] = [room.length, part.pieces];
  while (Atomics.sub(left, 0, 1) > 0) {
    const bytes = readPiece(connection, part, --number);
    if (!bytes) return false;
    end -= bytes.length;
    room.set(bytes, end);
    release(bytes);
    if (number % PAGES_BETWEEN === 0) await pause();
  }
  return (await done) === number || number === 0 || readPart(connection, part, room, pause);
}

/** Saves an index piece by piece, inside the caller's write transaction. */
export function* savePages(
  connection: Connection,
  parts: ReadonlyMap<string, Uint8Array>,
  reflected: Reflected,
): Generator<undefined, void> {
  yield* dropPages(connection);
  const saved = randomBytes(16).toString('hex');
  // The SQLite of Node.js 22 binds no bytes as NULL.
  const insert = connection.statement(
    "INSERT INTO page (part, number, bytes, checksum) VALUES (?, ?, coalesce(?, x''), ?)",
  );
  for (const [part, bytes] of parts) {
    for (let number = 0; number === 0 || number * PAGE_BYTES < bytes.length; number++) {
      const piece = bytes.subarray(number * PAGE_BYTES, (number + 1) * PAGE_BYTES);
      insert.run(...withChecksum([nameOf(saved, part), number, piece]));
      yield;
    }
  }
  writeMeta(connection, 'snapshot', String(reflected.sequence));
  writeMeta(connection, 'snapshot_usage', String(reflected.usage));
  writeMeta(connection, 'snapshot_id', saved);
}

/** Drops the saved index, in steps. It may contain forgotten memories, or data of another model or analyzer. */
export function* dropPages(connection: Connection): Generator<undefined, void> {
  // What is deleted is overwritten, page by page.
  for (const [row] of connection.lists('SELECT rowid FROM page')) {
    connection.run('DELETE FROM page WHERE rowid = ?', row as number);
    yield;
  }
  writeMeta(connection, 'snapshot', undefined);
  writeMeta(connection, 'snapshot_usage', undefined);
  writeMeta(connection, 'snapshot_id', undefined);
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

/** Whether the log has lost rows that the saved index reflects. New rows would get their numbers, and the index would skip them. */
export function reflectsLostRows(connection: Connection): boolean {
  const saved = savedReflection(connection);
  if (!saved) return false;
  const last = connection.get(
    'SELECT (SELECT max(sequence) FROM event) AS sequence, (SELECT max(sequence) FROM usage) AS usage',
  ) as { readonly [Name in keyof Reflected]: number | null };
  // Negated, so that a saved position that is NaN counts as lost too.
  return !(saved.sequence <= (last.sequence ?? 0) && saved.usage <= (last.usage ?? 0));
}
