import { nothingOf, slackOf } from '../scoring/cancelling.ts';
import {
  BLOCK_SIZE,
  type Block,
  compileAll,
  compileConditions,
  type Facts,
  type MutableBlock,
  reaches,
  type Sides,
} from '../scoring/compile.ts';
import { gather } from '../scoring/gather.ts';
import { signalsRanked } from '../scoring/score.ts';
import { EXACT_SIGNALS, isQuerySignal, isSignalName } from '../scoring/signals.ts';
import { columnsOf } from './belief-columns.ts';
import { countAbove, countMeeting } from './counted.ts';
import { ELIGIBLE } from './eligible.ts';
import { type Fill, listed, picked, similarities, unpassed } from './fill.ts';
import { groupOf } from './groups.ts';
import { SCAN_ROWS } from './kernel/codes.ts';
import { GROUP_ROWS } from './kernel/scan.ts';
import type { QueryColumns } from './query-columns.ts';
import { blocks, readyFor, roomsFor } from './ready.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { IndexSearch } from './search.ts';
import { createSkim, type Skim } from './skim.ts';
import { createThreshold } from './threshold.ts';
import { countMatches } from './word-scores.ts';

/** The rows that could be among the best, and totals for all other rows. */
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

/** The number of rows in the first block. Each next block is twice as large. */
const FIRST_BLOCK = 64;

function clear(block: MutableBlock, now: number): MutableBlock {
  block.count = 0;
  block.now = now;
  block.until = now;
  for (const name of EXACT_SIGNALS) block.exact[name].fill(Number.NaN);
  return block;
}

/** Bounds the score of every row, and keeps those that could be among the best. */
export function boundRows(index: ResidentIndex, search: IndexSearch): Survivors {
  const { profile, rows, now, limit } = search;
  const [block, chosen] = [clear(blocks.all, now), clear(blocks.chosen, now)];
  const compared = search.vector !== undefined && index.codes?.dimensions === search.vector.length;
  const ready = readyFor(
    index,
    search,
    columnsOf(index.columns, search.belief, search.kept),
    factsOf(index, search, compared),
  );
  const { columns } = ready;
  const floor = profile.floor && { ...profile.floor, slack: slackOf(profile.floor.node) };
  const judge = compileConditions(profile.require, columns);
  // Kept bounds pay off only where many rows are ranked. So does skipping most rows.
  const skim = search.kept && search.skims ? createSkim(profile, ready, search.columns, compared) : undefined;
  const exact = exactColumns(search.columns, signalsRanked(profile));
  const lowest = createThreshold(limit);
  const slack = slackOf(profile.root);
  const nothing = nothingOf(profile.root);
  const places = new Int32Array(BLOCK_SIZE);
  const tally: Tally = {
    discarded: nothing,
    candidates: 0,
    belowFloor: 0,
    lexicalMatches: countMatches(
      search.columns.lexical,
      search.standing,
      ELIGIBLE,
      rows.length === index.size,
    ),
    withVector: compared ? countVectors(index, rows) : 0,
  };
  let kept: Kept = { rows: [], upper: [] };
  let mostKept = 4 * limit + BLOCK_SIZE;
  const take = (block: Block) => {
    exact(block);
    const verdict = profile.require.length > 0 ? judge(block) : undefined;
    const [{ high }, floored] = ready.all.bounds(block) as readonly [Sides, Sides?];
    const floorBounds = floor && { high: floored!.high, atLeast: floor.atLeast, slack: floor.slack };
    const found = selectPlaces(
      { high, verdict, floor: floorBounds, nothing, threshold: lowest.value() - slack },
      block.count,
      places,
      tally,
    );
    chosen.count = 0;
    for (let each = 0; each < found; each++) {
      const at = places[each]!;
      // Whether such a row meets an undecided requirement is known only after evaluation, so it must not raise the
      // threshold.
      if (verdict === undefined || verdict[at] === 1) copyRow(block, at, chosen);
      kept.rows.push(block.rows[at]!);
      kept.upper.push(Number.isNaN(high[at]!) ? Infinity : high[at]!);
    }
    if (chosen.count > 0) {
      const [bounds, floored] = ready.both.bounds(chosen);
      for (let at = 0; at < chosen.count; at++) {
        const low = bounds!.low[at]!;
        const reached = floor
          ? reaches(floored!.low[at]!, floored!.high[at]!, floor.atLeast, floor.slack)
          : 1;
        if (low > 0 && reached === 1) lowest.offer(low);
      }
    }
    if (kept.rows.length > mostKept) {
      kept = sift(kept, lowest.value() - slack, tally);
      // If many rows are alike, few are dropped. Sifting them again after each block would then take most of the time.
      mostKept = Math.max(mostKept, 2 * kept.rows.length);
    }
  };
  const byWords = skim === undefined || (search.columns.ranked && skim.strong.length > 0);
  const together = byWords ? undefined : rowsTogether(rows.length, limit);
  const similarity = compared ? similarities(index, search.vector!, rows, together) : undefined;
  // The first blocks are small: the sooner the threshold rises, the more rows are skipped.
  let most = Math.min(BLOCK_SIZE, Math.max(FIRST_BLOCK, limit));
  const takeFrom = (fill: Fill, raised?: Skim) => {
    for (let isMore = true; isMore; most = Math.min(BLOCK_SIZE, 2 * most)) {
      block.count = 0;
      isMore = fill(block, most);
      take(block);
      if (isMore) raised?.raise(lowest.value());
    }
  };
  if (skim) {
    // Rows with the words of the query are mostly the best: their scores decide how many other rows are looked at. If
    // words decide nothing, the rows that are most similar by their codes come first.
    const first = byWords || !similarity ? skim.strong : Int32Array.from(similarity.tops);
    const strong = eligibleAmong(first, search.standing);
    const others = (than: Skim) =>
      similarity ? picked(index, rows, strong, than, similarity) : unpassed(index, rows, strong, than);
    takeFrom(listed(index, strong, similarity));
    const { candidates, belowFloor } = tally;
    skim.raise(lowest.value());
    takeFrom(others(skim), skim);
    const outcome = skim.outcome(tally.discarded);
    tally.discarded = outcome.highest;
    if (!outcome.isOpen) {
      tally.candidates += outcome.candidates;
      tally.belowFloor += outcome.belowFloor;
    } else if (floor) {
      // Rows that were skipped because others score higher may also be below the floor.
      const byFloor = skim.byFloor();
      const above = countAbove(index, others(byFloor.skim), byFloor, {
        block,
        spare: chosen,
        atLeast: floor.atLeast,
        slack: floor.slack,
        high() {
          exact(block);
          return ready.all.bounds(block)[1]!.high;
        },
      });
      tally.candidates = candidates + above;
      tally.belowFloor = belowFloor + rows.length - strong.length - above;
    } else tally.candidates = countMeeting(index, rows, tally.withVector, similarity!, profile.require);
  } else takeFrom(listed(index, rows, similarity));
  const left = sift(kept, lowest.value() - slack, tally);
  return { rows: left.rows, upper: left.upper, ...tally };
}

/**
 * How many parts of the rows there are for each wanted hit; the most similar row of each part comes first. Few of the
 * best rows share a part.
 */
const PARTS = 8;

/** Returns how many rows one part has, a multiple of the rows of a group. */
function rowsTogether(rows: number, limit: number): number {
  return GROUP_ROWS * Math.max(1, Math.min(SCAN_ROWS / GROUP_ROWS, groupOf(rows / (PARTS * limit))));
}

/** Returns upper bounds for rows whose similarities are known exactly; `Infinity` where nothing bounds the score. */
export function boundKnown(
  index: ResidentIndex,
  { profile, belief, kept, columns: query, now }: IndexSearch,
  rows: Int32Array,
  similarities: Float64Array,
): Float64Array {
  const columns = columnsOf(index.columns, belief, kept);
  const block = clear(blocks.all, now);
  const facts: Facts = { known: () => undefined, block };
  const rooms = roomsFor('all');
  const formula = compileAll([gather(profile.root)], columns, { facts, wanted: 'high', rooms });
  const exact = exactColumns(query, signalsRanked(profile));
  const upper = new Float64Array(rows.length);
  for (let start = 0; start < rows.length; start += BLOCK_SIZE) {
    const end = Math.min(start + BLOCK_SIZE, rows.length);
    block.count = end - start;
    block.rows.set(rows.subarray(start, end));
    block.similarityLow.set(similarities.subarray(start, end));
    block.similarityHigh.set(similarities.subarray(start, end));
    exact(block);
    const [{ high }] = formula.bounds(block) as readonly [Sides];
    for (let at = start; at < end; at++) {
      const bound = high[at - start]!;
      upper[at] = Number.isNaN(bound) ? Infinity : bound;
    }
  }
  return upper;
}

function eligibleAmong(rows: Int32Array, standing: Uint8Array): Int32Array {
  const found = new Int32Array(rows.length);
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    if (standing[rows[at]!] === ELIGIBLE) found[count++] = rows[at]!;
  }
  return found.subarray(0, count);
}

function countVectors(index: ResidentIndex, rows: Int32Array): number {
  if (hasAllVectors(index)) return rows.length;
  let count = 0;
  for (let at = 0; at < rows.length; at++) if (!Number.isNaN(index.scales[rows[at]!]!)) count++;
  return count;
}

function hasAllVectors({ vectors, size, dead }: ResidentIndex): boolean {
  return vectors === size - dead;
}

interface Selection {
  readonly high: Float64Array;
  /** The verdict on the requirements for each row; `undefined` if there are no requirements. */
  readonly verdict: Uint8Array | undefined;
  readonly floor:
    | { readonly high: Float64Array; readonly atLeast: number; readonly slack: number }
    | undefined;
  /** A row whose upper bound is not above this has no score. */
  readonly nothing: number;
  readonly threshold: number;
}

/** Writes the places of those rows of a block that could be among the best to `places`. Returns how many there are. */
function selectPlaces(
  { high, verdict, floor, nothing, threshold }: Selection,
  count: number,
  places: Int32Array,
  tally: Tally,
): number {
  let found = 0;
  let candidates = 0;
  let below = 0;
  let highest = nothing;
  for (let at = 0; at < count; at++) {
    if (verdict !== undefined && verdict[at] === 0) continue;
    if (floor !== undefined && reaches(-Infinity, floor.high[at]!, floor.atLeast, floor.slack) === 0) {
      below++;
      continue;
    }
    candidates++;
    // NaN means unknown: both comparisons are then false, and the row stays.
    const upper = high[at]!;
    if (upper <= nothing) continue;
    if (upper < threshold) {
      if (upper > highest) highest = upper;
    } else places[found++] = at;
  }
  tally.candidates += candidates;
  tally.belowFloor += below;
  tally.discarded = Math.max(tally.discarded, highest);
  return found;
}

/** Drops rows whose upper bound is now below the threshold. */
function sift(kept: Kept, threshold: number, tally: Tally): Kept {
  const left: Kept = { rows: [], upper: [] };
  kept.upper.forEach((upper, at) => {
    if (upper < threshold) tally.discarded = Math.max(tally.discarded, upper);
    else {
      left.rows.push(kept.rows[at]!);
      left.upper.push(upper);
    }
  });
  return left;
}

/** Appends one row of a block to another block. */
function copyRow(from: Block, at: number, to: MutableBlock): void {
  const place = to.count++;
  to.rows[place] = from.rows[at]!;
  to.similarityLow[place] = from.similarityLow[at]!;
  to.similarityHigh[place] = from.similarityHigh[at]!;
  for (const name of EXACT_SIGNALS) to.exact[name][place] = from.exact[name][at]!;
}

/**
 * Returns a function that fills in the signals that are read and known exactly for each row of a block. The rest stay
 * NaN.
 */
function exactColumns({ exact }: QueryColumns, read: ReadonlySet<string>): (block: Block) => void {
  const known = EXACT_SIGNALS.flatMap((name) => {
    const column = read.has(name) ? exact[name] : undefined;
    return column ? [[name, column] as const] : [];
  });
  return (block) => {
    for (const [name, column] of known) column.fill(block.rows, block.count, block.exact[name]);
  };
}

/** Returns what is known of all rows: whether every memory has a vector, and which signals the query gives. */
function factsOf(index: ResidentIndex, { columns }: IndexSearch, compared: boolean): Facts {
  const all = hasAllVectors(index) ? true : undefined;
  return {
    known(name) {
      if (name === 'similarity') return compared ? all : false;
      return isSignalName(name) && isQuerySignal(name) ? columns.known(name) : undefined;
    },
  };
}
