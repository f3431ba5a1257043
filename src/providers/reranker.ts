/** Judges how well memories answer a query: a language model, or anything else that reads both. */
export interface Reranker {
  readonly model: string;
  /**
   * Returns scores of the passages that it could judge, in any order; `index` counts from 0. It may leave out some or
   * all. If it throws, the order stays as it was and the answer reports the error. The same happens if it returns no
   * list of `results`, or if no result has the index of a passage and a number as its score.
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
