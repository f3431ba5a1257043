import { power } from './arithmetic.ts';

/** How steeply the value of a memory rises with its score, and how it grows with its length. */
const SCORE_EXPONENT = 6;
const LENGTH_EXPONENT = 0.5;

/**
 * What a memory is worth in a context: score⁶ · √tokens, in proportion to how likely it is to hold what is asked for.
 * A sum of plain scores would pay for three weak short memories what it pays for a strong long one, and evidence is
 * not spread like that: of memories that score 0.7 one in four holds the answer, of those that score 0.35 one in a
 * hundred. Source: measured, and recorded with the alternatives in docs/decisions/0025-worth-in-a-context.md and
 * docs/decisions/0067-evidence-as-a-probability.md.
 */
export function evidenceValue(score: number, tokens: number): number {
  return power(score, SCORE_EXPONENT) * power(tokens, LENGTH_EXPONENT);
}
