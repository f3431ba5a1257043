/** By length: 1 or −1 for each component. */
const signsOf = new Map<number, Float64Array>();

/**
 * Writes a rotated vector to `turned`: random signs and a Hadamard transform of the first 2^n components, then of the
 * last 2^n. Lengths and dot products stay the same, and what a few components held is spread over all of them. With
 * most embedders one component is many times as large as the others; few bits then represent the rotated vector much
 * better (docs/decisions/0095-rotated-codes.md).
 */
export function rotate(vector: Float32Array, turned: Float64Array): void {
  const { length } = vector;
  const signs = signsFor(length);
  for (let at = 0; at < length; at++) turned[at] = vector[at]!;
  let block = 1;
  while (2 * block <= length) block *= 2;
  for (let start = 0; ; start = length - block) {
    for (let at = start; at < start + block; at++) turned[at]! *= signs[at]!;
    transform(turned, start, start + block);
    if (start === length - block) return;
  }
}

/** Transforms in place, two steps at once, which halves the reads and writes. */
function transform(values: Float64Array, from: number, to: number): void {
  const length = to - from;
  let half = 1;
  for (; 4 * half <= length; half *= 4) {
    for (let start = from; start < to; start += 4 * half) {
      for (let at = start; at < start + half; at++) {
        const a = values[at]!;
        const b = values[at + half]!;
        const c = values[at + 2 * half]!;
        const d = values[at + 3 * half]!;
        const sum = a + b;
        const difference = a - b;
        const otherSum = c + d;
        const otherDifference = c - d;
        values[at] = sum + otherSum;
        values[at + half] = difference + otherDifference;
        values[at + 2 * half] = sum - otherSum;
        values[at + 3 * half] = difference - otherDifference;
      }
    }
  }
  // One step is left if their number is odd.
  if (half < length) {
    for (let at = from; at < from + half; at++) {
      const a = values[at]!;
      const b = values[at + half]!;
      values[at] = a + b;
      values[at + half] = a - b;
    }
  }
  const scale = 1 / Math.sqrt(length);
  for (let at = from; at < to; at++) values[at]! *= scale;
}

/** Returns fixed signs. They must never change: saved pages contain codes made with them. */
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
