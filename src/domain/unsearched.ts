/** A part of a recall, such as a search, and its outcome. */
interface Part {
  readonly name: string;
  readonly status: 'ran' | 'not-used' | 'off' | 'failed' | 'blank';
  readonly reason?: string | undefined;
}

/** Returns the searches that a strategy uses; reranking is not a search. */
export function searchesOf<Each extends Part>(arms: readonly Each[]): readonly Each[] {
  return arms.filter(({ name, status }) => name !== 'rerank' && status !== 'not-used');
}

/**
 * Describes the parts that failed and, if no search ran at all, the searches that could not run; one sentence each.
 */
export function unsearched(arms: readonly Part[]): readonly string[] {
  const isNothingSearched = searchesOf(arms).every(({ status }) => status !== 'ran');
  return arms.flatMap(({ name, status, reason }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    if (status === 'failed') return [`the ${name} search failed${why}`];
    return isNothingSearched && (status === 'off' || status === 'blank')
      ? [`the ${name} search could not run${why}`]
      : [];
  });
}
