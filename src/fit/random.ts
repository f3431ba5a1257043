import { wholeNumber } from '../domain/check.ts';

const MOST_ROUNDS = 10_000_000;

/** Throws `invalid_argument` unless it is left out or a whole number from 0 to 2^32 − 1. */
export function checkSeed(seed: number | undefined): void {
  if (seed !== undefined) wholeNumber(seed, 'seed', 0, 2 ** 32 - 1);
}

/** Throws `invalid_argument` unless a number of draws is left out or a whole number from 1 to 10,000,000. */
export function checkRounds(rounds: number | undefined, field = 'rounds'): void {
  if (rounds !== undefined) wholeNumber(rounds, field, 1, MOST_ROUNDS);
}

/** Returns a generator of 32 random bits: mulberry32 by Tommy Ettinger, public domain. */
export function randomWords(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** Derives a seed from texts with FNV-1a, so that the draws for one question do not depend on other questions. */
export function seedOf(seed: number, ...texts: readonly string[]): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (const text of texts) {
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
    }
    hash = Math.imul(hash ^ 0x1f, 0x01000193) >>> 0;
  }
  return hash;
}

/** Returns the values in random order (Fisher and Yates). */
export function shuffled<Value>(values: readonly Value[], seed: number): readonly Value[] {
  const random = randomWords(seed);
  const result = [...values];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor((random() / 2 ** 32) * (last + 1));
    [result[last], result[other]] = [result[other] as Value, result[last] as Value];
  }
  return result;
}
