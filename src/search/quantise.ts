import { rotate } from './rotate.ts';

/** A unit vector in few bits a component, in rotated coordinates: component ≈ scale · code. */
export interface Quantised<Codes = Int8Array> {
  readonly codes: Codes;
  readonly scale: number;
  /** At least the length of the difference between the vector and its approximation. */
  readonly residual: number;
}

/** Floats that follow from many roundings may be off by this much, relative to a vector of length 1. */
export const ROUNDING = 1e-6;

/** The largest code of a memory. */
const LARGEST = 127;

/** Approximates a unit vector in 8 bits; the residual is what bounds every similarity computed from the codes. */
export function quantise(vector: Float32Array): Quantised {
  return approximate(vector, LARGEST, new Int8Array(vector.length));
}

/**
 * Approximates a query by up to 16 bits, at no cost for the scan: nearly all that is unknown of a similarity is then what the
 * codes of the memory leave out. No sum of products with these exceeds 31 bits.
 */
export function quantiseQuery(vector: Float32Array): Quantised<Int16Array> {
  const largest = Math.min(0x7fff, Math.floor(0x7fffffff / (LARGEST * vector.length)));
  return approximate(vector, largest, new Int16Array(vector.length));
}

/** A batch has thousands of vectors, and each array is made and collected. */
let scratch = new Float64Array(0);

function approximate<Codes extends Int8Array | Int16Array>(
  given: Float32Array,
  most: number,
  codes: Codes,
): Quantised<Codes> {
  const { length } = given;
  if (scratch.length !== length) scratch = new Float64Array(length);
  const vector = scratch;
  rotate(given, vector);
  let largest = 0;
  for (let at = 0; at < length; at++) {
    const size = Math.abs(vector[at]!);
    if (size > largest) largest = size;
  }
  const scale = Math.fround(largest / most);
  const inverse = scale === 0 ? 0 : 1 / scale;
  // Never negative, so that leaving out the fraction rounds.
  const above = most + 0.5;
  let square = 0;
  for (let at = 0; at < length; at++) {
    const component = vector[at]!;
    codes[at] = ((component * inverse + above) | 0) - most;
    const difference = component - scale * codes[at]!;
    square += difference * difference;
  }
  // What 32 bits round away is a thousandth of what is added.
  return { codes, scale, residual: Math.fround(Math.sqrt(square) + ROUNDING) };
}

/**
 * How far the dot product of two approximations can lie from that of the vectors, by Cauchy–Schwarz:
 * |q·m − q̂·m̂| ≤ |q|·|m − m̂| + |q − q̂|·|m̂|.
 */
export function dotError(queryResidual: number, memoryResidual: number): number {
  return memoryResidual + queryResidual * (1 + memoryResidual) + ROUNDING;
}
