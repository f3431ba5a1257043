import type { SortDirection, SortName } from '../domain/fields.ts';
import type { MemoryType, Metadata, Source, Tier } from '../domain/memory.ts';
import type { MetadataFilter } from '../domain/metadata-condition.ts';
import type { RelationInput } from '../domain/relation.ts';
import type { RESOLUTIONS } from '../domain/verbs.ts';
import type { ParameterOverrides } from '../scoring/profile.ts';
import type { PairKind } from '../store/store.ts';
import type { Memory } from './memory.ts';
import type { AssociationSettings } from './recall/strategy.ts';

export type { Memory } from './memory.ts';

/** The fields of a new memory. All are optional. */
export interface RememberOptions {
  /** At most 128 characters. Default is a UUIDv7. */
  readonly id?: string | undefined;
  /** Default is `global`. */
  readonly scope?: string | undefined;
  /** Default is `fact`. */
  readonly type?: MemoryType | undefined;
  readonly title?: string | undefined;
  /** At most 64 of at most 128 characters. */
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Metadata | undefined;
  /** For an entity: its other names, in addition to the title; at most 64 of at most 200 characters. */
  readonly aliases?: readonly string[] | undefined;
  /** For an entity: `person`, `organisation`, `place`, `project`, `thing`, or another word of at most 64 characters. */
  readonly kind?: string | undefined;
  /** The relations between memories that it states, by their ids; at most 100. */
  readonly relations?: readonly RelationInput[] | undefined;
  /** The name of who said it, at most 200 characters. */
  readonly author?: string | undefined;
  /** The role of the author: `user`, `assistant`, `system`, `tool`, or another word of at most 64 characters. */
  readonly role?: string | undefined;
  readonly sessionId?: string | undefined;
  /** When it was first known; a future time counts as now. Default is `updatedAt`, or else now. */
  readonly createdAt?: string | Date | undefined;
  /** When it last changed. Default is `createdAt`. */
  readonly updatedAt?: string | Date | undefined;
  /** It is not recalled before this time. */
  readonly validFrom?: string | Date | undefined;
  /** It is not recalled after this time. */
  readonly validUntil?: string | Date | undefined;
  /** It is hidden from this time on, and `maintain` erases it for good, unless it is a core memory. */
  readonly expiresAt?: string | Date | undefined;
  /**
   * How long it lives: "7d", "24h", an ISO 8601 duration, or the time at which it ends. Sets `validUntil` of a `plan` or
   * `transient_state`, `expiresAt` of everything else.
   */
  readonly ttl?: string | Date | undefined;
  /**
   * The key of its topic, at most 512 characters. The next statement with this key in its scope replaces it. Fields
   * that the new statement does not set are kept, except author, role, validity, expiry and relations if its wording
   * differs.
   */
  readonly topicKey?: string | undefined;
  /** The ids of the memories that it replaces. They are hidden wherever this one is visible and believed. */
  readonly supersedes?: string | readonly string[] | undefined;
  /** 0–1. Default is 0.5. */
  readonly importance?: number | undefined;
  /** 0–1. Default is 0.8. */
  readonly confidence?: number | undefined;
  /** 0.1–1. Default is 1. */
  readonly weight?: number | undefined;
  /** Default is `stated`. */
  readonly source?: Source | undefined;
  /** A pointer to the origin: a file, a commit, a message id. */
  readonly sourceRef?: string | undefined;
}

export interface RememberInput extends RememberOptions {
  readonly content: string;
}

/** The fields to change; all others stay. `null` removes an optional field. */
export interface MemoryChanges {
  readonly content?: string | undefined;
  readonly title?: string | null | undefined;
  readonly type?: MemoryType | undefined;
  readonly scope?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: Metadata | undefined;
  readonly importance?: number | undefined;
  readonly confidence?: number | undefined;
  readonly weight?: number | undefined;
  readonly validFrom?: string | Date | null | undefined;
  readonly validUntil?: string | Date | null | undefined;
  readonly expiresAt?: string | Date | null | undefined;
  /** As in `remember`. */
  readonly ttl?: string | Date | undefined;
  /** When it was changed, if that was in the past, as in imports. Not before the time of its last change. Default is now. */
  readonly updatedAt?: string | Date | undefined;
  readonly topicKey?: string | null | undefined;
  readonly aliases?: readonly string[] | null | undefined;
  readonly kind?: string | null | undefined;
  readonly relations?: readonly RelationInput[] | null | undefined;
  readonly author?: string | null | undefined;
  readonly role?: string | null | undefined;
  readonly sourceRef?: string | null | undefined;
}

export interface RememberResult {
  readonly id: string;
  /**
   * `updated`: its topic was known, it got a topic or relations, or it supersedes more than before. `deduplicated`: it
   * was known, word for word except for white space.
   */
  readonly outcome: 'created' | 'updated' | 'deduplicated';
  /** Set if the statement was invalidated before: it is not recalled until it is reinstated. */
  readonly inactive?: Inactive | undefined;
  /**
   * The fields that were given but not stored, because the known memory has other values: `importance`, say, or
   * `expiresAt` for a `ttl`. `update` changes them. Absent if there are none.
   */
  readonly differs?: readonly string[] | undefined;
  /** Memories that it may contradict, nearest first; at most 5. Only for `remember`. */
  readonly conflicts?: readonly Conflict[] | undefined;
  /** Describes the conflicts and what can be done about them. */
  readonly warning?: string | undefined;
  /** Why it could not be checked for contradictions. */
  readonly unchecked?: string | undefined;
}

export interface Inactive {
  readonly since: string;
  readonly reason: string;
}

/** A memory that a new statement may contradict. */
export interface Conflict {
  readonly conflictId: string;
  /** The older memory. */
  readonly id: string;
  /** The cosine of their vectors. */
  readonly similarity: number;
  readonly content: string;
}

/** A pair of memories of which one may replace or contradict the other, waiting for a decision. */
export interface PendingConflict {
  readonly conflictId: string;
  readonly older: Memory;
  readonly newer: Memory;
  /** `similar`: they say nearly the same. `update`: the newer one may give a new value for a quantity in the older one. */
  readonly kind: PairKind;
  /** For `similar`, the cosine of their vectors; for `update`, how similar their words are. 0–1. */
  readonly similarity: number;
  readonly at: string;
}

export type Resolution = (typeof RESOLUTIONS)[number];

/** A moment in the past to look back to. */
export interface AsOf {
  /**
   * Uses what was known then: the space as it was, with what use had changed. Votes that were undone since are missing
   * from lists, although the usefulness includes them. Default is now.
   */
  readonly known?: string | Date | undefined;
  /** Uses what was true then, by what is known. Default is the time of the recall. */
  readonly valid?: string | Date | undefined;
}

export interface OperationOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time at which this happens. Default is the engine's clock. */
  readonly now?: string | Date | undefined;
}

export interface FilterOptions {
  /** Sees this scope and its ancestors. Default is every scope. */
  readonly scope?: string | undefined;
  /**
   * Only memories of exactly this scope, not of its ancestors; `project:*` is every scope of that kind. It only narrows
   * what is returned: supersession and scores stay as seen from `scope`.
   */
  readonly inScope?: string | undefined;
  readonly types?: readonly string[] | undefined;
  /** Not together with `types`. */
  readonly typesExclude?: readonly string[] | undefined;
  /** Only memories with all of these tags. */
  readonly tags?: readonly string[] | undefined;
  /** Only memories whose metadata has these values: `{ status: 'open', priority: { atLeast: 3 } }`. */
  readonly metadata?: MetadataFilter | undefined;
}

export interface RecallOptions<Strategy extends string = string> extends FilterOptions, OperationOptions {
  /** Default is `hybrid`. */
  readonly strategy?: Strategy | undefined;
  /** At least 1. Default is the strategy's. */
  readonly limit?: number | undefined;
  /** The lowest score of a hit, 0–1. Scores of different strategies do not compare. Default is none. */
  readonly minScore?: number | undefined;
  /**
   * The floor of relevance, 0–1: memories that match the query less are left out, whatever else counts for them. It
   * applies to the part `match` of `hybrid` and of profiles that extend it. With another strategy a value above 0 is an
   * error; use `minScore` there. `auto`: the floor that was measured for the embedder (0.17 for the built-in one), if
   * embedder and strategy have one. Default is 0; in a context, and for agents, `auto`.
   */
  readonly minRelevance?: number | 'auto' | undefined;
  /** Values for the parameters of the strategy's profile. */
  readonly parameters?: ParameterOverrides | undefined;
  /** The session of the recall. A strategy that learns from use records it. */
  readonly sessionId?: string | undefined;
  /** Whether the effects of the strategy are written. With `false` nothing is written. Default is true. */
  readonly track?: boolean | undefined;
  /** Whether to include cold memories and, at half their score, superseded and consolidated ones. Default is false. */
  readonly deep?: boolean | undefined;
  /**
   * Whether to include plans and transient states whose `validUntil` has passed; in a deep recall they have half their
   * score. Memories whose `expiresAt` has passed stay hidden. Default is false.
   */
  readonly includeExpired?: boolean | undefined;
  /** The factor for outdated memories in a deep recall, 0–1. Default is 0.5. */
  readonly deepRecallPenalty?: number | undefined;
  /** How links bring in memories: `none`, a mode, or settings over those of the strategy. */
  readonly association?: 'none' | 'direct' | 'propagated' | Partial<AssociationSettings> | undefined;
  /** Whether the engine's reranker orders the first direct hits. Default is false. */
  readonly rerank?: boolean | undefined;
  /** How many direct hits the reranker sees, 1–100. Default is 10. */
  readonly rerankTopK?: number | undefined;
  /** Looks at the past. Such a recall has no effects. */
  readonly asOf?: AsOf | undefined;
  /**
   * `edges`: relations compete with memories for the same places, each with the score of its best statement × its
   * weight. Such a hit has a `relation`. Not together with `rerank`. Default is none.
   */
  readonly include?: readonly 'edges'[] | undefined;
}

/** Filters a list by single fields. A memory without the field is left out. */
export interface FieldFilterOptions {
  readonly topicKey?: string | undefined;
  readonly author?: string | undefined;
  readonly role?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly source?: Source | undefined;
  readonly tier?: Tier | undefined;
  readonly core?: boolean | undefined;
  /** At this time or later. */
  readonly createdAfter?: string | Date | undefined;
  /** Earlier than this time. */
  readonly createdBefore?: string | Date | undefined;
  readonly updatedAfter?: string | Date | undefined;
  readonly updatedBefore?: string | Date | undefined;
  /** By `lastAccessedAt`: memories that were never recalled are left out. */
  readonly accessedAfter?: string | Date | undefined;
  readonly accessedBefore?: string | Date | undefined;
  readonly expiresAfter?: string | Date | undefined;
  readonly expiresBefore?: string | Date | undefined;
  readonly invalidatedAfter?: string | Date | undefined;
  readonly invalidatedBefore?: string | Date | undefined;
}

export interface ListOptions extends FilterOptions, FieldFilterOptions, OperationOptions {
  /** 1–1,000. Default is 20. */
  readonly limit?: number | undefined;
  /**
   * Default is `updated`. Ties are sorted by insertion, in the same direction. A memory that was never accessed counts
   * as accessed before all others.
   */
  readonly sort?: SortName | undefined;
  /** `asc`: lowest or earliest first. Default is `desc`, but `asc` for `inserted`. */
  readonly direction?: SortDirection | undefined;
  /** `nextCursor` of the previous page, with the same filters and order. Writes in between do not move its place. */
  readonly cursor?: string | undefined;
  /** How many memories to skip. Not together with `cursor`. */
  readonly offset?: number | undefined;
  /** The id of a memory to place in the middle of the page. Not together with `cursor` or `offset`. */
  readonly around?: string | undefined;
  /** Whether to count `total` and `position`, which reads every memory that passes the filter. Default is true. */
  readonly count?: boolean | undefined;
  /** Looks at the past. `valid` is the time for which effective weights are computed. */
  readonly asOf?: AsOf | undefined;
}

export interface BatchOptions extends OperationOptions {
  /** Called as texts are analysed and embedded, before the write. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface GetOptions extends OperationOptions {
  /** The scope from which it is seen; its effective weight depends on it. Default is every scope. */
  readonly scope?: string | undefined;
  /** Looks at the past. `valid` is the time for which effective weights are computed. */
  readonly asOf?: AsOf | undefined;
}
