/**
 * How much the words of neighbouring turns count for a statement. Scalar definitions, in a fixed order of float64
 * operations, so that the resident index and the naive search get the same bits.
 *
 * Source: measured on two sets of conversations; docs/decisions/0063-words-in-context.md.
 */

/**
 * The neighbours whose words count, in the order in which they are added: the previous and the next turn, then the ones
 * beyond.
 */
export const NEIGHBOUR_OFFSETS = [-1, 1, -2, 2] as const;
export type NeighbourOffset = (typeof NEIGHBOUR_OFFSETS)[number];

/**
 * The length in terms up to which words count fully between neighbours. A long answer would otherwise drown out the
 * turns next to it.
 */
const SHORT_TEXT = 25;

const PREVIOUS = 0.3;
/** A question and its answer share their words. */
const PREVIOUS_QUESTION = 0.7;
const NEXT = 0.25;
const BEYOND = 0.15;

/**
 * Returns min(1, 25 / terms): how much the words of a text count for its neighbours, and theirs for it. `length` is in
 * terms, repetitions included.
 */
export function contextShare(length: number): number {
  return length <= SHORT_TEXT ? 1 : SHORT_TEXT / length;
}

/**
 * Returns the share of a neighbour's words that counts for the statement.
 *
 * @param offset the neighbour's place relative to the statement.
 * @param neighbourAsks whether its content contains a question mark.
 * @param own {@link contextShare} of the statement.
 * @param neighbours {@link contextShare} of the neighbour.
 * @returns 0 to 0.7.
 */
export function neighbourWeight(
  offset: NeighbourOffset,
  neighbourAsks: boolean,
  own: number,
  neighbours: number,
): number {
  const base = offset === -1 ? (neighbourAsks ? PREVIOUS_QUESTION : PREVIOUS) : offset === 1 ? NEXT : BEYOND;
  return base * (own * neighbours);
}

const QUESTION_MARK = /[?？؟]/u;

/** Whether a text contains a question mark of any script. */
export function holdsQuestion(content: string): boolean {
  return QUESTION_MARK.test(content);
}
