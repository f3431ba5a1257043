import { codesOfQuery, JOINED, joinCodes, joinQuery } from './kernel/scan.ts';
import { rotate } from './rotate.ts';

/** A unit vector in a few bits for each component, in rotated coordinates: component ≈ scale · code. */
export interface Quantised<Codes = Int8Array> {
  readonly codes: Codes;
  readonly scale: number;
  /** An upper bound of the length of the difference between the vector and its approximation. */
  readonly residual: number;
}

/** The rounding error allowed for computed floats, relative to a vector of length 1. */
export const ROUNDING = 1e-6;

/** The largest code of a memory's vector. */
const LARGEST = 127;

/** The largest code of a query, of 16 bits with room for rounding. */
const LARGEST_OF_QUERY = 32_000;
/** The most that the lengths of a row's and a query's codes may multiply to: 256 times this has 31 bits. */
const LARGEST_PRODUCT = 0x7f_ffff;
/** More than the length of any vector that is accepted as a unit vector. */
const UNIT = 1.001;

/** Reused: a batch has thousands of vectors, and each new array would have to be collected. */
let scratch = new Float64Array(0);

/** Rotates a vector. The result is valid until the next call. */
function rotated(vector: Float32Array): Float64Array {
  if (scratch.length !== vector.length) scratch = new Float64Array(vector.length);
  rotate(vector, scratch);
  return scratch;
}

/**
 * Approximates a unit vector in 8 bits, in the kernel's format. The residual bounds the error of every similarity
 * computed from the codes.
 */
export function quantise(given: Float32Array): Quantised {
  const vector = rotated(given);
  const { length } = vector;
  const codes = new Int8Array(length);
  const scale = Math.fround(largestOf(vector) / LARGEST);
  const inverse = scale === 0 ? 0 : 1 / scale;
  // The sum is never negative, so truncating it rounds.
  const above = LARGEST + 0.5;
  let square = 0;
  for (let at = 0; at < length; at++) {
    const component = vector[at]!;
    codes[at] = ((component * inverse + above) | 0) - LARGEST;
    const difference = component - scale * codes[at]!;
    square += difference * difference;
  }
  joinCodes(codes);
  return { codes, scale, residual: residualOf(square) };
}

/**
 * Approximates a query in up to 16 bits, in the kernel's format, which costs the scan nothing. The error of a
 * similarity then comes almost only from the codes of the memory. If the scale of a row is at least `leastScale` (or
 * 0), the product with its codes has at most 31 bits, because no sum of products exceeds the product of both lengths.
 */
export function quantiseQuery(given: Float32Array, leastScale = 0): Quantised<Int16Array> {
  const vector = rotated(given);
  const { length } = vector;
  const rounded = Math.sqrt(length) / 2;
  const longest = Math.min(LARGEST * Math.sqrt(length), UNIT / leastScale + rounded);
  let norm = 0;
  for (let at = 0; at < length; at++) norm += vector[at]! * vector[at]!;
  norm = Math.sqrt(norm);
  const range = Math.min((LARGEST_PRODUCT / longest - rounded) / norm, LARGEST_OF_QUERY / largestOf(vector));
  // The rounding error of 32 bits is less than what keeps the largest product below 2^23.
  const scale = norm === 0 ? 0 : Math.fround(1 / range);
  const inverse = norm === 0 ? 0 : 1 / scale;
  const scaled = new Float64Array(length);
  for (let at = 0; at < length; at++) scaled[at] = vector[at]! * inverse;
  const codes = joinQuery(scaled);
  const found = codesOfQuery(codes);
  let square = 0;
  for (let at = 0; at < length; at++) {
    const difference = vector[at]! - scale * found[at]!;
    square += difference * difference;
  }
  return { codes, scale: scale / JOINED, residual: residualOf(square) };
}

function largestOf(vector: Float64Array): number {
  let largest = 0;
  for (let at = 0; at < vector.length; at++) {
    const size = Math.abs(vector[at]!);
    if (size > largest) largest = size;
  }
  return largest;
}

/**
 * Returns the residual for the sum of squared differences. It is raised slightly, as vectors may be longer than 1;
 * 32-bit rounding is a thousandth of what is added.
 */
function residualOf(square: number): number {
  return Math.fround(UNIT * Math.sqrt(square) + ROUNDING);
}

/**
 * Returns how far the dot product of two approximations can be from that of the vectors, by Cauchy–Schwarz:
 * |q·m − q̂·m̂| ≤ |q|·|m − m̂| + |q − q̂|·|m̂|.
 */
export function dotError(queryResidual: number, memoryResidual: number): number {
  return memoryResidual + queryResidual * (1 + memoryResidual) + ROUNDING;
}
