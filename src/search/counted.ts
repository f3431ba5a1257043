import { BLOCK_SIZE, type MutableBlock, reaches } from '../scoring/compile.ts';
import { isWithin, limitsOn, type ResolvedCondition } from '../scoring/condition.ts';
import { SIGNALS } from '../scoring/signals.ts';
import { classOfRow, countWithin, type Fill, type Similarities } from './fill.ts';
import type { ResidentIndex } from './resident-index.ts';
import type { ByFloor } from './skim.ts';

// How many rows meet a condition, when some were passed over because others score higher: docs/decisions/0145-counted-afterwards.md

/** How many of these rows, `withVector` of which have a similarity, may meet requirements that are all about it. */
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

/** A block whose rows are bounded, and another one for rows on their way there. */
interface FloorBounds {
  readonly block: MutableBlock;
  readonly spare: MutableBlock;
  /** The upper bound of the floor's part, for each row of `block`. */
  high(): Float64Array;
  readonly atLeast: number;
  readonly slack: number;
}

/** How many rows may reach the floor, of those that `fill` gives: the ones that the skim does not put below it. */
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
      // No branch: it would be unpredictable. The similarity of a row without a vector is NaN.
      open += Number(!(similarityLow[at]! >= least));
    }
    above += count - open;
    block.count = open;
    const highest = high();
    for (let at = 0; at < open; at++) above += reaches(-Infinity, highest[at]!, atLeast, slack) === 0 ? 0 : 1;
  }
  return above;
}
