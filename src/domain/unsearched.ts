/** A search that a recall consists of, and what became of it. */
interface Search {
  readonly name: string;
  readonly status: 'ran' | 'not-used' | 'off' | 'failed' | 'blank';
  readonly reason?: string | undefined;
}

/**
 * What should have been searched and was not, in sentences: searches that failed, and searches without which nothing could be
 * found.
 */
export function unsearched(arms: readonly Search[]): readonly string[] {
  const isBlind = isNothingSearched(arms);
  return arms.flatMap(({ name, status, reason }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    if (status === 'failed') return [`the ${name} search failed${why}`];
    return isBlind && (status === 'off' || status === 'blank')
      ? [`the ${name} search could not run${why}`]
      : [];
  });
}

/** Whether none of the searches of a strategy ran. */
export function isNothingSearched(arms: readonly Search[]): boolean {
  const searches = arms.filter(({ name, status }) => name !== 'rerank' && status !== 'not-used');
  return searches.length > 0 && searches.every(({ status }) => status !== 'ran');
}
