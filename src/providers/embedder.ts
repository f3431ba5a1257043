/**
 * Turns texts into vectors. Vectors may be compared only if their `model` is the same: it is stored with every vector,
 * and vectors of two models are never mixed.
 */
export interface Embedder {
  /** Identity of the vector space, for example `builtin-1` or `openai-compatible:text-embedding-3-small:1536`. */
  readonly model: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /** Maps this model's cosine linearly to the scale of lexical relevance: 0 at `floor`, 1 at `ceiling`. */
  readonly calibration: Calibration;
  /** Cosines of this model from which on the rules named here apply. */
  readonly thresholds: SimilarityThresholds;
  /**
   * Returns one unit-length vector per text, in order; `undefined` for a text in which the model knows nothing. Plain
   * arrays of numbers are converted. Throws `embedder_failed`, `embedder_mismatch` or `aborted`.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly (Float32Array | undefined)[]>;
}

/** An embedder of your own, as `openMemory` takes it: what is left out gets the defaults. */
export interface EmbedderInput extends Omit<Embedder, 'calibration' | 'thresholds'> {
  /** Default is a `floor` of 0.2 and a `ceiling` of 0.9. */
  readonly calibration?: Calibration | undefined;
  /** Default is 0.75 for `conflict`, 0.4 for `birthLink`, 0.7 for `consolidation`, 0.85 for `similarPair`. */
  readonly thresholds?: Partial<SimilarityThresholds> | undefined;
}

export interface Calibration {
  readonly floor: number;
  readonly ceiling: number;
  /**
   * 0–1. The `minRelevance` that `'auto'` stands for, as used by contexts and agents. It must not remove the answers of
   * questions that have one. Default is none.
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
  /** Once it aborts, nobody waits for the result any longer. An embedder that can stop its work should do so. */
  readonly signal?: AbortSignal | undefined;
  /** Some models embed queries and passages differently. Default is `memory`. */
  readonly purpose?: 'query' | 'memory' | undefined;
}
