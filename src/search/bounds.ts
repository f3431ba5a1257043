import {
  BLOCK_SIZE,
  type Block,
  compileAll,
  compileConditions,
  emptyBlock,
  type Facts,
  type MutableBlock,
  reaches,
  type Sides,
  SLACK,
} from '../scoring/compile.ts';
import { EXACT_SIGNALS, isQuerySignal, isSignalName } from '../scoring/signals.ts';
import { columnsOf } from './belief-columns.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { dotError, type Quantised, quantiseQuery, ROUNDING } from './quantise.ts';
import type { QueryColumns } from './query-columns.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { IndexSearch } from './search.ts';
import { createSkim, type Skim } from './skim.ts';
import { createThreshold } from './threshold.ts';

/** Rows that could be among the best, and what is known of the others. */
export interface Survivors extends Kept {
  /** The highest upper bound of the rows that are not among them. */
  readonly discarded: number;
  readonly candidates: number;
  readonly belowFloor: number;
  readonly lexicalMatches: number;
  readonly withVector: number;
}

/** Rows that could be among the best, and their upper bounds. */
interface Kept {
  readonly rows: number[];
  readonly upper: number[];
}

type Tally = { -readonly [Name in Exclude<keyof Survivors, keyof Kept>]: Survivors[Name] };

/** Rows of the first block; the next ones are twice as large each. */
const FIRST_BLOCK = 64;

/** Bounds the score of every row, and keeps those that could be among the best. */
export function boundRows(index: ResidentIndex, search: IndexSearch): Survivors {
  const { profile, rows, now, limit } = search;
  const columns = columnsOf(index.columns, search.belief, search.kept);
  const block = emptyBlock(now);
  // Most rows fall by their upper bound: the lower one is worked out for the others alone, side by side.
  const chosen = emptyBlock(now);
  const compared = search.vector !== undefined && index.codes?.dimensions === search.vector.length;
  const facts = factsOf(index, search, compared);
  const { floor } = profile;
  const roots = floor ? [profile.root, floor.node] : [profile.root];
  const formulas = compileAll(roots, columns, { facts: { ...facts, block }, wanted: 'high' });
  const both = compileAll(roots, columns, { facts: { ...facts, block: chosen } });
  const judge = compileConditions(profile.require, columns);
  // What is kept is worth its while only where many rows are ranked; the same goes for passing over most of them.
  const skim =
    search.kept && search.skims ? createSkim(profile, columns, search.columns, compared) : undefined;
  const exact = exactColumns(search.columns);
  const { relevance } = search.columns.lexical;
  const lowest = createThreshold(limit);
  const places = new Int32Array(BLOCK_SIZE);
  const tally: Tally = { discarded: 0, candidates: 0, belowFloor: 0, lexicalMatches: 0, withVector: 0 };
  let kept: Kept = { rows: [], upper: [] };
  let room = 4 * limit + BLOCK_SIZE;
  const take = (block: Block) => {
    exact(block);
    countFound(block, relevance, tally);
    const verdict = profile.require.length > 0 ? judge(block) : undefined;
    const [{ high }, floored] = formulas.bounds(block) as readonly [Sides, Sides?];
    const floorBounds = floor && { high: floored!.high, atLeast: floor.atLeast };
    const found = selectPlaces(
      { high, verdict, floor: floorBounds, threshold: lowest.value() - SLACK },
      block.count,
      places,
      tally,
    );
    chosen.count = 0;
    for (let each = 0; each < found; each++) {
      const at = places[each]!;
      // Whether an undecided requirement is met is known only after evaluation: such a row pushes nobody out.
      if (verdict === undefined || verdict[at] === 1) copyRow(block, at, chosen);
      kept.rows.push(block.rows[at]!);
      kept.upper.push(Number.isNaN(high[at]!) ? Infinity : high[at]!);
    }
    if (chosen.count > 0) {
      const [bounds, floored] = both.bounds(chosen);
      for (let at = 0; at < chosen.count; at++) {
        const low = bounds!.low[at]!;
        const reached = floor ? reaches(floored!.low[at]!, floored!.high[at]!, floor.atLeast) : 1;
        if (low > 0 && reached === 1) lowest.offer(low);
      }
      skim?.raise(lowest.value());
    }
    if (kept.rows.length > room) {
      kept = sift(kept, lowest.value(), tally);
      // Where many are alike, few fall: looking through them again after each block would take the most time.
      room = Math.max(room, 2 * kept.rows.length);
    }
  };
  const fill = compared ? filledByVector(index, search.vector!, skim) : filledWithout(index, skim);
  // The first blocks are small: the sooner it is known what the best have, the more is passed over.
  let most = Math.min(BLOCK_SIZE, Math.max(FIRST_BLOCK, limit));
  for (let start = 0; start < rows.length; ) {
    start = fill(block, rows, start, most);
    if (block.count < most && start < rows.length) continue;
    take(block);
    block.count = 0;
    most = Math.min(BLOCK_SIZE, 2 * most);
  }
  if (skim) {
    const { candidates, belowFloor, withVector, highest } = skim.outcome();
    tally.withVector += withVector;
    tally.candidates += candidates;
    tally.belowFloor += belowFloor;
    tally.discarded = Math.max(tally.discarded, highest);
  }
  return { ...sift(kept, lowest.value(), tally), ...tally };
}

/** Adds the next rows to a block, until it has so many or none is left; returns how far it came. */
type Fill = (block: MutableBlock, rows: Int32Array, start: number, most: number) => number;

/** With the values that their similarity lies between; those that a skim passes over are left out. */
function filledByVector(index: ResidentIndex, vector: Float32Array, skim: Skim | undefined): Fill {
  const query = quantiseQuery(vector);
  let found: Int32Array = new Int32Array(0);
  let first = 0;
  /** Where the rows end whose products are at hand. */
  let scanned = 0;
  const scan = (rows: Int32Array, start: number) => {
    first = rows[start]!;
    const border = (Math.floor(first / SCAN_ROWS) + 1) * SCAN_ROWS;
    scanned = start + 1;
    while (scanned < rows.length && rows[scanned]! < border) scanned++;
    found = index.codes!.products(query.codes, first, rows[scanned - 1]! - first + 1);
  };
  return (block, rows, start, most) => {
    if (start >= scanned) scan(rows, start);
    const at = { products: found, first, start, end: scanned, most };
    return skim ? takeOrPass(index, query, skim, block, rows, at) : takeAll(index, query, block, rows, at);
  };
}

/** Consecutive rows of which the products with the query are at hand. */
interface Stretch {
  readonly products: Int32Array;
  /** The row of the first product. */
  readonly first: number;
  /** Places among the rows. */
  readonly start: number;
  readonly end: number;
  /** Rows that a block may have. */
  readonly most: number;
}

// Functions of their own, not within another: those that are made for each recall are slow for most of it. And what a loop reads
// of an object, it reads again for each row.
function takeAll(
  { scales, residuals }: ResidentIndex,
  { scale, residual }: Quantised<Int16Array>,
  block: MutableBlock,
  rows: Int32Array,
  { products, first, start, end, most }: Stretch,
): number {
  const { rows: into, similarityLow, similarityHigh } = block;
  let { count } = block;
  let at = start;
  for (; at < end && count < most; at++, count++) {
    const row = rows[at]!;
    const product = scale * scales[row]! * products[row - first]!;
    const error = dotError(residual, residuals[row]!);
    into[count] = row;
    similarityLow[count] = within01(product - error);
    similarityHigh[count] = within01(product + error);
  }
  block.count = count;
  return at;
}

function takeOrPass(
  { scales, residuals, sessions: { codes: sessions } }: ResidentIndex,
  { scale, residual }: Quantised<Int16Array>,
  { touched, classOf, cuts, least, passed: { counts, highest, withVector } }: Skim,
  block: MutableBlock,
  rows: Int32Array,
  { products, first, start, end, most }: Stretch,
): number {
  const { rows: into, similarityLow, similarityHigh } = block;
  const unseen = counts.length - 1;
  const spread = 1 + residual;
  const more = residual + 2 * ROUNDING;
  let { count } = block;
  let at = start;
  let known = 0;
  let passed = 0;
  let top = 0;
  for (; at < end && count < most; at++) {
    const row = rows[at]!;
    const product = scale * scales[row]! * products[row - first]!;
    // A little more than below, for the order in which it is added up.
    const reach = product + spread * residuals[row]! + more;
    if (reach <= least && touched[row] === 0) {
      if (reach > top) top = reach;
      passed++;
      continue;
    }
    const error = dotError(residual, residuals[row]!);
    const high = product + error;
    if (touched[row] === 0) {
      const each = classOf[sessions[row]!]!;
      const cut = cuts[each]!;
      // Of a row without a vector it is NaN.
      if (high <= cut || cut === Infinity) {
        counts[each]!++;
        if (high > highest[each]!) highest[each] = high;
        if (!Number.isNaN(high)) known++;
        continue;
      }
    }
    into[count] = row;
    similarityLow[count] = within01(product - error);
    similarityHigh[count] = within01(high);
    count++;
  }
  counts[unseen]! += passed;
  highest[unseen] = Math.max(highest[unseen]!, top);
  withVector[0]! += passed + known;
  block.count = count;
  return at;
}

/** NaN stays what it is: that of a row without a vector. */
function within01(value: number): number {
  return value < 0 ? 0 : value > 1 ? 1 : value;
}

/** Rows that are compared by no vector. */
function filledWithout(index: ResidentIndex, skim: Skim | undefined): Fill {
  return (block, rows, start, most) => {
    const { rows: into, similarityLow, similarityHigh } = block;
    const sessions = index.sessions.codes;
    const touched = skim?.touched;
    const areAllPassed = skim?.least === Infinity;
    let { count } = block;
    let at = start;
    let passed = 0;
    for (; at < rows.length && count < most; at++) {
      const row = rows[at]!;
      if (touched !== undefined && touched[row] === 0) {
        if (areAllPassed) {
          passed++;
          continue;
        }
        const each = skim!.classOf[sessions[row]!]!;
        if (skim!.cuts[each] === Infinity) {
          skim!.passed.counts[each]!++;
          continue;
        }
      }
      into[count] = row;
      similarityLow[count] = Number.NaN;
      similarityHigh[count] = Number.NaN;
      count++;
    }
    if (skim) skim.passed.counts[skim.passed.counts.length - 1]! += passed;
    block.count = count;
    return at;
  };
}

function countFound({ rows, similarityLow, count }: Block, relevance: Float64Array, tally: Tally): void {
  let matches = 0;
  let known = 0;
  for (let at = 0; at < count; at++) {
    if (relevance[rows[at]!]! > 0) matches++;
    if (!Number.isNaN(similarityLow[at]!)) known++;
  }
  tally.lexicalMatches += matches;
  tally.withVector += known;
}

interface Selection {
  readonly high: Float64Array;
  /** Of the requirements; absent where there are none. */
  readonly verdict: Uint8Array | undefined;
  readonly floor: { readonly high: Float64Array; readonly atLeast: number } | undefined;
  readonly threshold: number;
}

/** Writes down the places of a block that could be among the best; returns how many. */
function selectPlaces(
  { high, verdict, floor, threshold }: Selection,
  count: number,
  places: Int32Array,
  tally: Tally,
): number {
  let found = 0;
  let candidates = 0;
  let below = 0;
  let highest = 0;
  for (let at = 0; at < count; at++) {
    if (verdict !== undefined && verdict[at] === 0) continue;
    if (floor !== undefined && reaches(-Infinity, floor.high[at]!, floor.atLeast) === 0) {
      below++;
      continue;
    }
    candidates++;
    // One that is unknown, NaN, is neither.
    const upper = high[at]!;
    if (upper <= 0) continue;
    if (upper < threshold) {
      if (upper > highest) highest = upper;
    } else places[found++] = at;
  }
  tally.candidates += candidates;
  tally.belowFloor += below;
  tally.discarded = Math.max(tally.discarded, highest);
  return found;
}

/** Lets go of what has fallen below the threshold since. */
function sift(kept: Kept, threshold: number, tally: Tally): Kept {
  const left: Kept = { rows: [], upper: [] };
  kept.upper.forEach((upper, at) => {
    if (upper + SLACK < threshold) tally.discarded = Math.max(tally.discarded, upper);
    else {
      left.rows.push(kept.rows[at]!);
      left.upper.push(upper);
    }
  });
  return left;
}

/** Adds a row of a block to another one. */
function copyRow(from: Block, at: number, to: MutableBlock): void {
  const place = to.count++;
  to.rows[place] = from.rows[at]!;
  to.similarityLow[place] = from.similarityLow[at]!;
  to.similarityHigh[place] = from.similarityHigh[at]!;
  for (const name of EXACT_SIGNALS) to.exact[name][place] = from.exact[name][at]!;
}

/** Fills in what is known exactly of each row of a block; the rest of it stays NaN. */
function exactColumns({ exact }: QueryColumns): (block: Block) => void {
  const known = EXACT_SIGNALS.flatMap((name) => {
    const column = exact[name];
    return column ? [[name, column] as const] : [];
  });
  return (block) => {
    for (const [name, column] of known) column.fill(block.rows, block.count, block.exact[name]);
  };
}

/** What is known of all rows: a vector that every memory has, words that the query has or has not. */
function factsOf(index: ResidentIndex, { columns }: IndexSearch, compared: boolean): Facts {
  const all = index.vectors === index.size - index.dead ? true : undefined;
  return {
    known(name) {
      if (name === 'similarity') return compared ? all : false;
      return isSignalName(name) && isQuerySignal(name) ? columns.known(name) : undefined;
    },
  };
}
