/** The stages of a recall, in the order in which they run; `hydrate` reads what is returned, `other` is time in none of them. */
export type StageName =
  | 'analyze'
  | 'eligible'
  | 'validity_filter'
  | 'bm25_search'
  | 'vector_search'
  | 'score'
  | 'floor'
  | 'rerank'
  | 'expand'
  | 'bridge'
  | 'merge'
  | 'edges'
  | 'hydrate'
  | 'pack'
  | 'other'
  | 'effects'
  | 'record';

/** What one stage saw, kept and cost. */
export interface StageTrace {
  readonly name: StageName;
  readonly candidates: number;
  readonly survivors: number;
  /**
   * Which of the two numbers is an upper bound: how many memories reach a floor of relevance, or have a similarity that the
   * profile requires, is not decided for those that cannot be among the hits. With a greater `limit` it comes nearer.
   */
  readonly atMost?: 'candidates' | 'survivors' | undefined;
  readonly durationMs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Why the stage did less than it should have. */
  readonly reason?: string | undefined;
}

/** Whether one way of finding or ordering memories took part in an answer. */
export interface Arm {
  readonly name: 'lexical' | 'vector' | 'dates' | 'rerank';
  /**
   * `ran`; `not-used`: the strategy does not read it; `off`: it is not configured; `failed`: it should have run, and
   * the answer is the poorer for it; `blank`: the query holds nothing that it knows.
   */
  readonly status: 'ran' | 'not-used' | 'off' | 'failed' | 'blank';
  readonly reason?: string | undefined;
}

/** How an answer came about. Every answer carries one. */
export interface Trace {
  readonly strategy: string;
  /** Of the formula and its parameters. */
  readonly profileHash: string;
  readonly stages: readonly StageTrace[];
  readonly totalMs: number;
  readonly totalTokens: number;
  /** `exact`: no memory outside the hits scores above `upperBound` by itself, without what it inherits along links. */
  readonly completeness: 'exact' | 'approximate';
  readonly upperBound: number;
  /** The floor of relevance, where there is one: the bound is of the memories that reach it. */
  readonly minRelevance?: number | undefined;
  readonly arms: readonly Arm[];
  /** The dates that the query names, as far as the strategy looks at them. Times are ISO 8601; `to` is not included. */
  readonly dates?:
    | readonly { readonly text: string; readonly from: string; readonly to: string }[]
    | undefined;
  /** Words of the query that no visible memory has, and the terms that were looked for in their place. */
  readonly spelling?: readonly SpelledWord[] | undefined;
  /** Sequence of the last write that the answer takes into account. */
  readonly sequence: number;
  /** The id of its recording, where recalls are recorded. */
  readonly recallId?: string | undefined;
  /**
   * Set where the resident index was dropped and rebuilt first: the log is not the one that it followed, because the
   * space was reindexed, or a backup restored, while it was open.
   */
  readonly indexRebuilt?: true | undefined;
  /** Of a look back: where to, and how many memories that were known then were forgotten since. */
  readonly asOf?:
    | {
        readonly known: string | undefined;
        readonly valid: string | undefined;
        readonly redacted: number;
      }
    | undefined;
}

/** A word of a query that is nowhere, and what stands for it, best first. */
export interface SpelledWord {
  /** As it was written. */
  readonly word: string;
  readonly standIns: readonly {
    /** A term: a word without its ending. */
    readonly term: string;
    /** How much it counts: 0.5 where the word is misspelt, 0.25 where it is the beginning of this one. */
    readonly weight: number;
  }[];
}

export function stage(
  name: StageName,
  candidates: number,
  survivors: number,
  durationMs: number,
): StageTrace {
  return { name, candidates, survivors, durationMs, promptTokens: 0, completionTokens: 0 };
}
