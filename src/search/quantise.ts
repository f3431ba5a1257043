/** A unit vector in 8 bits a component: component ≈ scale · code. */
export interface Quantised {
  readonly codes: Int8Array;
  readonly scale: number;
  /** At least the length of the difference between the vector and its approximation. */
  readonly residual: number;
}

/** Floats that follow from many roundings may be off by this much, relative to a vector of length 1. */
export const ROUNDING = 1e-6;

/** Approximates a unit vector; the residual is what bounds every similarity computed from the codes. */
export function quantise(vector: Float32Array): Quantised {
  let largest = 0;
  for (const component of vector) largest = Math.max(largest, Math.abs(component));
  const scale = Math.fround(largest / 127);
  const codes = new Int8Array(vector.length);
  let square = 0;
  for (let at = 0; at < vector.length; at++) {
    const code = scale === 0 ? 0 : Math.max(-127, Math.min(127, Math.round(vector[at]! / scale)));
    codes[at] = code;
    const difference = vector[at]! - scale * code;
    square += difference * difference;
  }
  return { codes, scale, residual: Math.fround(Math.sqrt(square)) + ROUNDING };
}

/**
 * How far the dot product of two approximations can lie from that of the vectors, by Cauchy–Schwarz:
 * |q·m − q̂·m̂| ≤ |q|·|m − m̂| + |q − q̂|·|m̂|.
 */
export function dotError(queryResidual: number, memoryResidual: number): number {
  return memoryResidual + queryResidual * (1 + memoryResidual) + ROUNDING;
}
