import { power } from './arithmetic.ts';

/** How steeply the value of a memory rises with its score, and how it grows with its length. */
const SCORE_EXPONENT = 6;
const LENGTH_EXPONENT = 0.5;

/**
 * Returns the value of a memory in a context: score⁶ · √tokens, proportional to the probability that it contains the
 * answer. With a sum of plain scores, three short weak memories would be worth as much as one long strong memory.
 * Evidence is distributed differently: of memories that score 0.7, one in four holds the answer; of those that score
 * 0.35, one in a hundred. Source: measured, see docs/decisions/0025-worth-in-a-context.md and
 * docs/decisions/0067-evidence-as-a-probability.md.
 */
export function evidenceValue(score: number, tokens: number): number {
  return power(score, SCORE_EXPONENT) * power(tokens, LENGTH_EXPONENT);
}
