type Grown = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array | Int8Array;

/** Returns an array of at least `length` with the old content. A new one is at least half as long again. */
export function grow<Of extends Grown>(array: Of, length: number): Of {
  if (array.length >= length) return array;
  const next = Math.max(length, Math.ceil(array.length * 1.5), 16);
  const grown = new (array.constructor as new (length: number) => Of)(next);
  grown.set(array as never);
  return grown;
}

/** Whole numbers in as few bytes each as they need. */
export type WholeNumbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

const KINDS = [Uint8Array, Uint16Array, Uint32Array, Float64Array] as const;
/** The largest whole number of so many bytes. A 64-bit float holds any that occurs. */
const MOST: Readonly<Record<number, number>> = { 1: 0xff, 2: 0xffff, 4: 0xffff_ffff, 8: Infinity };

/** Returns the array, or one with the same content that can also hold `value`. */
export function holding<Of extends WholeNumbers>(array: Of, value: number): Of | WholeNumbers {
  if (isHeld(array, value)) return array;
  return KINDS.find((kind) => kind.BYTES_PER_ELEMENT > array.BYTES_PER_ELEMENT && isHeld(kind, value))!.from(
    array,
  );
}

function isHeld({ BYTES_PER_ELEMENT: bytes }: { readonly BYTES_PER_ELEMENT: number }, value: number) {
  return bytes === 8 || (value >= 0 && value <= MOST[bytes]! && Number.isInteger(value));
}
