import type { ImportanceSource, MemoryType, Metadata, Source, Tier } from '../domain/memory.ts';
import type { Relation } from '../domain/relation.ts';
import type { Vote } from '../store/store.ts';

/** One remembered statement. Times are ISO 8601 in UTC, to the millisecond; what is not known is `undefined`. */
export interface Memory {
  /** Unique in its space: the caller's string of at most 128 characters, else a UUIDv7. */
  readonly id: string;
  /** The space that it belongs to. */
  readonly space: string;
  /** Its place in the order in which the space took memories in, from 1. It decides wherever times tie; there may be gaps. */
  readonly ordinal: number;
  /** Who may see it: a path such as `global`, `project:match` or `team:a/project:b`. */
  readonly scope: string;
  /** One of the types that rules know by name, or a word of the caller's. */
  readonly type: MemoryType;
  /** A heading, searched like the content. */
  readonly title: string | undefined;
  /** The statement itself, without what was marked private. */
  readonly content: string;
  /** At most 64 of at most 128 characters. */
  readonly tags: readonly string[];
  /** Any JSON of the caller's. */
  readonly metadata: Metadata;
  /** What it is about: the next statement with this key and scope replaces it. */
  readonly topicKey: string | undefined;
  /** Of an entity: its other names, beside the title. */
  readonly aliases: readonly string[] | undefined;
  /** Of an entity: `person`, `organisation`, `place`, `project`, `thing`, or another word of at most 64 characters. */
  readonly kind: string | undefined;
  /** What it says that two memories have to do with each other. */
  readonly relations: readonly Relation[] | undefined;
  /** Who said it: a name of at most 200 characters. */
  readonly author: string | undefined;
  /** The role of the author: `user`, `assistant`, `system`, `tool`, or another word of at most 64 characters. */
  readonly role: string | undefined;
  /** The session of the last change of its text. */
  readonly sessionId: string | undefined;
  /** The session in which it was made; never changed. */
  readonly bornIn: string | undefined;

  /** When it was first known. */
  readonly createdAt: string;
  /** When it last changed. */
  readonly updatedAt: string;
  /**
   * Since when its title, content and tags are what they are; `createdAt` where only other fields have changed. Absent until the
   * first change, and where a version before this field made the last one.
   */
  readonly textChangedAt: string | undefined;
  /** When a recall whose strategy learns last returned it. */
  readonly lastAccessedAt: string | undefined;
  /**
   * When a recall whose strategy learns nothing, a context or a session that started last returned it, or something was said that
   * made it hot again, in a space whose memories fade.
   */
  readonly seen: string | undefined;
  /** It is not recalled before this time. */
  readonly validFrom: string | undefined;
  /** It is recalled up to this time, and not after it. */
  readonly validUntil: string | undefined;
  /** It is hidden from this time on, and erased for good by the next `maintain`. */
  readonly expiresAt: string | undefined;
  /** When it was marked as no longer true. */
  readonly invalidatedAt: string | undefined;
  /** Why it was. */
  readonly invalidReason: string | undefined;
  /** When it became cold. */
  readonly coldSince: string | undefined;
  /** When it was consolidated into another memory, which replaces it. */
  readonly consolidatedAt: string | undefined;

  /** 0 to 1. Default is 0.5. */
  readonly importance: number;
  /** Where the importance comes from: the default, the caller, rules, a language model, or a person. */
  readonly importanceSource: ImportanceSource;
  /** How sure it is, 0 to 1. Default is 0.8. */
  readonly confidence: number;
  /** 0 to 1, from votes. Default is 0.5. */
  readonly usefulness: number;
  /** A factor of its score in strategies that use it, 0.1 to 1. Default is 1. */
  readonly weight: number;
  /** The stored weight, or at most 0.1 while another memory has replaced it. */
  readonly effectiveWeight: number;
  /** How slowly it fades, 0 to 1. A new memory has 0.1 + 0.3 × importance; use raises it. */
  readonly stability: number;
  /** How often a recall whose strategy learns has returned it. */
  readonly accessCount: number;
  /** The ids of the distinct sessions that recalled it. */
  readonly sessions: readonly string[];
  /** How often it was stated or changed, from 1. */
  readonly revisionCount: number;
  /** `hot` memories are found, `cold` ones only through links or on request, a `stub` never. */
  readonly tier: Tier;
  /** Whether use has made it a core memory, which keeps at least 0.6 of its retention. */
  readonly core: boolean;

  /** The ids of the older memories that it replaces. */
  readonly supersedes: readonly string[];
  /** How it came to be known: `stated`, `extracted`, `imported`, `inferred` or `consolidated`. */
  readonly source: Source;
  /** A pointer to the origin: a file, a commit, a message id. At most 2,000 characters. */
  readonly sourceRef: string | undefined;
  /** The ids of the memories that a consolidation or an automatic summary was made of. */
  readonly derivedFrom: readonly string[];
  /** The votes on what it says, where there are any; in lists alone, for exports. */
  readonly votes?: readonly Vote[] | undefined;
}
