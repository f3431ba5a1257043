import type { DatasetQuery } from './dataset.ts';

/** Under which id each memory was stored, where that is not its own. See `EvaluationSpace.load`. */
export type KeptAs = ReadonlyMap<string, string>;

/** The ids under which these memories were stored, each once. */
export function keptIds(ids: readonly string[], kept: KeptAs): readonly string[] {
  return [...new Set(ids.map((id) => kept.get(id) ?? id))];
}

/** What a query judges, by the ids under which the memories were stored. */
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
