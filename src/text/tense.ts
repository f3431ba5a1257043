const PAST = /\b(?:did|was|were|had)\b/iu;

/**
 * Whether a question asks for what was, by the auxiliary verbs of English ("what was the budget", "when did it start"):
 * its answer is what was said then. In other languages no question is known to.
 */
export function asksForThePast(query: string): boolean {
  return PAST.test(query);
}
