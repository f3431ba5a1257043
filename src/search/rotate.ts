/** By length: 1 or −1 for each component. */
const signsOf = new Map<number, Float64Array>();

/**
 * A vector in other coordinates: signs and a Hadamard transform of the first 2^n components, then of the last 2^n.
 * Lengths and dot products stay as they are, and what a few components held is spread over all of them. Where one component is
 * many times as large as the others, as with most embedders, few bits say much more of the rotated vector
 * (docs/decisions/0095-rotated-codes.md).
 */
export function rotated(vector: Float32Array): Float64Array {
  const { length } = vector;
  const signs = signsFor(length);
  const turned = new Float64Array(vector);
  let block = 1;
  while (2 * block <= length) block *= 2;
  for (let start = 0; ; start = length - block) {
    for (let at = 0; at < block; at++) turned[start + at]! *= signs[start + at]!;
    transform(turned.subarray(start, start + block));
    if (start === length - block) return turned;
  }
}

/** In place. */
function transform(values: Float64Array): void {
  const { length } = values;
  for (let half = 1; half < length; half *= 2) {
    for (let start = 0; start < length; start += 2 * half) {
      for (let at = start; at < start + half; at++) {
        const a = values[at]!;
        const b = values[at + half]!;
        values[at] = a + b;
        values[at + half] = a - b;
      }
    }
  }
  const scale = 1 / Math.sqrt(length);
  for (let at = 0; at < length; at++) values[at]! *= scale;
}

/** Drawn once and for all: pages keep what was made with them. */
function signsFor(length: number): Float64Array {
  let signs = signsOf.get(length);
  if (!signs) {
    let state = 0x9e3779b9;
    signs = Float64Array.from({ length }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state < 0 ? -1 : 1;
    });
    signsOf.set(length, signs);
  }
  return signs;
}
