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

/** What may be said about a memory when it is remembered. Everything has a default. */
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
  /** Of an entity: its other names, beside the title; at most 64 of at most 200 characters. */
  readonly aliases?: readonly string[] | undefined;
  /** Of an entity: `person`, `organisation`, `place`, `project`, `thing`, or another word of at most 64 characters. */
  readonly kind?: string | undefined;
  /** What it says that two memories have to do with each other, by their ids; at most 100. */
  readonly relations?: readonly RelationInput[] | undefined;
  /** Who said it: a name of at most 200 characters. */
  readonly author?: string | undefined;
  /** The role of its speaker: `user`, `assistant`, `system`, `tool`, or another word of at most 64 characters. */
  readonly role?: string | undefined;
  readonly sessionId?: string | undefined;
  /** When it was first known; a future time counts as now. Default is `updatedAt`, or else now. */
  readonly createdAt?: string | Date | undefined;
  /** When it last changed. Default is `createdAt`. */
  readonly updatedAt?: string | Date | undefined;
  /** Hidden before. */
  readonly validFrom?: string | Date | undefined;
  /** Hidden after. */
  readonly validUntil?: string | Date | undefined;
  /** It is hidden from this time on, and `maintain` erases it for good. A core memory stays. */
  readonly expiresAt?: string | Date | undefined;
  /**
   * How long it lives: "7d", "24h", an ISO 8601 duration, or the time at which it ends. Sets `validUntil` of a `plan` or
   * `transient_state`, `expiresAt` of everything else.
   */
  readonly ttl?: string | Date | undefined;
  /**
   * What it is about, at most 512 characters: in its scope the next statement about the same replaces it. Fields that it
   * does not set are kept, except author, role, validity, expiry and relations if its wording differs.
   */
  readonly topicKey?: string | undefined;
  /** The memories that it replaces: hidden wherever this one is visible and holds. */
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

/** What changes; everything else stays. `null` takes an optional field away. */
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
  /** When it was changed, if that was before now: for imports. At least the time of its last change. Default is now. */
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
  /** `updated`: its topic was known, it had none before, or it supersedes more now. `deduplicated`: it was known, word for word but for white space. */
  readonly outcome: 'created' | 'updated' | 'deduplicated';
  /** Set when the statement was invalidated before: it is not recalled until it is reinstated. */
  readonly inactive?: Inactive | undefined;
  /** Memories that it may contradict, nearest first; at most 5. Single statements only. */
  readonly conflicts?: readonly Conflict[] | undefined;
  /** The conflicts and what can be done about them, for a reader. */
  readonly warning?: string | undefined;
  /** Why contradictions could not be looked for. */
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

/** Two memories of which one may replace or contradict the other, and which wait for a decision. */
export interface PendingConflict {
  readonly conflictId: string;
  readonly older: Memory;
  readonly newer: Memory;
  /** `similar`: they say nearly the same. `update`: the newer one may give a new value for what the older one counts. */
  readonly kind: PairKind;
  /** 0–1: of similar statements the cosine of their vectors, of a possible update how far their words are the same. */
  readonly similarity: number;
  readonly at: string;
}

export type Resolution = (typeof RESOLUTIONS)[number];

/** A moment to look back to. */
export interface AsOf {
  /**
   * What was known then: the space as it stood, what use had made of it included. Votes that were undone since are missing
   * from lists, though the usefulness is as they had made it. Default is now.
   */
  readonly known?: string | Date | undefined;
  /** What was true then, by what is known. Default is the moment of the recall. */
  readonly valid?: string | Date | undefined;
}

export interface OperationOptions {
  readonly signal?: AbortSignal | undefined;
  /** The moment at which this happens. Default is the engine's clock. */
  readonly now?: string | Date | undefined;
}

export interface FilterOptions {
  /** Sees this scope and its ancestors. Default is every scope. */
  readonly scope?: string | undefined;
  /**
   * Only memories that lie in this scope itself, not in its ancestors; `project:*` is every scope of that kind. It
   * narrows what is returned: what supersedes what, and every score, stay as seen from `scope`.
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
  /** 0–1: hits that score less are left out. Scores of different strategies do not compare. Default is none. */
  readonly minScore?: number | undefined;
  /**
   * 0–1: memories whose words and meaning match the query less are left out, whatever else speaks for them. It is a floor
   * of the part `match` of `hybrid` and of profiles that extend it; with another strategy more than 0 is an error, and
   * `minScore` is what there is. `auto`: the floor that was measured for the embedder (0.17 for the built-in one), if
   * embedder and strategy have one. Default is 0; in a context, and for agents, `auto`.
   */
  readonly minRelevance?: number | 'auto' | undefined;
  /** Values for the parameters of the strategy's profile. */
  readonly parameters?: ParameterOverrides | undefined;
  /** The session in which this is recalled; what the strategy reinforces learns of it. */
  readonly sessionId?: string | undefined;
  /** Whether the recall notes what was used, as its strategy does; with `false` it leaves nothing behind. Default is true. */
  readonly track?: boolean | undefined;
  /** Cold memories too, and at half their score those that were superseded or consolidated into others. Default is false. */
  readonly deep?: boolean | undefined;
  /**
   * Plans and transient states too whose `validUntil` is past; those whose `expiresAt` is past stay hidden.
   * In a deep recall they have half their score. Default is false.
   */
  readonly includeExpired?: boolean | undefined;
  /** The factor of what is outdated in a deep recall, 0–1. Default is 0.5. */
  readonly deepRecallPenalty?: number | undefined;
  /** How links bring memories in: `none`, or settings over those of the strategy. */
  readonly association?: 'none' | 'direct' | 'propagated' | Partial<AssociationSettings> | undefined;
  /** Have the first direct hits put in order by the engine's reranker. Default is false. */
  readonly rerank?: boolean | undefined;
  /** How many direct hits the reranker sees, 1–100. Default is 10. */
  readonly rerankTopK?: number | undefined;
  /** Looks back. Nothing is learnt from such a recall. */
  readonly asOf?: AsOf | undefined;
  /**
   * `edges`: relations compete with memories for the same places, each by the score of what states it best × its weight.
   * Such a hit has a `relation`. Not together with `rerank`. Default is none.
   */
  readonly include?: readonly 'edges'[] | undefined;
}

/** Narrows a list to what its memories have in single fields. A memory without the field is left out. */
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
  /** By `lastAccessedAt`: what was never recalled is left out. */
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
   * Default is `updated`. What ties is sorted by insertion, in the same direction; a memory that was never accessed
   * counts as accessed before all others.
   */
  readonly sort?: SortName | undefined;
  /** `asc`: lowest or earliest first. Default is `desc`; of `inserted`, `asc`. */
  readonly direction?: SortDirection | undefined;
  /** `nextCursor` of the page before, which has its place whatever is written; with the same filters and order. */
  readonly cursor?: string | undefined;
  /** How many memories come before the page: a jump to any place. Not together with `cursor`. */
  readonly offset?: number | undefined;
  /** The id of a memory that the page has in its middle. Not together with `cursor` or `offset`. */
  readonly around?: string | undefined;
  /** Whether to count `total` and `position`, which takes a look at every memory that is filtered. Default is true. */
  readonly count?: boolean | undefined;
  /** Looks back; `valid` is the moment for which effective weights are worked out. */
  readonly asOf?: AsOf | undefined;
}

export interface BatchOptions extends OperationOptions {
  /** Called as texts are analysed and embedded, before the one write. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface GetOptions extends OperationOptions {
  /** Where it is looked at from: what its effective weight depends on. Default is every scope. */
  readonly scope?: string | undefined;
  /** Looks back; `valid` is the moment for which effective weights are worked out. */
  readonly asOf?: AsOf | undefined;
}
