type Grown = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array | Int8Array;

/** An array of at least `length`, with the old content; at least half as long again when it must be a new one. */
export function grow<Of extends Grown>(array: Of, length: number): Of {
  if (array.length >= length) return array;
  const next = Math.max(length, Math.ceil(array.length * 1.5), 16);
  const grown = new (array.constructor as new (length: number) => Of)(next);
  grown.set(array as never);
  return grown;
}
