import { lengthNormalization, termScore } from '../text/bm25.ts';
import { neighbourWeight } from '../text/context.ts';
import { grow, holding, type WholeNumbers } from './grow.ts';
import type { QueryWords } from './lexical.ts';
import { frequencyOf, type Postings, rowOf } from './postings.ts';
import type { ResidentIndex } from './resident-index.ts';
import { APART, SEEN, shareOf, type Turns, turnAfter, turnBefore } from './turns.ts';

/** Reused arrays that nothing keeps a reference to: for a large index, allocating them takes longer than using them. */
interface Room {
  /** A bit for each row that contains a word; 0 before and after each use. */
  bits: Uint32Array;
  /** A bit for each row that contains none but has such a row as a neighbour; 0 before and after each use. */
  beside: Uint32Array;
  /** How often rows contain some terms, the counts of one row side by side; 0 before and after each use. */
  counts: WholeNumbers;
  /** A bit for each of the terms that a row contains; 0 before and after each use. */
  masks: Uint8Array;
}

export const room: Room = {
  bits: new Uint32Array(0),
  beside: new Uint32Array(0),
  counts: new Uint8Array(0),
  masks: new Uint8Array(0),
};

/** Returns the rows that contain a word, and their neighbours. Ascending. */
export function touchedRows(
  size: number,
  postings: QueryWords['postings'],
  turns: Turns | undefined,
): Int32Array {
  room.bits = grow(room.bits, (size >> 5) + 1);
  room.beside = grow(room.beside, (size >> 5) + 1);
  const { bits, beside } = room;
  for (const each of postings) if (each) markRows(bits, each);
  if (turns && turns.count > 0) markBeside(size, turns);
  const words = (size >> 5) + 1;
  const rows = new Int32Array(bitsIn(bits, words) + bitsIn(beside, words));
  let found = 0;
  for (let word = 0; word < words; word++) {
    for (let left = bits[word]! | beside[word]!; left !== 0; left &= left - 1) {
      rows[found++] = (word << 5) + 31 - Math.clz32(left & -left);
    }
    bits[word] = 0;
    beside[word] = 0;
  }
  return rows;
}

/**
 * Sets bits without testing them first: whether a row already has one is unpredictable, so a branch would cost more.
 */
export function markRows(bits: Uint32Array, { entries, count }: Postings): void {
  for (let at = 0; at < count; at++) {
    const row = rowOf(entries[at]!);
    bits[row >> 5]! |= 1 << (row & 31);
  }
}

export function bitsIn(bits: Uint32Array, words: number): number {
  let count = 0;
  for (let word = 0; word < words; word++) {
    // Adds up pairs of bits, then fours, then bytes, all of a word at once.
    let sums = bits[word]!;
    sums -= (sums >>> 1) & 0x5555_5555;
    sums = (sums & 0x3333_3333) + ((sums >>> 2) & 0x3333_3333);
    count += Math.imul((sums + (sums >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
  }
  return count;
}

/** Marks the rows without a word that are neighbours of one with a word: up to two turns before and after it. */
function markBeside(size: number, turns: Turns): void {
  const { bits, beside } = room;
  const { joined } = turns;
  const last = size >> 5;
  // Handles turns in adjacent rows 32 at a time. A mark may cross from the next word to the last bit of this one, and
  // from the previous word to the first bit.
  let before = marksBefore(bits[0]!, joined[0]!, last > 0 ? bits[1]! & joined[1]! : 0);
  let after = 0;
  let bitsBefore = 0;
  for (let word = 0; word <= last; word++) {
    const own = bits[word]!;
    const joins = joined[word]!;
    let beforeNext = 0;
    if (word < last) {
      const beyond = word + 1 < last ? bits[word + 2]! & joined[word + 2]! : 0;
      beforeNext = marksBefore(bits[word + 1]!, joined[word + 1]!, beyond);
    }
    const afterLast = after;
    after = ((own << 1) | (bitsBefore >>> 31)) & joins;
    const first = marksBefore(before, joins, word < last ? beforeNext & joined[word + 1]! : 0);
    const second = ((after << 1) | (afterLast >>> 31)) & joins;
    beside[word] = (before | after | first | second) & ~own;
    before = beforeNext;
    bitsBefore = own;
  }
  if (turns.previous.length > 0) markFar(size, turns);
}

/**
 * Returns the rows whose next turn is marked. `next` is the part of the next word that is marked and joined: its first
 * bit marks the last row of this word.
 */
function marksBefore(marked: number, joins: number, next: number): number {
  return ((marked & joins) >>> 1) | (next << 31);
}

/** Marks the neighbours that are not adjacent rows. */
function markFar(size: number, { states, previous, next, far }: Turns): void {
  const { bits } = room;
  for (let word = 0; word <= size >> 5; word++) {
    for (let left = bits[word]! & far[word]!; left !== 0; left &= left - 1) {
      const row = (word << 5) + 31 - Math.clz32(left & -left);
      const state = states[row]!;
      const before = turnBefore(state, row, previous, -1);
      const after = turnAfter(state, row, next, -1);
      const first = before < 0 ? -1 : turnBefore(states[before]!, before, previous, -1);
      const last = after < 0 ? -1 : turnAfter(states[after]!, after, next, -1);
      if (before >= 0) markNew(before);
      if (after >= 0) markNew(after);
      if (first >= 0) markNew(first);
      if (last >= 0) markNew(last);
    }
  }
}

/** Marks a row as a neighbour unless it contains a word itself. */
function markNew(row: number): void {
  const bit = 1 << (row & 31);
  if ((room.bits[row >> 5]! & bit) === 0) room.beside[row >> 5]! |= bit;
}

/** How many terms are counted together, so that a row and its neighbours are visited once for all of them. */
export const TERMS = 8;

interface Counted {
  readonly masks: Uint8Array;
  readonly counts: WholeNumbers;
  /** The counts of a row begin at its number, shifted left by this. */
  readonly shift: number;
  clear(): void;
}

/** Makes room for the counts of some terms. */
function roomFor(size: number, postings: QueryWords['postings']): Omit<Counted, 'clear'> {
  const shift = 32 - Math.clz32(postings.length - 1);
  for (const each of postings) {
    for (const frequency of each?.large?.values() ?? []) room.counts = holding(room.counts, frequency);
  }
  // The extra row stands for a neighbour that does not exist.
  room.counts = grow(room.counts, (size + 1) << shift);
  room.masks = grow(room.masks, size + 1);
  return { counts: room.counts, masks: room.masks, shift };
}

/** Counts how often each row contains some terms. */
export function countTerms({ size }: ResidentIndex, postings: QueryWords['postings']): Counted {
  const { counts, masks, shift } = roomFor(size, postings);
  const length = (size + 1) << shift;
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
      // Clearing entries one by one takes as long as clearing eight times as many at once.
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

/**
 * Does the same for a few ascending rows and their neighbours; other rows are not read. Without `turns`, rows have no
 * neighbours.
 */
export function countNear(
  { size }: ResidentIndex,
  postings: QueryWords['postings'],
  turns: Turns | undefined,
  rows: Int32Array,
): Counted {
  const { counts, masks, shift } = roomFor(size, postings);
  const near = turns ? withNeighbours(rows, turns, size) : rows;
  for (const [term, each] of postings.entries()) {
    if (each) countAmong(each, term, near, counts, masks, shift);
  }
  return {
    masks,
    counts,
    shift,
    clear() {
      for (let at = 0; at < near.length; at++) {
        const row = near[at]!;
        for (let left = masks[row]!; left !== 0; left &= left - 1)
          counts[(row << shift) + 31 - Math.clz32(left & -left)] = 0;
        masks[row] = 0;
      }
    },
  };
}

function countAmong(
  postings: Postings,
  term: number,
  rows: Int32Array,
  counts: WholeNumbers,
  masks: Uint8Array,
  shift: number,
): void {
  const { entries, count } = postings;
  let at = 0;
  for (let each = 0; each < rows.length && at < count; each++) {
    const row = rows[each]!;
    at = entryAfter(entries, count, row, at);
    if (at === count) return;
    const entry = entries[at]!;
    if (rowOf(entry) !== row) continue;
    counts[(row << shift) + term] = frequencyOf(postings, entry);
    masks[row]! |= 1 << term;
  }
}

/** Returns the first place from `from` on whose row is not less than `row`. It is usually close. */
function entryAfter(entries: Uint32Array, count: number, row: number, from: number): number {
  // Of adjacent rows, most come before the next one that contains the term.
  if (rowOf(entries[from]!) >= row) return from;
  let low = from;
  let step = 1;
  while (low + step < count && rowOf(entries[low + step]!) < row) {
    low += step;
    step *= 2;
  }
  let end = Math.min(count, low + step);
  while (low < end) {
    const middle = (low + end) >> 1;
    if (rowOf(entries[middle]!) < row) low = middle + 1;
    else end = middle;
  }
  return low;
}

/** Returns these rows and their neighbours, ascending. */
function withNeighbours(rows: Int32Array, { states, previous, next }: Turns, size: number): Int32Array {
  const found = new Int32Array(5 * rows.length);
  // Adjacent rows come in order, so a row that is not after the last one was already added.
  const areNear = previous.length === 0;
  let count = 0;
  let last = -1;
  const add = (row: number) => {
    if (row === size || (areNear && row <= last)) return;
    found[count++] = row;
    last = row;
  };
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const state = states[row]!;
    const before = turnBefore(state, row, previous, size);
    const after = turnAfter(state, row, next, size);
    if (before !== size) add(turnBefore(states[before]!, before, previous, size));
    add(before);
    add(row);
    add(after);
    if (after !== size) add(turnAfter(states[after]!, after, next, size));
  }
  const all = found.subarray(0, count);
  if (areNear) return all;
  const sorted = all.sort();
  return sorted.filter((row, at) => row !== sorted[at - 1]);
}

function clearTerm(postings: Postings | undefined, term: number, counts: WholeNumbers, shift: number) {
  for (let at = 0; postings && at < postings.count; at++)
    counts[(rowOf(postings.entries[at]!) << shift) + term] = 0;
}

/** Adds the scores of some terms to the BM25 of rows. */
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

/**
 * Does the same for rows alone and with their neighbours. It adds up in the order of `contextRelevance`, so that both
 * give the same bits.
 */
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
    // The row beyond the last stands for a missing neighbour: it has no words.
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
