import type { WholeNumbers } from './grow.ts';

/**
 * The resident index as named byte arrays, so that a process that opens a large space need not build it again. Dead
 * rows are left out. Parts are little-endian typed arrays. When their layout changes, so must `LAYOUT` in `pages.ts`.
 */
export type PageParts = ReadonlyMap<string, Uint8Array>;

/** How many rows or terms one step handles. */
export const STEP = 2048;
/** How many numbers a step handles that only checks them. */
export const NUMBERS = 1 << 16;

export function asBytes(array: WholeNumbers | Float32Array | Int8Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export function arrayOf<Of>(
  kind: {
    new (buffer: ArrayBufferLike, offset: number, length: number): Of;
    readonly BYTES_PER_ELEMENT: number;
  },
  parts: PageParts,
  name: string,
): Of {
  const bytes = parts.get(name) ?? new Uint8Array(0);
  // A view must start at a multiple of its element size, but the bytes from a driver may start anywhere.
  const aligned = bytes.byteOffset % kind.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new kind(aligned.buffer, aligned.byteOffset, aligned.byteLength / kind.BYTES_PER_ELEMENT);
}
