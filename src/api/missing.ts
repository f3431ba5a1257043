import * as z from 'zod';
import { searchesOf, unsearched } from '../domain/unsearched.ts';
import type { Nothing, Trace } from '../index.ts';
import { counted } from './quote.ts';

export const nothingSchema = z
  .object({
    reason: z.enum(['no-memories', 'unsearched', 'irrelevant', 'no-match']),
    message: z.string(),
  } satisfies Record<keyof Nothing, z.ZodType>)
  .optional()
  .describe('Why nothing was found; absent where something was');

/**
 * Lists, in sentences for readers of the answer, what should have been searched but was not: searches that failed,
 * searches without which nothing could be found, memories without a vector, and, for a look back, memories that were
 * forgotten since.
 */
export function missingIn({
  arms,
  stages,
  asOf,
}: Pick<Trace, 'arms' | 'stages' | 'asOf'>): readonly string[] {
  const lines = [...unsearched(arms), ...forgottenSince(asOf?.redacted)];
  const vectors = stages.find(({ name }) => name === 'vector_search');
  const unseen = vectors ? vectors.candidates - vectors.survivors : 0;
  const [search, ...others] = searchesOf(arms);
  const isByVectorAlone = others.length === 0 && search?.name === 'vector' && search.status === 'ran';
  return isByVectorAlone && unseen > 0
    ? [...lines, `${counted(unseen, 'memory', 'memories')} could not be compared: without a vector`]
    : lines;
}

/** Says how many memories a look back can no longer show. */
export function forgottenSince(count: number | undefined): readonly string[] {
  return count
    ? [`${counted(count, 'memory', 'memories')} known then ${count === 1 ? 'was' : 'were'} forgotten since`]
    : [];
}

/** Returns the text of an answer without hits, or the warnings of an answer with hits. */
export function missingText(
  found: boolean,
  missing: readonly string[],
  nothing?: Nothing | undefined,
): readonly string[] {
  if (found) return missing.map((each) => `warning: ${each}`);
  return missing.length === 0
    ? [nothingText(nothing)]
    : ['could not search everything, and found nothing:', ...missing];
}

/** Says that nothing was found, why, and what would find more. */
export function nothingText(nothing: Nothing | undefined): string {
  if (!nothing) return 'nothing found';
  const { reason, message } = nothing;
  return reason === 'irrelevant'
    ? `${message}. A recall with minRelevance 0 finds the best of them`
    : message;
}
