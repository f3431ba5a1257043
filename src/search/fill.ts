import type { Block, MutableBlock } from '../scoring/compile.ts';
import type { Limits } from '../scoring/condition.ts';
import { followRows, groupOf, reachOf } from './groups.ts';
import { grow } from './grow.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS, NO_PRODUCT } from './kernel/scan.ts';
import { placeAfter, placeOf } from './lexical.ts';
import { createPassing, type Passing, passesOver, raiseHighest } from './passing.ts';
import { dotError, quantiseQuery } from './quantise.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { Skim } from './skim.ts';

/** Fills an empty block with the next rows, at most `most`. Returns whether any rows are left. */
export type Fill = (block: MutableBlock, most: number) => boolean;

/** What the bounds of similarities are computed from. */
export interface Similarities {
  /** By row: the dot product of its codes with those of the query. */
  readonly products: Int32Array;
  /** By group of rows: at least the highest product of the rows that were asked for. */
  readonly peaks: Int32Array;
  /** The row with the highest product of each part of the rows. Ascending. */
  readonly tops: readonly number[];
  /** The scale and residual of the query's codes. */
  readonly scale: number;
  readonly residual: number;
}

/** Reused arrays for the products of all rows and the peaks of all groups. Nothing keeps a reference to them. */
let room = new Int32Array(0);
let peaks = new Int32Array(0);

/**
 * Computes the products of `rows` with the query vector. The result is valid until the next call. If `together` is
 * given, a whole number of groups, `tops` has one row for each part of so many rows.
 */
export function similarities(
  index: ResidentIndex,
  vector: Float32Array,
  rows: Int32Array,
  together?: number,
): Similarities {
  followRows(index);
  const { codes: query, scale, residual } = quantiseQuery(vector, index.groups.leastScale);
  const codes = index.codes!;
  const span = together ?? SCAN_ROWS;
  room = grow(room, index.size);
  peaks = grow(peaks, groupOf(index.size) + 1);
  const tops: number[] = [];
  for (let start = 0; start < rows.length; ) {
    const first = rows[start]! - (rows[start]! % GROUP_ROWS);
    const end = placeAfter(rows, first - (first % span) + span, start);
    const count = rows[end - 1]! - first + 1;
    room.set(codes.products(query, first, count).subarray(0, count), first);
    const found = codes.peaks(count);
    const group = groupOf(first);
    let highest = 0;
    for (let at = 0; at * GROUP_ROWS < count; at++) {
      peaks[group + at] = found[at]!;
      if (found[at]! > found[highest]!) highest = at;
    }
    if (together !== undefined) tops.push(room.indexOf(found[highest]!, first + highest * GROUP_ROWS));
    start = end;
  }
  return { products: room, peaks, tops, scale, residual };
}

/** Returns a fill that gives each of `rows` with the bounds of its similarity. */
export function listed(index: ResidentIndex, rows: Int32Array, similarity: Similarities | undefined): Fill {
  let at = 0;
  return (block, most) => {
    const count = Math.min(most, rows.length - at);
    block.rows.set(rows.subarray(at, at + count));
    block.count = count;
    if (similarity) setSimilarities(index, similarity, block);
    else {
      block.similarityLow.fill(Number.NaN, 0, count);
      block.similarityHigh.fill(Number.NaN, 0, count);
    }
    at += count;
    return at < rows.length;
  };
}

/** Returns a fill that gives the rows which are not strong and which the skim does not skip. */
export function picked(
  index: ResidentIndex,
  rows: Int32Array,
  strong: Int32Array,
  skim: Skim,
  similarity: Similarities,
): Fill {
  const { counts } = skim.passed;
  // Rows whose class is looked up are taken off again.
  counts[counts.length - 1]! += rows.length - strong.length;
  const passing = createPassing(index, skim, similarity);
  const picks: Picks = { rows: new Int32Array(GROUP_ROWS), at: 0, end: 0 };
  let start = 0;
  let among = 0;
  return (block, most) => {
    while (block.count < most) {
      if (picks.at === picks.end) {
        let end = start;
        for (; start < rows.length; start = end) {
          const group = groupOf(rows[start]!);
          end = placeAfter(rows, (group + 1) * GROUP_ROWS, start);
          if (passesOver(passing, group)) continue;
          raiseHighest(passing, listAbove(index, passing, rows[start]!, rows[end - 1]!, picks));
          if (picks.end === 0) continue;
          among = placeOf(strong, rows[start]!, among);
          dropOthers(rows.subarray(start, end), strong, among, picks);
          counts[counts.length - 1]! -= picks.end;
          if (picks.end > 0) break;
        }
        if (start === rows.length) return false;
        start = end;
      }
      takePicks(index, similarity, skim, block, picks, most);
    }
    return picks.at < picks.end || start < rows.length;
  };
}

/** Does the same as {@link picked} where rows have no similarity. */
export function unpassed(
  { sessions }: ResidentIndex,
  rows: Int32Array,
  strong: Int32Array,
  skim: Skim,
): Fill {
  const { areAlike, cuts, passed } = skim;
  let at = 0;
  let among = 0;
  if (areAlike && cuts.every((each) => each === Infinity)) {
    passed.counts[passed.counts.length - 1] = rows.length - strong.length;
    at = rows.length;
  }
  return (block, most) => {
    const { rows: into, similarityLow, similarityHigh } = block;
    let { count } = block;
    for (; at < rows.length && count < most; at++) {
      const row = rows[at]!;
      if (row === strong[among]) {
        among++;
        continue;
      }
      const each = classOfRow(skim, sessions.codes[row]!, row);
      if (skim.cuts[each] === Infinity) {
        passed.counts[each]!++;
        continue;
      }
      into[count] = row;
      similarityLow[count] = Number.NaN;
      similarityHigh[count] = Number.NaN;
      count++;
    }
    block.count = count;
    return at < rows.length;
  };
}

/** Rows of a group whose class has to be looked up. */
interface Picks {
  readonly rows: Int32Array;
  /** The place of the next row. */
  at: number;
  end: number;
}

/**
 * Lists the rows of a group, from `first` to `last`, that are not skipped whatever the class of their session. Returns
 * the highest similarity that one of the others can have; `-Infinity` if there are none.
 */
function listAbove(
  { scales, residuals }: ResidentIndex,
  passing: Passing,
  first: number,
  last: number,
  picks: Picks,
): number {
  const { skim, similarities, most, leasts } = passing;
  const { bandOf, levels, levelCount, strengths } = skim;
  const { products, scale, residual } = similarities;
  const { rows } = picks;
  const ofRow = levels?.ofRow;
  let count = 0;
  let peak = NO_PRODUCT;
  let highest = -Infinity;
  for (let row = first; row <= last; row++) {
    const product = products[row]!;
    if (product > most) {
      const band = strengths ? bandOf[strengths[row]!]! : 0;
      const least = leasts[ofRow ? band * levelCount + ofRow[row]! : band]!;
      const high = scale * scales[row]! * product + dotError(residual, residuals[row]!);
      // It is NaN for a row without a vector.
      if (!(high <= least)) rows[count++] = row;
      else if (high > highest) highest = high;
    } else if (product > peak) peak = product;
  }
  picks.at = 0;
  picks.end = count;
  return peak > NO_PRODUCT ? Math.max(highest, reachOf(passing, peak)) : highest;
}

/** Drops the picks that are not among `rows`, and those that are among `strong`, from the place `from` on. */
function dropOthers(rows: Int32Array, strong: Int32Array, from: number, picks: Picks): void {
  let place = 0;
  let among = from;
  let count = 0;
  for (let at = 0; at < picks.end; at++) {
    const row = picks.rows[at]!;
    place = placeAfter(rows, row, place);
    while (strong[among]! < row) among++;
    if (rows[place] === row && strong[among] !== row) picks.rows[count++] = row;
  }
  picks.end = count;
}

// These are top-level functions because closures created for each recall run unoptimised for most of it. They
// destructure objects first because a loop would read their fields again for each row.
function setSimilarities(
  { scales, residuals }: ResidentIndex,
  { products, scale, residual }: Similarities,
  { rows, count, similarityLow, similarityHigh }: Block,
): void {
  for (let at = 0; at < count; at++) {
    const row = rows[at]!;
    const product = scale * scales[row]! * products[row]!;
    const error = dotError(residual, residuals[row]!);
    similarityLow[at] = within01(product - error);
    similarityHigh[at] = within01(product + error);
  }
}

/**
 * Counts the rows whose similarity may lie within the limits, as far as the codes tell. Rows without a vector do not
 * count.
 */
export function countWithin(
  { scales, residuals }: ResidentIndex,
  rows: Int32Array,
  { products, scale, residual }: Similarities,
  { above = -1, atLeast = 0, below = 2, atMost = 1 }: Limits,
): number {
  // Similarities lie in [0, 1], but bounds by codes may lie outside, so a limit at or beyond an end must not exclude
  // any.
  const [moreThan, least] = [above < 0 ? -Infinity : above, atLeast <= 0 ? -Infinity : atLeast];
  const [lessThan, most] = [below > 1 ? Infinity : below, atMost >= 1 ? Infinity : atMost];
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!;
    const product = scale * scales[row]! * products[row]!;
    const error = dotError(residual, residuals[row]!);
    const low = product - error;
    const high = product + error;
    // Without branches, which would be unpredictable, this takes a sixth of the time.
    count += Number(high > moreThan) & Number(high >= least) & Number(low < lessThan) & Number(low <= most);
  }
  return count;
}

function takePicks(
  { scales, residuals, sessions: { codes: sessions } }: ResidentIndex,
  { products, scale, residual }: Similarities,
  skim: Skim,
  block: MutableBlock,
  picks: Picks,
  most: number,
): void {
  const { rows: into, similarityLow, similarityHigh } = block;
  const { rows, end } = picks;
  const {
    cuts,
    passed: { counts, highest },
  } = skim;
  let { count } = block;
  let { at } = picks;
  for (; at < end && count < most; at++) {
    const row = rows[at]!;
    const product = scale * scales[row]! * products[row]!;
    const error = dotError(residual, residuals[row]!);
    const high = product + error;
    const each = classOfRow(skim, sessions[row]!, row);
    const cut = cuts[each]!;
    // For a row without a vector, `high` is NaN.
    if (high <= cut || cut === Infinity) {
      counts[each]!++;
      if (high > highest[each]!) highest[each] = high;
      continue;
    }
    into[count] = row;
    similarityLow[count] = within01(product - error);
    similarityHigh[count] = within01(high);
    count++;
  }
  block.count = count;
  picks.at = at;
}

/** Returns the class of a row: by its session, its level, and how well its words can match. */
export function classOfRow(
  { bandOf, bandSize, classOf, levels, levelCount, strengths }: Skim,
  session: number,
  row: number,
): number {
  const from = strengths ? bandOf[strengths[row]!]! * bandSize : 0;
  return from + (levels ? classOf[session]! * levelCount + levels.ofRow[row]! : classOf[session]!);
}

/** Clamps to [0, 1]. NaN, of a row without a vector, stays NaN. */
function within01(value: number): number {
  return value < 0 ? 0 : value > 1 ? 1 : value;
}
