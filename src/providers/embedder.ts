/**
 * Turns texts into vectors. The one thing that decides whether two vectors may be compared is `model`:
 * it is stored with every vector, and vectors of two models are never mixed.
 */
export interface Embedder {
  /** Identity of the vector space, for example `builtin-1` or `openai-compatible:text-embedding-3-small:1536`. */
  readonly model: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /** The affine map that makes this model's cosine comparable with lexical relevance: 0 at `floor`, 1 at `ceiling`. */
  readonly calibration: Calibration;
  /** Cosines of this model at which the rules that need one act. */
  readonly thresholds: SimilarityThresholds;
  /**
   * One unit-length vector a text, in order; `undefined` for a text in which the model knows nothing. Plain arrays of numbers are
   * converted.
   * Throws `embedder_failed`, `embedder_mismatch` or `aborted`.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly (Float32Array | undefined)[]>;
}

export interface Calibration {
  readonly floor: number;
  readonly ceiling: number;
  /**
   * 0–1: the `minRelevance` of what asks for the measured floor (`'auto'`), as contexts and agents do. It has to keep the
   * answers of questions that have one. Default is none.
   */
  readonly minRelevance?: number | undefined;
}

export interface SimilarityThresholds {
  readonly conflict: number;
  readonly birthLink: number;
  readonly consolidation: number;
  readonly similarPair: number;
}

export interface EmbedOptions {
  /** Once it aborts, nobody waits for the answer any longer. An embedder that can stop its work then should. */
  readonly signal?: AbortSignal | undefined;
  /** Some models embed queries and passages differently. Default is `memory`. */
  readonly purpose?: 'query' | 'memory' | undefined;
}
