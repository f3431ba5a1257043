import { BLOCK_SIZE, type MutableBlock, reaches } from '../scoring/compile.ts';
import { isWithin, limitsOn, type ResolvedCondition } from '../scoring/condition.ts';
import { SIGNALS } from '../scoring/signals.ts';
import { classOfRow, countWithin, type Fill, type Similarities } from './fill.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { ByFloor } from './skim.ts';

// How many rows meet a condition, where some were passed over because others score more: see docs/decisions/0145.

/** Of some rows, `withVector` of which have a similarity, those that may meet requirements of nothing but that. */
export function countMeeting(
  index: ResidentIndex,
  rows: Int32Array,
  withVector: number,
  similarity: Similarities,
  require: readonly ResolvedCondition[],
): number {
  const limits = limitsOn('similarity', require)!;
  const others = isWithin(SIGNALS.similarity.otherwise, limits) ? rows.length - withVector : 0;
  return others + countWithin(index, rows, similarity, limits);
}

/** What bounds the rows of one block, and a second block. */
interface FloorBounds {
  readonly block: MutableBlock;
  readonly spare: MutableBlock;
  /** How high the floor's part of each row of the first block can be. */
  high(): Float64Array;
  readonly atLeast: number;
}

/** Of the rows that a skim does not call low, which fill blocks, those that may reach the floor. */
export function countAbove(
  { sessions }: ResidentIndex,
  fill: Fill,
  { skim, reaching }: ByFloor,
  { block, spare, high, atLeast }: FloorBounds,
): number {
  const { weak } = skim;
  const weakAt = (at: number) => (at < weak.length ? weak[at]! : Infinity);
  let above = 0;
  let nextAt = 0;
  let next = weakAt(nextAt);
  for (let isMore = true; isMore; ) {
    spare.count = 0;
    isMore = fill(spare, BLOCK_SIZE);
    const { rows, count, similarityLow, similarityHigh } = spare;
    let open = 0;
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      while (next < row) next = weakAt(++nextAt);
      const least = reaching[classOfRow(skim, sessions.codes[row]!, row, next === row)]!;
      block.rows[open] = row;
      block.similarityLow[open] = similarityLow[at]!;
      block.similarityHigh[open] = similarityHigh[at]!;
      // Nobody can guess which rows these are. Of one without a vector it is NaN.
      open += Number(!(similarityLow[at]! >= least));
    }
    above += count - open;
    block.count = open;
    const highest = high();
    for (let at = 0; at < open; at++) above += reaches(-Infinity, highest[at]!, atLeast) === 0 ? 0 : 1;
  }
  return above;
}
