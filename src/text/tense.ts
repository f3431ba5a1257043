const PAST = /\b(?:did|was|were|had)\b/iu;

/**
 * Whether a question asks about the past, by the auxiliary verbs of English ("what was the budget", "when did it
 * start"). The answer is then what was said at that time. Questions in other languages are not recognised.
 */
export function asksForThePast(query: string): boolean {
  return PAST.test(query);
}
