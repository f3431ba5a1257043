import { lengthNormalization, termScore } from '../text/bm25.ts';
import { neighbourWeight } from '../text/context.ts';
import { grow, holding, type WholeNumbers } from './grow.ts';
import type { QueryWords } from './lexical.ts';
import { frequencyOf, type Postings, rowOf } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';
import { APART, SEEN, shareOf, type Turns, turnAfter, turnBefore } from './turns.ts';

/** Room to count in, which nothing holds on to: arrays of the size of a large index take longer to make than to use. */
interface Room {
  /** A bit for each row that has a word: 0 before and after each use. */
  bits: Uint32Array;
  /** The same for rows beside those. */
  beside: Uint32Array;
  /** How often rows have some terms, those of a row side by side: 0 before and after each use. */
  counts: WholeNumbers;
  /** Which of the terms each row has, a bit each: 0 before and after each use. */
  masks: Uint8Array;
}

export const room: Room = {
  bits: new Uint32Array(0),
  beside: new Uint32Array(0),
  counts: new Uint8Array(0),
  masks: new Uint8Array(0),
};

/** Ascending: the rows that have a word, and those that stand beside one. */
export function touchedRows(
  size: number,
  postings: QueryWords['postings'],
  turns: Turns | undefined,
): Int32Array {
  room.bits = grow(room.bits, (size >> 5) + 1);
  room.beside = grow(room.beside, (size >> 5) + 1);
  const { bits, beside } = room;
  let count = 0;
  for (const each of postings) {
    for (let at = 0; each && at < each.count; at++) count += mark(bits, rowOf(each.entries[at]!));
  }
  if (turns && turns.count > 0) count += markBeside(size, turns);
  const rows = new Int32Array(count);
  let found = 0;
  for (let word = 0; word <= size >> 5; word++) {
    for (let left = bits[word]! | beside[word]!; left !== 0; left &= left - 1) {
      rows[found++] = (word << 5) + 31 - Math.clz32(left & -left);
    }
    bits[word] = 0;
    beside[word] = 0;
  }
  return rows;
}

/** Marks what stands beside rows with a word; returns how many of those have none. */
function markBeside(size: number, { states, previous, next }: Turns): number {
  const { bits } = room;
  let added = 0;
  for (let word = 0; word <= size >> 5; word++) {
    for (let left = bits[word]!; left !== 0; left &= left - 1) {
      const row = (word << 5) + 31 - Math.clz32(left & -left);
      const state = states[row]!;
      if (state === 0) continue;
      const before = turnBefore(state, row, previous, -1);
      const after = turnAfter(state, row, next, -1);
      const first = before < 0 ? -1 : turnBefore(states[before]!, before, previous, -1);
      const last = after < 0 ? -1 : turnAfter(states[after]!, after, next, -1);
      if (before >= 0) added += markNew(before);
      if (after >= 0) added += markNew(after);
      if (first >= 0) added += markNew(first);
      if (last >= 0) added += markNew(last);
    }
  }
  return added;
}

/** Returns 1 for a row beside others that was not marked yet, and has no word. */
function markNew(row: number): number {
  return (room.bits[row >> 5]! & (1 << (row & 31))) === 0 ? mark(room.beside, row) : 0;
}

/** Returns 1 for a bit that was not set yet. */
export function mark(bits: Uint32Array, row: number): number {
  const word = row >> 5;
  const bit = 1 << (row & 31);
  const before = bits[word]!;
  if ((before & bit) !== 0) return 0;
  bits[word] = before | bit;
  return 1;
}

/** Terms that are counted together: a row and what stands beside it are looked at once for all of them. */
export const TERMS = 8;

interface Counted {
  readonly masks: Uint8Array;
  readonly counts: WholeNumbers;
  /** The counts of a row begin at its number, shifted left by so much. */
  readonly shift: number;
  clear(): void;
}

/** Writes down how often each row has some terms. */
export function countTerms({ size }: ResidentIndex, postings: QueryWords['postings']): Counted {
  const shift = 32 - Math.clz32(postings.length - 1);
  // One row more: it stands for one that is not there.
  const length = (size + 1) << shift;
  for (const each of postings) {
    for (const frequency of each?.large?.values() ?? []) room.counts = holding(room.counts, frequency);
  }
  room.counts = grow(room.counts, length);
  room.masks = grow(room.masks, size + 1);
  const { counts, masks } = room;
  let written = 0;
  for (const [term, each] of postings.entries()) {
    if (!each) continue;
    countTerm(each, term, counts, masks, shift);
    written += each.count;
  }
  return {
    masks,
    counts,
    shift,
    clear() {
      masks.fill(0, 0, size);
      // One after the other takes as long as eight times as many in one go.
      if (written * 8 > length) counts.fill(0, 0, length);
      else for (const [term, each] of postings.entries()) clearTerm(each, term, counts, shift);
    },
  };
}

function countTerm(
  postings: Postings,
  term: number,
  counts: WholeNumbers,
  masks: Uint8Array,
  shift: number,
): void {
  const { entries, count } = postings;
  for (let at = 0; at < count; at++) {
    const entry = entries[at]!;
    const row = rowOf(entry);
    counts[(row << shift) + term] = frequencyOf(postings, entry);
    masks[row]! |= 1 << term;
  }
}

function clearTerm(postings: Postings | undefined, term: number, counts: WholeNumbers, shift: number) {
  for (let at = 0; postings && at < postings.count; at++)
    counts[(rowOf(postings.entries[at]!) << shift) + term] = 0;
}

/** Adds to BM25 what terms give to rows. */
export function addScores(
  { lengths }: ResidentIndex,
  { averageLength }: QueryWords,
  { masks, counts, shift }: Counted,
  idfs: readonly number[],
  rows: Int32Array,
  bm25: Float64Array,
): void {
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const normalization = lengthNormalization(lengths[row]!, averageLength);
    let sum = bm25[at]!;
    for (let left = masks[row]!; left !== 0; left &= left - 1) {
      const term = 31 - Math.clz32(left & -left);
      sum += termScore(idfs[term]!, counts[(row << shift) + term]!, normalization);
    }
    bm25[at] = sum;
  }
}

/** The same of rows of sessions with what stands beside them, in the order in which `contextRelevance` adds up: both give the same bits. */
export function addAround(
  index: ResidentIndex,
  { averageLength }: QueryWords,
  { masks, counts, shift }: Counted,
  idfs: readonly number[],
  turns: Turns,
  rows: Int32Array,
  bm25: Float64Array,
  around: Float64Array,
): void {
  const { lengths, asks, size } = index;
  const { states, previous, next } = turns;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const state = states[row]!;
    let length = lengths[row]!;
    const normalizationAlone = lengthNormalization(length, averageLength);
    // What is not there is the row beyond the last: it has no words.
    let before = size;
    let after = size;
    let first = size;
    let last = size;
    let ofBefore = 0;
    let ofAfter = 0;
    let ofFirst = 0;
    let ofLast = 0;
    if ((state & (SEEN | APART)) === SEEN) {
      const own = shareOf(state, length);
      before = turnBefore(state, row, previous, size);
      after = turnAfter(state, row, next, size);
      if (before !== size) {
        const its = states[before]!;
        const long = lengths[before]!;
        ofBefore = neighbourWeight(-1, asks[before] === 1, own, shareOf(its, long));
        length += ofBefore * long;
        first = turnBefore(its, before, previous, size);
      }
      if (after !== size) {
        const its = states[after]!;
        const long = lengths[after]!;
        ofAfter = neighbourWeight(1, false, own, shareOf(its, long));
        length += ofAfter * long;
        last = turnAfter(its, after, next, size);
      }
      if (first !== size) {
        ofFirst = neighbourWeight(-2, false, own, shareOf(states[first]!, lengths[first]!));
        length += ofFirst * lengths[first]!;
      }
      if (last !== size) {
        ofLast = neighbourWeight(2, false, own, shareOf(states[last]!, lengths[last]!));
        length += ofLast * lengths[last]!;
      }
    }
    const normalization = lengthNormalization(length, averageLength);
    let sumAlone = bm25[at]!;
    let sum = around[at]!;
    let left = masks[row]! | masks[before]! | masks[after]! | masks[first]! | masks[last]!;
    for (; left !== 0; left &= left - 1) {
      const term = 31 - Math.clz32(left & -left);
      const count = counts[(row << shift) + term]!;
      const frequency =
        count +
        ofBefore * counts[(before << shift) + term]! +
        ofAfter * counts[(after << shift) + term]! +
        ofFirst * counts[(first << shift) + term]! +
        ofLast * counts[(last << shift) + term]!;
      if (frequency === 0) continue;
      const idf = idfs[term]!;
      if (count > 0) sumAlone += termScore(idf, count, normalizationAlone);
      sum += termScore(idf, frequency, normalization);
    }
    bm25[at] = sumAlone;
    around[at] = sum;
  }
}
