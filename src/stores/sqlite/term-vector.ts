import { damagedRow } from '../../store/damage.ts';
import { verify } from './checksum.ts';
import type { BytesRow } from './rows.ts';

/**
 * Encodes the terms of one memory: pairs of term id and count by ascending id, each number a varint (seven bits per byte, lowest
 * bits first, the high bit set on all bytes but the last).
 */
export function encodeTermVector(pairs: readonly (readonly [id: number, count: number])[]): Uint8Array {
  const bytes = new Uint8Array(pairs.length * 2 * MOST_BYTES);
  let at = 0;
  for (const [id, count] of pairs.toSorted((a, b) => a[0] - b[0])) {
    at = writeVarint(bytes, count, writeVarint(bytes, id, at));
  }
  return bytes.subarray(0, at);
}

/** Calls `visit` with each pair of the term vector in a row, in order. Throws `store_corrupt`. */
export function decodeTermVector(
  { row, bytes, checksum }: BytesRow,
  visit: (id: number, count: number) => void,
): void {
  verify([row, bytes], checksum, { table: 'term_vector', row });
  let position = 0;
  const next = () => {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[position++];
      if (byte === undefined) throw damagedRow({ table: 'term_vector', row }, 'it ends within a number');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
      if (scale > LARGEST_SCALE) throw damagedRow({ table: 'term_vector', row }, 'it has a number too large');
    }
  };
  let last = 0;
  while (position < bytes.length) {
    const id = next();
    const count = next();
    if (id <= last || id > Number.MAX_SAFE_INTEGER || count < 1 || count > MOST_OCCURRENCES) {
      throw damagedRow({ table: 'term_vector', row }, 'its terms are out of order or never occur');
    }
    last = id;
    visit(id, count);
  }
}

/** The most bytes that a number may take. */
const MOST_BYTES = 8;
/** The scale of the last of these bytes. */
const LARGEST_SCALE = 128 ** (MOST_BYTES - 1);
/** The largest count that the index can hold. */
const MOST_OCCURRENCES = 2 ** 32 - 1;

/** Writes a number at `start`, and returns the position after it. */
function writeVarint(bytes: Uint8Array, value: number, start: number): number {
  let at = start;
  let rest = value;
  while (rest >= 0x80) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  bytes[at++] = rest;
  return at;
}
