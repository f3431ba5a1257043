import { type MemoryRecord, type Tier, TRANSIENT_TYPES } from '../domain/memory.ts';
import { meetsMetadata } from '../domain/metadata-condition.ts';
import { liesIn } from '../domain/scope.ts';
import type { Instant } from '../domain/time.ts';
import type { Exclusion, MemoryFilter } from './store.ts';

/** The fields that the conditions of eligibility read. */
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
  /** Whether a believed memory supersedes it (see {@link isBelieved}). */
  readonly superseded?: boolean | undefined;
  /** Left out, like `metadata`, if the caller has already checked it. */
  readonly tags?: MemoryRecord['tags'] | undefined;
  readonly metadata?: MemoryRecord['metadata'] | undefined;
};

/** The fields that decide whether a memory is believed, and so whether it can supersede another. */
export type Belief = Pick<
  MemoryRecord,
  'scope' | 'core' | 'createdAt' | 'invalidatedAt' | 'expiresAt' | 'validFrom' | 'validUntil'
>;

/**
 * Returns the first condition of eligibility that a memory does not meet at `now`, or `undefined` if it is eligible.
 *
 * - A memory is valid from `validFrom` to `validUntil`, both included. Plans and transient states that are no longer
 *   valid are eligible with `includeExpired`.
 * - It is expired from `expiresAt` on, except for core memories, and invalid from `invalidatedAt` on.
 * - Cold memories are eligible with `deep` or `cold`; superseded memories, and consolidated ones (from `consolidatedAt`
 *   on), only with `deep`; stubs never.
 * - With `validAt`, validity and expiry are checked at that time instead of `now`.
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
 * Whether a memory is believed from the scope and time of a recall: visible, not invalidated, not expired, and valid.
 * Only a believed memory supersedes others. With `filter.validAt`, a memory without `validFrom` counts as valid since its
 * creation.
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

/** Whether a memory of any scope and tier is eligible now or from a future time on, apart from its tier. */
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

/** Returns the first part of a filter that excludes a memory. An empty list of scopes or types excludes everything. */
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
