/**
 * The stages of a recall, in the order in which they run. `hydrate` reads what is returned; `other` is time outside of
 * all stages.
 */
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

/** What one stage received, kept and cost. */
export interface StageTrace {
  readonly name: StageName;
  readonly candidates: number;
  readonly survivors: number;
  /**
   * Which of the two numbers is only an upper bound. Whether a memory reaches a floor of relevance, or a required
   * similarity, is not decided if it cannot be among the hits. A greater `limit` brings the number closer.
   */
  readonly atMost?: 'candidates' | 'survivors' | undefined;
  readonly durationMs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Why the stage did less than it should have. */
  readonly reason?: string | undefined;
}

/** One way of finding or ordering memories, and whether it took part in an answer. */
export interface Arm {
  readonly name: 'lexical' | 'vector' | 'dates' | 'rerank';
  /**
   * `ran`; `not-used`: the strategy does not read it; `off`: it is not configured; `failed`: it should have run, and
   * the answer lacks it; `blank`: the query contains nothing that it knows.
   */
  readonly status: 'ran' | 'not-used' | 'off' | 'failed' | 'blank';
  readonly reason?: string | undefined;
}

/** How an answer came about. Every answer has one. */
export interface Trace {
  readonly strategy: string;
  /** The hash of the formula and its parameters. */
  readonly profileHash: string;
  readonly stages: readonly StageTrace[];
  readonly totalMs: number;
  readonly totalTokens: number;
  /** `exact`: no memory outside the hits has an own score above `upperBound`. Scores inherited along links do not count here. */
  readonly completeness: 'exact' | 'approximate';
  readonly upperBound: number;
  /** The floor of relevance, if there is one. The bound then covers only the memories that reach it. */
  readonly minRelevance?: number | undefined;
  readonly arms: readonly Arm[];
  /** The dates that the query names, if the strategy uses them. Times are ISO 8601; `to` is exclusive. */
  readonly dates?:
    | readonly { readonly text: string; readonly from: string; readonly to: string }[]
    | undefined;
  /** Words of the query that no visible memory has, and the terms that were searched instead. */
  readonly spelling?: readonly SpelledWord[] | undefined;
  /** Sequence of the last write that the answer takes into account. */
  readonly sequence: number;
  /** The id of its recording, if recalls are recorded. */
  readonly recallId?: string | undefined;
  /**
   * Set if the resident index was dropped and rebuilt first, because the log was not the one that it had followed: the
   * space was reindexed, or a backup restored, while it was open.
   */
  readonly indexRebuilt?: true | undefined;
  /** For a look back: the moment, and how many memories that were known then were forgotten since. */
  readonly asOf?:
    | {
        readonly known: string | undefined;
        readonly valid: string | undefined;
        readonly redacted: number;
      }
    | undefined;
}

/** A word of a query that no memory has, and the terms that stand in for it, best first. */
export interface SpelledWord {
  /** As it was written. */
  readonly word: string;
  readonly standIns: readonly {
    /** A term: a word without its ending. */
    readonly term: string;
    /** How much it counts: 0.5 if the word is misspelt, 0.25 if the word is the beginning of the term. */
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
