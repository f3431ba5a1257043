import { type MemoryRecord, type Tier, TRANSIENT_TYPES } from '../model/memory.ts';
import type { Instant } from '../model/time.ts';
import type { Exclusion, MemoryFilter } from './store.ts';

/** What the conditions of eligibility look at. */
export type Eligibility = Pick<
  MemoryRecord,
  'scope' | 'type' | 'tags' | 'tier' | 'core' | 'invalidatedAt' | 'expiresAt' | 'validFrom' | 'validUntil'
>;

/**
 * The first condition of eligibility that a memory does not meet at `now`; `undefined` when it is eligible.
 *
 * A memory is valid from `validFrom` until `validUntil`, both moments included; it is expired from `expiresAt` on
 * (core memories never expire), and invalid from `invalidatedAt` on. Cold memories are eligible with `deep`, stubs never;
 * plans and transient states that are no longer valid are with `includeExpired`.
 */
export function exclusionOf(memory: Eligibility, filter: MemoryFilter, now: Instant): Exclusion | undefined {
  const excluded = filterExclusionOf(memory, filter);
  if (excluded !== undefined) return excluded;
  if (!searchesTier(memory.tier, filter)) return 'tier';
  if (memory.invalidatedAt !== undefined && memory.invalidatedAt <= now) return 'invalidated';
  if (memory.expiresAt !== undefined && memory.expiresAt <= now && !memory.core) return 'expired';
  if (memory.validFrom !== undefined && memory.validFrom > now) return 'not-yet-valid';
  if (memory.validUntil !== undefined && memory.validUntil < now) {
    if (!filter.includeExpired || !TRANSIENT_TYPES.includes(memory.type)) return 'no-longer-valid';
  }
  return undefined;
}

/** Whether a search with this filter looks at memories of a tier. */
export function searchesTier(tier: Tier, filter: MemoryFilter): boolean {
  return tier === 'hot' || (tier === 'cold' && filter.deep === true);
}

/** The first part of a filter that keeps a memory out. An empty list of scopes or types lets nothing through. */
export function filterExclusionOf(
  memory: Pick<MemoryRecord, 'scope' | 'type' | 'tags'>,
  filter: MemoryFilter,
): 'scope' | 'type' | 'tag' | undefined {
  if (filter.scopes && !filter.scopes.includes(memory.scope)) return 'scope';
  if (filter.types && !filter.types.includes(memory.type)) return 'type';
  if (filter.typesExclude?.includes(memory.type)) return 'type';
  if (filter.tags && !filter.tags.every((tag) => memory.tags.includes(tag))) return 'tag';
  return undefined;
}
