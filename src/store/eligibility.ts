import { type MemoryRecord, type Tier, TRANSIENT_TYPES } from '../domain/memory.ts';
import { meetsMetadata } from '../domain/metadata-condition.ts';
import { liesIn } from '../domain/scope.ts';
import type { Instant } from '../domain/time.ts';
import type { Exclusion, MemoryFilter } from './store.ts';

/** What the conditions of eligibility look at. */
export type Eligibility = Pick<
  MemoryRecord,
  | 'scope'
  | 'type'
  | 'tier'
  | 'core'
  | 'consolidatedAt'
  | 'invalidatedAt'
  | 'expiresAt'
  | 'validFrom'
  | 'validUntil'
> & {
  /** Whether a memory that this recall can see has taken its place. */
  readonly superseded?: boolean | undefined;
  /** Where one of these is left out, whoever asks has looked at it already. */
  readonly tags?: MemoryRecord['tags'] | undefined;
  readonly metadata?: MemoryRecord['metadata'] | undefined;
};

/** What decides whether a memory is believed: whether it may take the place of another. */
export type Belief = Pick<
  MemoryRecord,
  'scope' | 'core' | 'createdAt' | 'invalidatedAt' | 'expiresAt' | 'validFrom' | 'validUntil'
>;

/**
 * The first condition of eligibility that a memory does not meet at `now`; `undefined` when it is eligible.
 *
 * A memory is valid from `validFrom` until `validUntil`, both moments included; it is expired from `expiresAt` on
 * (core memories never expire), and invalid from `invalidatedAt` on. Cold memories are eligible with `deep`
 * or `cold`, those that were consolidated into another one (from `consolidatedAt` on) with `deep` alone, stubs never; plans
 * and transient states that are no longer valid are with `includeExpired`. Superseded memories are eligible with
 * `deep` alone. With `validAt` it is validity at that moment that counts.
 */
export function exclusionOf(memory: Eligibility, filter: MemoryFilter, now: Instant): Exclusion | undefined {
  const excluded = filterExclusionOf(memory, filter);
  if (excluded !== undefined) return excluded;
  const validAt = filter.validAt ?? now;
  if (!filter.deep && memory.tier !== 'stub' && isPast(memory.consolidatedAt, now)) return 'consolidated';
  if (!searchesTier(memory.tier, filter)) return 'tier';
  if (memory.superseded && !filter.deep) return 'superseded';
  if (isPast(memory.invalidatedAt, now)) return 'invalidated';
  if (isPast(memory.expiresAt, validAt) && !memory.core) return 'expired';
  if (memory.validFrom !== undefined && memory.validFrom > validAt) return 'not-yet-valid';
  if (memory.validUntil !== undefined && memory.validUntil < validAt) {
    if (!filter.includeExpired || !TRANSIENT_TYPES.includes(memory.type)) return 'no-longer-valid';
  }
  return undefined;
}

/**
 * Whether a memory is believed where and when a recall looks: visible, and neither invalidated, expired nor outside of
 * its validity. Only then does it take the place of what it supersedes. A recall that asks for the truth of another
 * moment takes one that supersedes for true since it was made, unless it says since when.
 */
export function isBelieved(memory: Belief, filter: MemoryFilter, now: Instant): boolean {
  const { validAt = now } = filter;
  const since = memory.validFrom ?? (filter.validAt === undefined ? undefined : memory.createdAt);
  return (
    (filter.scopes?.includes(memory.scope) ?? true) &&
    !isPast(memory.invalidatedAt, now) &&
    (memory.core || !isPast(memory.expiresAt, validAt)) &&
    (since === undefined || since <= validAt) &&
    (memory.validUntil === undefined || memory.validUntil >= validAt)
  );
}

/** Whether a memory is believed somewhere, whatever its tier, now or from a moment to come. */
export function isLive(memory: Eligibility, superseded: boolean, now: Instant): boolean {
  const state =
    memory.tier === 'hot' && !superseded ? memory : ({ ...memory, tier: 'hot', superseded } as const);
  const excluded = exclusionOf(state, {}, now);
  return excluded === undefined || excluded === 'not-yet-valid';
}

function isPast(clock: Instant | undefined, now: Instant): boolean {
  return clock !== undefined && clock <= now;
}

/** Whether a search with this filter looks at memories of a tier. */
export function searchesTier(tier: Tier, filter: MemoryFilter): boolean {
  return tier === 'hot' || (tier === 'cold' && (filter.deep === true || filter.cold === true));
}

/** The first part of a filter that keeps a memory out. An empty list of scopes or types lets nothing through. */
export function filterExclusionOf(
  memory: Pick<MemoryRecord, 'scope' | 'type'> & {
    readonly tags?: MemoryRecord['tags'] | undefined;
    readonly metadata?: MemoryRecord['metadata'] | undefined;
  },
  filter: MemoryFilter,
): 'scope' | 'elsewhere' | 'type' | 'tag' | 'metadata' | undefined {
  if (filter.scopes && !filter.scopes.includes(memory.scope)) return 'scope';
  if (filter.inScope !== undefined && !liesIn(memory.scope, filter.inScope)) return 'elsewhere';
  if (filter.types && !filter.types.includes(memory.type)) return 'type';
  if (filter.typesExclude?.includes(memory.type)) return 'type';
  if (filter.tags && memory.tags && !filter.tags.every((tag) => memory.tags?.includes(tag))) return 'tag';
  if (filter.metadata && memory.metadata && !meetsMetadata(memory.metadata, filter.metadata))
    return 'metadata';
  return undefined;
}
