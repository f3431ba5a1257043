import { BESIDE, WORD_ROWS, type WordKernel } from './kernel/words.ts';
import { placeOf, type QueryWords } from './lexical.ts';
import { frequencyOf, type Postings, rowOf } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Turns } from './turns.ts';

/** Where a term of a query goes on. */
interface Cursor {
  readonly postings: Postings;
  readonly idf: number;
  at: number;
}

/** What is worked out for rows, at their places: see words.wat. */
export interface ScoredRows {
  readonly own: Float64Array;
  readonly around: Float64Array;
  readonly strengths: Uint8Array;
}

/**
 * Relevance of the words of rows, alone and with what stands beside them, block by block: a kernel scores all rows of a block. Returns
 * the places of the rows that it leaves out: those beside which a turn stands that is not the row beside them.
 */
export function scoreBlocks(
  index: ResidentIndex,
  words: QueryWords,
  turns: Turns,
  kernel: WordKernel,
  rows: Int32Array,
  { own, around, strengths }: ScoredRows,
): Int32Array {
  const cursors = words.postings.flatMap((postings, term): readonly Cursor[] =>
    postings ? [{ postings, idf: words.idfs[term]!, at: 0 }] : [],
  );
  const left = new Int32Array(countFar(turns, rows, 0, rows.length));
  let leftCount = 0;
  let place = 0;
  while (place < rows.length) {
    const start = rows[place]! - (rows[place]! % WORD_ROWS);
    const end = placeOf(rows, start + WORD_ROWS, place);
    const far = left.length > 0 ? countFar(turns, rows, place, end) : 0;
    if (far < end - place) scoreBlock(index, words, turns, kernel, cursors, start);
    for (; place < end; place++) {
      const row = rows[place]!;
      if (far > 0 && isFar(turns, row)) {
        left[leftCount++] = place;
        continue;
      }
      const at = row - start + BESIDE;
      own[place] = kernel.own[at]!;
      around[place] = kernel.around[at]!;
      strengths[place] = kernel.strengths[at]!;
    }
  }
  return left;
}

function isFar({ far }: Turns, row: number): boolean {
  return (far[row >> 5]! & (1 << (row & 31))) !== 0;
}

function countFar(turns: Turns, rows: Int32Array, from: number, end: number): number {
  let count = 0;
  if (turns.previous.length > 0) for (let at = from; at < end; at++) if (isFar(turns, rows[at]!)) count++;
  return count;
}

function scoreBlock(
  { size, lengths, asks }: ResidentIndex,
  { averageLength, idfSum }: QueryWords,
  { states }: Turns,
  kernel: WordKernel,
  cursors: readonly Cursor[],
  start: number,
): void {
  // The block with what stands beside it: at the ends of the index there is less.
  const from = Math.max(0, start - BESIDE);
  const end = Math.min(size, start + WORD_ROWS + BESIDE);
  const first = BESIDE - (start - from);
  const count = Math.min(size - start, WORD_ROWS);
  kernel.lengths.set(lengths.subarray(from, end), first);
  kernel.states.set(states.subarray(from, end), first);
  kernel.asks.set(asks.subarray(from, end), first);
  kernel.begin(count, averageLength);
  for (const cursor of cursors) addTerm(kernel, cursor, from, end, start, count);
  kernel.end(count, idfSum);
}

/** Rows of a term that are as near as this are added together, with those between. */
const NEAR = 16;

/** Adds what a term gives to `count` rows from `start` on, of which those from `from` to `end` are in them or beside them. */
function addTerm(
  { counts, add }: WordKernel,
  cursor: Cursor,
  from: number,
  end: number,
  start: number,
  count: number,
): void {
  const { postings, idf } = cursor;
  const { entries } = postings;
  const first = start - BESIDE;
  let { at } = cursor;
  while (at < postings.count && rowOf(entries[at]!) < from) at++;
  // The next block begins with rows of this one.
  cursor.at = at;
  const addRows = (low: number, high: number) =>
    add(Math.max(0, low - BESIDE - start), Math.min(count, high + BESIDE + 1 - start), idf);
  let low = -1;
  let high = -1;
  for (; at < postings.count; at++) {
    const entry = entries[at]!;
    const row = rowOf(entry);
    if (row >= end) break;
    if (low < 0) low = row;
    else if (row > high + NEAR) {
      addRows(low, high);
      low = row;
    }
    high = row;
    counts[row - first] = frequencyOf(postings, entry);
  }
  if (low < 0) return;
  addRows(low, high);
  counts.fill(0);
}
