import type { ImportanceSource, MemoryType, Metadata, Source, Tier } from '../domain/memory.ts';
import type { Relation } from '../domain/relation.ts';
import type { Vote } from '../store/store.ts';

/** One remembered statement. Times are ISO 8601 in UTC, to the millisecond. Unknown fields are `undefined`. */
export interface Memory {
  /** Unique in its space: the caller's string of at most 128 characters, else a UUIDv7. */
  readonly id: string;
  /** The name of its space. */
  readonly space: string;
  /** Its place in the order of insertion into the space, from 1. Breaks ties between times; there may be gaps. */
  readonly ordinal: number;
  /** Who may see it: a path such as `global`, `project:match` or `team:a/project:b`. */
  readonly scope: string;
  /** One of the types that rules know by name, or a word of your own. */
  readonly type: MemoryType;
  /** A heading, searched like the content. */
  readonly title: string | undefined;
  /** The statement itself, without what was marked private. */
  readonly content: string;
  /** At most 64 of at most 128 characters. */
  readonly tags: readonly string[];
  /** Any JSON object of the caller. */
  readonly metadata: Metadata;
  /** The key of its topic: the next statement with this key and scope replaces it. */
  readonly topicKey: string | undefined;
  /** For an entity: its other names, in addition to the title. */
  readonly aliases: readonly string[] | undefined;
  /** For an entity: `person`, `organisation`, `place`, `project`, `thing`, or another word of at most 64 characters. */
  readonly kind: string | undefined;
  /** The relations between memories that it states. */
  readonly relations: readonly Relation[] | undefined;
  /** The name of who said it, at most 200 characters. */
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
   * When its title, content or tags last changed; `createdAt` if only other fields have changed. Absent until the first
   * change, and if a version before this field made the last one.
   */
  readonly textChangedAt: string | undefined;
  /** When a recall whose strategy learns from use last returned it. */
  readonly lastAccessedAt: string | undefined;
  /**
   * When it was last shown without learning, in a space that fades: by a recall whose strategy does not learn, a
   * context, or the start of a session. Also set when a write makes it hot again.
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
  /** Why it was marked as no longer true. */
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
  /** A factor of its score, in strategies that use it, 0.1 to 1. Default is 1. */
  readonly weight: number;
  /** The stored weight, or at most 0.1 while another memory has replaced it. */
  readonly effectiveWeight: number;
  /** How slowly it fades, 0 to 1. A new memory has 0.1 + 0.3 × importance; use raises it. */
  readonly stability: number;
  /** How often a recall whose strategy learns from use has returned it. */
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
  /**
   * For a consolidation, an automatic summary or the generated sentence of a relation: the ids of the memories that it
   * was made from.
   */
  readonly derivedFrom: readonly string[];
  /** The votes on its content, if there are any. Only in lists, for exports. */
  readonly votes?: readonly Vote[] | undefined;
}
