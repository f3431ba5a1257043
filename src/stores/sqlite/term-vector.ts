import { damagedRow } from '../../store/damage.ts';
import { verify } from './checksum.ts';
import type { BytesRow } from './rows.ts';

/**
 * The terms of one memory as bytes: pairs of term id and count, each a varint (seven bits a byte, lowest first, the
 * high bit set on all but the last), by ascending id.
 */
export function encodeTermVector(pairs: readonly (readonly [id: number, count: number])[]): Uint8Array {
  const sorted = [...pairs].sort((a, b) => a[0] - b[0]);
  const bytes: number[] = [];
  for (const [id, count] of sorted) {
    pushVarint(bytes, id);
    pushVarint(bytes, count);
  }
  return Uint8Array.from(bytes);
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

/** Of the last of the eight bytes that a whole number may take. */
const LARGEST_SCALE = 128 ** 7;
/** As many as the index counts. */
const MOST_OCCURRENCES = 2 ** 32 - 1;

function pushVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
