import { damagedRow } from '../../store/damage.ts';
import { verify } from './checksum.ts';
import type { BytesRow } from './rows.ts';

/**
 * The terms of one memory as bytes: pairs of term id and count, each a varint (seven bits a byte, lowest first, the
 * high bit set on all but the last), by ascending id.
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

/** That a whole number may take. */
const MOST_BYTES = 8;
/** Of the last of them. */
const LARGEST_SCALE = 128 ** (MOST_BYTES - 1);
/** As many as the index counts. */
const MOST_OCCURRENCES = 2 ** 32 - 1;

/** Returns where it ends. */
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
