// Synthetic memories for timing: seeded, of words that the built-in embedder knows, drawn by Zipf's law as words are.
import { readFileSync } from 'node:fs';

/** A seeded generator of numbers in [0, 1): mulberry32. */
export function seeded(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const types = ['fact', 'preference', 'event', 'decision', 'profile', 'learning'];
const year = 365 * 86_400_000;

/** `count` memories of 8–24 words, spread over a year before `now`. */
export function makeMemories(count, now, seed = 1) {
  const random = seeded(seed);
  const words = vocabulary();
  const word = () => words[Math.min(words.length - 1, Math.floor(words.length ** random()) - 1)];
  return Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    content: Array.from({ length: 8 + Math.floor(random() * 17) }, word).join(' '),
    type: types[Math.floor(random() * types.length)],
    importance: Math.round(random() * 100) / 100,
    createdAt: new Date(now - random() * year).toISOString(),
  }));
}

/** `count` queries of 3–7 words. */
export function makeQueries(count, seed = 2) {
  const random = seeded(seed);
  const words = vocabulary();
  const word = () =>
    words[Math.min(words.length - 1, Math.floor(words.length ** (0.3 + 0.7 * random())) - 1)];
  return Array.from({ length: count }, () =>
    Array.from({ length: 3 + Math.floor(random() * 5) }, word).join(' '),
  );
}

let cached;

/** The words of the embedder's table, most frequent first; src/providers/builtin/table.ts describes the file. */
export function vocabulary() {
  if (cached) return cached;
  const bytes = readFileSync(new URL('../dist/providers/builtin/table.bin', import.meta.url));
  const [, , , size, slots, blockBytes] = [0, 4, 8, 12, 16, 20].map((at) => bytes.readUInt32LE(at));
  const starts = 24 + 8 * size;
  const block = starts + 4 * (size + 1) + 4 * Math.ceil((2 * slots) / 4);
  const text = bytes.toString('latin1', block, block + blockBytes);
  const start = (word) => bytes.readUInt32LE(starts + 4 * word);
  cached = Array.from({ length: size }, (_, word) => text.slice(start(word), start(word + 1)));
  return cached;
}
