import { BLOCK_SIZE, type MutableBlock, reaches } from '../scoring/compile.ts';
import { isWithin, limitsOn, type ResolvedCondition } from '../scoring/condition.ts';
import { SIGNALS } from '../scoring/signals.ts';
import { classOfRow, countWithin, type Fill, type Similarities } from './fill.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { ByFloor } from './skim.ts';

// Counts the rows that meet a condition when some were skipped because others score higher:
// docs/decisions/0145-counted-afterwards.md

/** Counts the rows that may meet requirements which are all on the similarity. `withVector` of the rows have one. */
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

/** A block whose rows are bounded, and a spare one to fill. */
interface FloorBounds {
  readonly block: MutableBlock;
  readonly spare: MutableBlock;
  /** The upper bound of the floor's part, for each row of `block`. */
  high(): Float64Array;
  readonly atLeast: number;
  readonly slack: number;
}

/** Counts the rows from `fill` that may reach the floor. `fill` leaves out the rows that the skim puts below it. */
export function countAbove(
  { sessions }: ResidentIndex,
  fill: Fill,
  { skim, reaching }: ByFloor,
  { block, spare, high, atLeast, slack }: FloorBounds,
): number {
  let above = 0;
  for (let isMore = true; isMore; ) {
    spare.count = 0;
    isMore = fill(spare, BLOCK_SIZE);
    const { rows, count, similarityLow, similarityHigh } = spare;
    let open = 0;
    for (let at = 0; at < count; at++) {
      const row = rows[at]!;
      const least = reaching[classOfRow(skim, sessions.codes[row]!, row)]!;
      block.rows[open] = row;
      block.similarityLow[open] = similarityLow[at]!;
      block.similarityHigh[open] = similarityHigh[at]!;
      // Without a branch, which would be unpredictable. The similarity of a row without a vector is NaN.
      open += Number(!(similarityLow[at]! >= least));
    }
    above += count - open;
    block.count = open;
    const highest = high();
    for (let at = 0; at < open; at++) above += reaches(-Infinity, highest[at]!, atLeast, slack) === 0 ? 0 : 1;
  }
  return above;
}
