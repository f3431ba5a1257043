import type { RelationRecord } from './relation.ts';
import type { Instant } from './time.ts';

/** The built-in types. Any other string is accepted and treated as `other`. */
export const MEMORY_TYPES = [
  'profile',
  'preference',
  'decision',
  'pattern',
  'discovery',
  'summary',
  'fact',
  'event',
  'procedure',
  'plan',
  'transient_state',
  'entity',
  'learning',
  'rule',
  'feedback',
  'context',
] as const;

export type MemoryType = (typeof MEMORY_TYPES)[number] | (string & {});

/** Recalls return hot memories, cold ones only through associations or on request, and stubs never. */
export const TIERS = ['hot', 'cold', 'stub'] as const;
export type Tier = (typeof TIERS)[number];

/** Where a memory comes from. */
export const SOURCES = ['stated', 'extracted', 'imported', 'inferred', 'consolidated'] as const;
export type Source = (typeof SOURCES)[number];

/** Where the importance of a memory comes from. */
export const IMPORTANCE_SOURCES = ['default', 'caller', 'rules', 'model', 'person'] as const;
export type ImportanceSource = (typeof IMPORTANCE_SOURCES)[number];

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** Arbitrary JSON data that the caller attaches to a memory. */
export type Metadata = { readonly [key: string]: JsonValue };

/**
 * One remembered statement, with its provenance, clocks and counters, as the engine holds it.
 * Absent fields are `undefined`; instants are milliseconds.
 */
export interface MemoryRecord {
  /** The caller's string of at most 128 characters, else a UUIDv7. Unique in its space. */
  readonly id: string;
  /**
   * Its position in the insertion order of the space, from 1, possibly with gaps. Breaks ties between equal times. The
   * store assigns it at the first insertion and never changes it; 0 until then.
   */
  readonly ordinal: number;
  readonly scope: string;
  readonly type: MemoryType;
  readonly title: string | undefined;
  readonly content: string;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly topicKey: string | undefined;
  /** For an entity, its names other than the title. */
  readonly aliases: readonly string[] | undefined;
  /** For an entity: `person`, `organisation`, `place`, `project`, `thing`, or any other word. */
  readonly kind: string | undefined;
  /** The relations that it states. */
  readonly relations: readonly RelationRecord[] | undefined;
  /** Who said it: a name of at most 200 characters. */
  readonly author: string | undefined;
  /** The role of its speaker: `user`, `assistant`, `system`, `tool`, or any other word. */
  readonly role: string | undefined;
  /** The session of the last material update. */
  readonly sessionId: string | undefined;
  /** The session in which it was created; never changed. */
  readonly bornIn: string | undefined;

  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /**
   * When title, content or tags last changed; `createdAt` if only other fields have changed. Absent until the first
   * change, and if a version without this field made the last one: see {@link textChangeOf}.
   */
  readonly textChangedAt: Instant | undefined;
  readonly lastAccessedAt: Instant | undefined;
  /**
   * When it was last shown in a space whose memories fade: by a recall whose strategy learns nothing, by a context or by
   * the start of a session. Also set when a restatement or a change makes it hot again.
   */
  readonly seen: Instant | undefined;
  readonly validFrom: Instant | undefined;
  readonly validUntil: Instant | undefined;
  readonly expiresAt: Instant | undefined;
  readonly invalidatedAt: Instant | undefined;
  /** Why it was invalidated. */
  readonly invalidReason: string | undefined;
  /** When it became cold. */
  readonly coldSince: Instant | undefined;
  /** When it was consolidated into another memory, which replaces it. */
  readonly consolidatedAt: Instant | undefined;

  /** 0–1. Default is 0.5. */
  readonly importance: number;
  /** Where the importance comes from: the default, the caller, rules, a language model, or a person. */
  readonly importanceSource: ImportanceSource;
  /** 0–1. Default is 0.8. */
  readonly confidence: number;
  /** 0–1, from votes. Default is 0.5. */
  readonly usefulness: number;
  /** 0.1–1, set by the caller. Default is 1. */
  readonly weight: number;
  /** 0–1. Starts at 0.1 + 0.3·importance. */
  readonly stability: number;
  readonly accessCount: number;
  /** The distinct sessions that recalled it. */
  readonly sessions: readonly string[];
  /** Starts at 1. */
  readonly revisionCount: number;
  readonly tier: Tier;
  readonly core: boolean;

  /** The ids of the older memories that this one replaces. */
  readonly supersedes: readonly string[];
  readonly source: Source;
  /** A pointer to the origin: a file, a commit, a message id. */
  readonly sourceRef: string | undefined;
  /** The ids of the memories that a consolidation or an automatic summary was made of. */
  readonly derivedFrom: readonly string[];
}

/** Types whose validity usually ends. A recall can include those that have ended (`includeExpired`). */
export const TRANSIENT_TYPES: readonly string[] = ['plan', 'transient_state'];

/**
 * When the title, content or tags last changed; `undefined` if they are the original ones. Earlier versions did not record
 * it; for a memory that they changed last, returns the last update, which is the latest possible time.
 */
export function textChangeOf({
  textChangedAt,
  revisionCount,
  createdAt,
  updatedAt,
}: Pick<MemoryRecord, 'textChangedAt' | 'revisionCount' | 'createdAt' | 'updatedAt'>): Instant | undefined {
  const at = textChangedAt ?? (revisionCount > 1 ? updatedAt : createdAt);
  return at > createdAt ? at : undefined;
}

/** The stability of a new memory. */
export function initialStability(importance: number): number {
  return 0.1 + 0.3 * importance;
}

/** The reasons for which two memories are linked. */
export const LINK_KINDS = ['co-retrieval', 'birth', 'sequence', 'consolidation', 'stated'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];
