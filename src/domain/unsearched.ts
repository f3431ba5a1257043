/** A part of a recall, such as a search, and what became of it. */
interface Part {
  readonly name: string;
  readonly status: 'ran' | 'not-used' | 'off' | 'failed' | 'blank';
  readonly reason?: string | undefined;
}

/** The searches that a strategy uses: putting what was found into another order is none. */
export function searchesOf<Each extends Part>(arms: readonly Each[]): readonly Each[] {
  return arms.filter(({ name, status }) => name !== 'rerank' && status !== 'not-used');
}

/**
 * What should have taken part and did not, in sentences: parts that failed, and searches without which nothing could be
 * found.
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
