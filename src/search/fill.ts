import type { Block, MutableBlock } from '../scoring/compile.ts';
import type { Limits } from '../scoring/condition.ts';
import { followRows, groupOf } from './groups.ts';
import { grow } from './grow.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS, LEFT_OUT } from './kernel/scan.ts';
import { placeAfter, placeOf } from './lexical.ts';
import { createPassing, type Passing } from './passing.ts';
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
  const picks: Picks = {
    rows: new Int32Array(SCAN_ROWS),
    at: 0,
    end: 0,
  };
  const passing = createPassing(index, skim, similarity);
  let start = 0;
  let among = 0;
  return (block, most) => {
    while (block.count < most) {
      if (picks.at === picks.end) {
        const from = passing.next(rows, start);
        const amongFrom = from < rows.length ? placeOf(strong, rows[from]!, among) : strong.length;
        const { counts } = skim.passed;
        counts[counts.length - 1]! += from - start - (amongFrom - among);
        start = from;
        among = amongFrom;
        if (start === rows.length) return false;
        const end = placeAfter(rows, passing.begin(rows[start]!), start);
        const next = placeOf(strong, rows[end - 1]! + 1, among);
        const those = rows.subarray(start, end);
        pickRows(index, similarity, skim, passing, those, strong.subarray(among, next), picks);
        start = end;
        among = next;
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

/** Rows that are left to look at. */
interface Picks {
  readonly rows: Int32Array;
  /** The place of the next row. */
  at: number;
  end: number;
}

/** Picks the rows of a run that are not below the lowest cut of their band and level. */
function pickRows(
  { codes, scales, residuals }: ResidentIndex,
  { products }: Similarities,
  { bandOf, levels, levelCount, strengths }: Skim,
  { band, least, reach, end: endRun }: Passing,
  rows: Int32Array,
  strong: Int32Array,
  picks: Picks,
): void {
  const { arrays } = codes!;
  const first = rows[0]!;
  const end = rows[rows.length - 1]! + 1;
  const count = end - first;
  arrays.products.set(products.subarray(first, end));
  arrays.scales.set(scales.subarray(first, end));
  arrays.residuals.set(residuals.subarray(first, end));
  const { states } = arrays;
  if (rows.length === count) states.fill(0, 0, count);
  else {
    states.fill(LEFT_OUT, 0, count);
    for (let at = 0; at < rows.length; at++) states[rows[at]! - first] = 0;
  }
  for (let at = 0; at < strong.length; at++) states[strong[at]! - first] = LEFT_OUT;
  const { leasts } = arrays;
  if (levels) {
    arrays.levels.set(levels.ofRow.subarray(first, end));
    codes!.spread(count, least.subarray(0, levelCount));
  } else leasts.fill(least[0]!, 0, count);
  if (strengths && band() > 0)
    setLeasts(leasts, least, strengths, bandOf, levels?.ofRow, levelCount, first, count);
  const found = codes!.pick(count, reach);
  for (let at = 0; at < found; at++) picks.rows[at] = first + arrays.picked[at]!;
  picks.at = 0;
  picks.end = found;
  endRun(rows.length - strong.length - found, arrays.highest[0]!);
}

/** Sets the lowest cut of rows whose words can match. */
function setLeasts(
  leasts: Float32Array,
  least: Float64Array,
  strengths: Uint8Array,
  bandOf: Uint8Array,
  levels: Uint8Array | undefined,
  levelCount: number,
  first: number,
  count: number,
): void {
  for (let at = 0; at < count; at++) {
    const band = bandOf[strengths[first + at]!]!;
    if (band > 0) leasts[at] = least[band * levelCount + (levels ? levels[first + at]! : 0)]!;
  }
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
