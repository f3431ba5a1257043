import { crc32 } from 'node:zlib';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import type { SqlValue } from './connection.ts';
import { damagedRow, type Place } from './damage.ts';

/**
 * Each row carries a CRC-32 of its values, so that a value that was damaged on the disk, and could still have been
 * written, is known. See docs/decisions/0032-checksums.md.
 *
 * Triggers keep the checksums of what statements write one value at a time; rows of bytes alone are written at one place
 * each, which brings their checksum along.
 */
export const CHECKSUM_FUNCTION = 'salience_checksum';

/** Makes the checksum a function of SQL. Without it a connection cannot write. */
export function addChecksumFunction(database: DatabaseSyncInstance): void {
  database.function(
    CHECKSUM_FUNCTION,
    { deterministic: true, varargs: true },
    (...values: readonly SqlValue[]) => checksumOf(values),
  );
}

/** The CRC-32 of some values, in order. A number has the same one in whatever column it is stored. */
export function checksumOf(values: readonly SqlValue[]): number {
  let texts = '';
  let numbers = 0;
  let bytes = 0;
  for (const value of values) {
    if (typeof value === 'string') texts += `\0"${value}`;
    else if (value === null) texts += '\0-';
    else if (typeof value === 'object') {
      texts += '\0:';
      bytes = crc32(value, bytes);
    } else {
      texts += '\0#';
      // SQLite knows no negative zero.
      scratch[numbers++] = Number(value) + 0;
    }
  }
  return crc32(texts, crc32(scratchBytes.subarray(0, numbers * 8), bytes));
}

/** More numbers than any table has columns. */
const scratch = new Float64Array(128);
const scratchBytes = new Uint8Array(scratch.buffer);

/** The values of a row and their checksum. */
export function withChecksum(values: readonly SqlValue[]): SqlValue[] {
  return [...values, checksumOf(values)];
}

/** Throws `store_corrupt` unless `checksum` is that of the values. */
export function verify(values: readonly SqlValue[], checksum: unknown, place: Place): void {
  if (checksumOf(values) !== checksum) throw damagedRow(place, 'its checksum is of other values');
}
