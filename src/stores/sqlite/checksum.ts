import { crc32 } from 'node:zlib';
import { damagedRow, type Place } from '../../store/damage.ts';
import type { Database, SqlValue } from './driver.ts';

/**
 * Each row has a CRC-32 of its values, which detects damage on the disk even if the damaged value looks valid. See
 * docs/decisions/0032-checksums.md.
 *
 * Triggers compute the checksums of rows that statements write without one. Frequent statements write the checksum
 * themselves, since a trigger writes the row twice.
 */
export const CHECKSUM_FUNCTION = 'salience_checksum';

/** Makes the checksum a function of SQL. Without it a connection cannot write. */
export function addChecksumFunction(database: Database): void {
  database.function(
    CHECKSUM_FUNCTION,
    { deterministic: true, varargs: true },
    (...values: readonly SqlValue[]) => checksumOf(values),
  );
}

/**
 * The CRC-32 of some values, in order. A number has the same one in whatever column it is stored. With `known`, that of the bytes
 * among them, which need not be there.
 */
export function checksumOf(values: readonly SqlValue[], known?: number): number {
  let numbers = 0;
  let room = 0;
  let bytes = 0;
  for (const value of values) {
    if (typeof value === 'string') room += value.length * 3;
    else if (value !== null && typeof value === 'object') bytes = crc32(value, bytes);
    // SQLite knows no negative zero.
    else if (value !== null) scratchNumbers[numbers++] = Number(value) + 0;
  }
  const start = numbers * 8;
  const space =
    room < MOST_TEXT ? scratch : Buffer.concat([scratch.subarray(0, start)], start + room + MARKS);
  let end = start;
  for (const value of values) end = writeMarked(space, value, end);
  return crc32(space.subarray(0, end), known ?? bytes);
}

/** Writes what kind of value this is, and the value itself where it is a text; returns where it ends. */
function writeMarked(space: Buffer, value: SqlValue, at: number): number {
  space[at] = 0;
  if (typeof value === 'string') {
    space[at + 1] = 0x22;
    return writeText(space, value, at + 2);
  }
  space[at + 1] = value === null ? 0x2d : typeof value === 'object' ? 0x3a : 0x23;
  return at + 2;
}

/** Most texts of a row are short and ASCII: a loop is done before a call of the encoder has begun. */
function writeText(space: Buffer, text: string, at: number): number {
  if (text.length > 40) return at + space.write(text, at);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return at + space.write(text, at);
    space[at + index] = code;
  }
  return at + text.length;
}

/** More values than any table has columns, and the two bytes before each of them. */
const MOST_VALUES = 128;
const MARKS = 2 * MOST_VALUES;

/** In bytes. Rows with longer texts are rare, and get a space of their own. */
const MOST_TEXT = 65_536;

const scratch = Buffer.alloc(8 * MOST_VALUES + MARKS + MOST_TEXT);
const scratchNumbers = new Float64Array(scratch.buffer, scratch.byteOffset, MOST_VALUES);

/** The values of a row and their checksum. */
export function withChecksum(values: readonly SqlValue[]): SqlValue[] {
  return [...values, checksumOf(values)];
}

/** Throws `store_corrupt` unless `checksum` is that of the values. */
export function verify(values: readonly SqlValue[], checksum: unknown, place: Place): void {
  if (checksumOf(values) !== checksum) throw damagedRow(place, 'its checksum does not match');
}
