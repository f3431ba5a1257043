/** Judges how well some memories answer a query: a language model, or anything else that reads both. */
export interface Reranker {
  readonly model: string;
  /**
   * Scores of the passages that it could judge, in any order; `index` counts from 0. May leave some out, or all.
   * Anything it throws is reported in the answer, whose order then stays as it was. So is an answer that is no list of
   * `results`, or one of which no result has the index of a passage and a number as its score.
   */
  rerank(
    query: string,
    passages: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{
    readonly results: readonly { readonly index: number; readonly score: number }[];
    readonly promptTokens?: number | undefined;
    readonly completionTokens?: number | undefined;
  }>;
}
