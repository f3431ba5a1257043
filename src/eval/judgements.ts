import type { DatasetQuery } from './dataset.ts';

/** Maps the ids of deduplicated memories to the ids they are stored under. See `EvaluationSpace.load`. */
export type KeptAs = ReadonlyMap<string, string>;

/** Returns the ids under which these memories are stored, each once. */
export function keptIds(ids: readonly string[], kept: KeptAs): readonly string[] {
  return [...new Set(ids.map((id) => kept.get(id) ?? id))];
}

/** Returns the judgements of a query with the ids under which the memories are stored. */
export function keptJudgements(
  query: Pick<DatasetQuery, 'relevant' | 'stale' | 'mustNot'>,
  kept: KeptAs,
): Pick<DatasetQuery, 'relevant' | 'stale' | 'mustNot'> {
  const relevant = keptIds(query.relevant, kept);
  // A memory that says the same as the answer is the answer, so it is not forbidden.
  const forbidden = (ids: readonly string[]) => keptIds(ids, kept).filter((id) => !relevant.includes(id));
  return {
    ...{ relevant, stale: forbidden(query.stale) },
    ...(query.mustNot && { mustNot: forbidden(query.mustNot) }),
  };
}
