/**
 * What the turns around a statement add to its words. Scalar definitions, in a fixed order of float64 operations: the
 * resident index and the naive search both call them, and get the same bits.
 *
 * Source: measured on two sets of conversations; docs/decisions/0063-words-in-context.md.
 */

/** The neighbours whose words count, in the order in which they are added: previous, next, and the ones beyond. */
export const NEIGHBOUR_OFFSETS = [-1, 1, -2, 2] as const;
export type NeighbourOffset = (typeof NEIGHBOUR_OFFSETS)[number];

/** Terms up to which the words of neighbours count in full: a long answer would drown what is said beside it. */
const SHORT_TEXT = 25;

const PREVIOUS = 0.3;
/** A question and its answer share their words between them. */
const PREVIOUS_QUESTION = 0.7;
const NEXT = 0.25;
const BEYOND = 0.15;

/** min(1, 25 / terms): how much the words of a text count beside others, and others' beside it, by its length in terms, repetitions included. */
export function contextShare(length: number): number {
  return length <= SHORT_TEXT ? 1 : SHORT_TEXT / length;
}

/**
 * The share of a neighbour's words that count as the statement's own.
 *
 * @param offset where the neighbour stands, counted from the statement.
 * @param neighbourAsks whether its content holds a question mark.
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

/** Whether a text holds a question mark, in whatever script. */
export function holdsQuestion(content: string): boolean {
  return QUESTION_MARK.test(content);
}
