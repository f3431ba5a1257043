import { BM25_B, BM25_K1 } from '../text/bm25.ts';
import { groupOf } from './groups.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import { BESIDE, STRENGTHS, WORD_ROWS, type WordKernel } from './kernel/words.ts';
import type { QueryWords } from './lexical.ts';
import { frequencyOf, LARGE, type Postings, rowOf } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';
import { bitsIn } from './word-rows.ts';

/** Upper bounds of how well the words of each row, alone or with their neighbours, match a query. */
export interface WordBounds {
  /** By row, in steps of 1 / STRENGTHS, rounded up; 0 if no word touches the row. */
  readonly strengths: Uint8Array;
  /** The highest strength of each group of rows. */
  readonly tops: Uint8Array;
  /** How many rows have each strength. Of strength 0, some rows are missing. */
  readonly counts: Uint32Array;
  /** How many rows contain a word. */
  readonly matches: number;
}

/** A term of the query, and the next of its postings to read. */
interface Cursor {
  readonly postings: Postings;
  readonly idf: number;
  at: number;
}

/** The largest relative error of a 32-bit float. */
const ROUNDING_32 = 2 ** -24;
/** More operations than it takes to get from a sum to a strength. */
const OPERATIONS = 64;

/**
 * The kernel assumes that neighbouring turns are neighbouring rows. If that is false for more than this share of the
 * rows, nothing is bounded.
 */
const FAR = 1 / 256;
/** Up to this many such rows are accepted in any index. */
const FEW_FAR = 16;

export function canBeBounded(
  { size }: ResidentIndex,
  { averageLength, idfSum }: QueryWords,
  turns: Turns | undefined,
): boolean {
  if (!(averageLength > 0) || !(idfSum > 0)) return false;
  if (!turns || turns.previous.length === 0) return true;
  return bitsIn(turns.far, (size >> 5) + 1) <= Math.max(FEW_FAR, size * FAR);
}

/**
 * Yields the rows that have a turn up to two places off which is not the row at that offset, and the rows beside those.
 * Ascending.
 */
function* farRows({ far, previous }: Turns, size: number): Generator<number> {
  if (previous.length === 0) return;
  for (let word = 0; word <= size >> 5; word++) {
    for (let left = far[word]!; left !== 0; left &= left - 1) {
      const row = (word << 5) + 31 - Math.clz32(left & -left);
      if (row < size) yield row;
    }
  }
}

/** Bounds the words of all rows, block by block. */
export function boundWords(
  index: ResidentIndex,
  { postings, idfs, idfSum, averageLength }: QueryWords,
  turns: Turns | undefined,
  kernel: WordKernel,
): WordBounds {
  const { size } = index;
  // `rowsAbove` reads four at a time.
  const strengths = new Uint8Array((size + 3) & ~3);
  const tops = new Uint8Array(Math.ceil(size / WORD_ROWS) * (WORD_ROWS / GROUP_ROWS));
  const cursors = postings.flatMap((each, term): readonly Cursor[] =>
    each ? [{ postings: each, idf: idfs[term]!, at: 0 }] : [],
  );
  for (const each of kernel.counts) each.fill(0);
  let matches = 0;
  const lengthPart = (BM25_K1 * BM25_B) / averageLength;
  const slack = 1 + (OPERATIONS + 2 * postings.length) * ROUNDING_32;
  for (let start = 0; start < size; start += WORD_ROWS) {
    const count = Math.min(size - start, WORD_ROWS);
    if (!sumTerms(kernel, cursors, start, count)) continue;
    copyRows(kernel, index, turns, start, count);
    matches += kernel.bound(count, lengthPart, slack / idfSum);
    kernel.sums.fill(0);
    strengths.set(count < WORD_ROWS ? kernel.strengths.subarray(0, count) : kernel.strengths, start);
    tops.set(kernel.tops, start / GROUP_ROWS);
  }
  const counts = Uint32Array.from({ length: STRENGTHS + 1 }, (_, strength) =>
    kernel.counts.reduce((sum, each) => sum + each[strength]!, 0),
  );
  // The kernel read the wrong neighbours for these rows, so they get the highest strength.
  for (const row of turns ? farRows(turns, size) : []) {
    counts[strengths[row]!]!--;
    counts[STRENGTHS]!++;
    strengths[row] = STRENGTHS;
    tops[groupOf(row)] = STRENGTHS;
  }
  return { strengths, tops, counts, matches };
}

/** Adds the terms up for some rows and those beside them. Returns whether any of them contains one. */
function sumTerms({ sums }: WordKernel, cursors: readonly Cursor[], start: number, count: number): boolean {
  const first = start - BESIDE;
  const end = start + count + BESIDE;
  let isAny = false;
  for (const cursor of cursors) {
    const { postings, idf } = cursor;
    let { at } = cursor;
    while (at < postings.count && rowOf(postings.entries[at]!) < first) at++;
    // The next block begins with rows of this one, so it starts at the same place.
    cursor.at = at;
    if (sumTerm(sums, postings, at, first, end, idf) > at) isAny = true;
  }
  return isAny;
}

/** Adds what a term contributes to rows before `end`. Returns the place of the first posting that is not. */
function sumTerm(
  sums: Float32Array,
  postings: Postings,
  from: number,
  first: number,
  end: number,
  idf: number,
): number {
  const { entries, count } = postings;
  let at = from;
  for (; at < count; at++) {
    const entry = entries[at]!;
    const row = rowOf(entry);
    if (row >= end) break;
    const frequency = entry & LARGE;
    sums[row - first]! += idf * (frequency === LARGE ? frequencyOf(postings, entry) : frequency);
  }
  return at;
}

/** Copies the data of some rows, and of those beside them, to the kernel. At the ends of the index there are fewer. */
function copyRows(
  { states, lengths, asks }: WordKernel,
  index: ResidentIndex,
  turns: Turns | undefined,
  start: number,
  count: number,
): void {
  const from = Math.max(0, start - BESIDE);
  const end = Math.min(index.size, start + count + BESIDE);
  const first = BESIDE - (start - from);
  lengths.set(index.lengths.subarray(from, end), first);
  asks.set(index.asks.subarray(from, end), first);
  if (!turns || end - from < WORD_ROWS + 2 * BESIDE) states.fill(0);
  if (turns) states.set(turns.states.subarray(from, end), first);
}

/** Returns the rows whose strength is above `end`, ascending: at least `fewest`, or all that a word touches. */
export function strongest(
  { strengths, counts }: WordBounds,
  size: number,
  fewest: number,
): { readonly rows: Int32Array; readonly end: number } {
  let end = STRENGTHS;
  let count = 0;
  for (; end > 0 && count < fewest; end--) count += counts[end]!;
  return { rows: rowsAbove(strengths, size, end, count), end };
}

/** Returns the rows whose strength is above `end`, ascending. There are `count` of them. */
function rowsAbove(strengths: Uint8Array, size: number, end: number, count: number): Int32Array {
  const rows = new Int32Array(count);
  // Tests four rows at a time: in a byte, 0x80 + strength − end − 1 has its highest bit set if the strength is above
  // `end`.
  const words = new Int32Array(strengths.buffer, 0, strengths.length >> 2);
  const least = Math.imul(end + 1, 0x0101_0101);
  let found = 0;
  for (let word = 0; found < count && word << 2 < size; word++) {
    if ((((words[word]! | HIGHEST) - least) & HIGHEST) === 0) continue;
    for (let row = word << 2; found < count && row < (word << 2) + 4; row++) {
      if (strengths[row]! > end) rows[found++] = row;
    }
  }
  return rows;
}

/** The highest bit of each of four bytes. */
const HIGHEST = 0x8080_8080 | 0;
