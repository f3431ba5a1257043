import type { Trace } from '../index.ts';
import { counted } from './quote.ts';

/**
 * What should have been searched and was not, in sentences for whoever reads the answer: searches that failed, searches
 * without which nothing could be found, and memories that have nothing to compare.
 */
export function missingIn({ arms, stages }: Pick<Trace, 'arms' | 'stages'>): readonly string[] {
  const searches = arms.filter(({ name, status }) => name !== 'rerank' && status !== 'not-used');
  const blind = searches.length > 0 && searches.every(({ status }) => status !== 'ran');
  const lines = arms.flatMap(({ name, status, reason }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    if (status === 'failed') return [`the ${name} search failed${why}`];
    return blind && (status === 'off' || status === 'blank')
      ? [`the ${name} search could not run${why}`]
      : [];
  });
  const vectors = stages.find(({ name }) => name === 'vector_search');
  const unseen = vectors ? vectors.candidates - vectors.survivors : 0;
  const byVectorAlone = searches.length === 1 && searches[0]?.name === 'vector';
  return byVectorAlone && !blind && unseen > 0
    ? [...lines, `${counted(unseen, 'memory', 'memories')} could not be compared: without a vector`]
    : lines;
}

/** What an answer without hits says, and the warnings of one with hits. */
export function missingText(found: boolean, missing: readonly string[]): readonly string[] {
  if (found) return missing.map((each) => `warning: ${each}`);
  return missing.length === 0
    ? ['nothing found']
    : ['could not search everything, and found nothing:', ...missing];
}
