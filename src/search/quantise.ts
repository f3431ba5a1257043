import { codesOfQuery, JOINED, joinCodes, joinQuery } from './kernel/scan.ts';
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

/** Of 16 bits, with room for what rounding adds. */
const LARGEST_OF_QUERY = 32_000;
/** What the lengths of the codes of a row and of a query may give together: 256 times as much are 31 bits. */
const LARGEST_PRODUCT = 0x7f_ffff;
/** More than the length of a vector that is taken for one of length 1. */
const UNIT = 1.001;

/** A batch has thousands of vectors, and each array is made and collected. */
let scratch = new Float64Array(0);

/** In rotated coordinates: good until the next call. */
function rotated(vector: Float32Array): Float64Array {
  if (scratch.length !== vector.length) scratch = new Float64Array(vector.length);
  rotate(vector, scratch);
  return scratch;
}

/**
 * Approximates a unit vector in 8 bits, as the kernel reads them; the residual is what bounds every similarity computed from
 * the codes.
 */
export function quantise(given: Float32Array): Quantised {
  const vector = rotated(given);
  const { length } = vector;
  const codes = new Int8Array(length);
  const scale = Math.fround(largestOf(vector) / LARGEST);
  const inverse = scale === 0 ? 0 : 1 / scale;
  // Never negative, so that leaving out the fraction rounds.
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
 * Approximates a query in up to 16 bits, at no cost for the scan, and as its kernel reads them: nearly all that is unknown of a similarity
 * is then what the codes of the memory leave out. No product with the codes of a row exceeds 31 bits, if the scale of
 * that row is not less than `leastScale` (or 0), because no sum of products exceeds the lengths of both.
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
  // What 32 bits round away is less than what the largest product falls short of 2^23.
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
 * Of the sum of the squares of what is left out: so much more, as vectors may be longer than 1. What 32 bits round away is a thousandth of
 * what is added.
 */
function residualOf(square: number): number {
  return Math.fround(UNIT * Math.sqrt(square) + ROUNDING);
}

/**
 * How far the dot product of two approximations can lie from that of the vectors, by Cauchy–Schwarz:
 * |q·m − q̂·m̂| ≤ |q|·|m − m̂| + |q − q̂|·|m̂|.
 */
export function dotError(queryResidual: number, memoryResidual: number): number {
  return memoryResidual + queryResidual * (1 + memoryResidual) + ROUNDING;
}
