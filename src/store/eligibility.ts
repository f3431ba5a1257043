import { type MemoryRecord, type Tier, TRANSIENT_TYPES } from '../model/memory.ts';
import type { Instant } from '../model/time.ts';
import type { Exclusion, MemoryFilter } from './store.ts';

/** What the conditions of eligibility look at. */
export type Eligibility = Pick<
  MemoryRecord,
  | 'scope'
  | 'type'
  | 'tags'
  | 'tier'
  | 'core'
  | 'consolidatedAt'
  | 'invalidatedAt'
  | 'expiresAt'
  | 'validFrom'
  | 'validUntil'
>;

/**
 * The first condition of eligibility that a memory does not meet at `now`; `undefined` when it is eligible.
 *
 * A memory is valid from `validFrom` until `validUntil`, both moments included; it is expired from `expiresAt` on
 * (core memories never expire), and invalid from `invalidatedAt` on. Cold memories are eligible with `deep`
 * or `cold`, those that were joined into another one (from `consolidatedAt` on) with `deep` alone, stubs never; plans
 * and transient states that are no longer valid are with `includeExpired`.
 */
export function exclusionOf(memory: Eligibility, filter: MemoryFilter, now: Instant): Exclusion | undefined {
  const excluded = filterExclusionOf(memory, filter);
  if (excluded !== undefined) return excluded;
  if (!filter.deep && memory.tier !== 'stub' && isPast(memory.consolidatedAt, now)) return 'consolidated';
  if (!searchesTier(memory.tier, filter)) return 'tier';
  if (isPast(memory.invalidatedAt, now)) return 'invalidated';
  if (isPast(memory.expiresAt, now) && !memory.core) return 'expired';
  if (memory.validFrom !== undefined && memory.validFrom > now) return 'not-yet-valid';
  if (memory.validUntil !== undefined && memory.validUntil < now) {
    if (!filter.includeExpired || !TRANSIENT_TYPES.includes(memory.type)) return 'no-longer-valid';
  }
  return undefined;
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
  memory: Pick<MemoryRecord, 'scope' | 'type' | 'tags'>,
  filter: MemoryFilter,
): 'scope' | 'type' | 'tag' | undefined {
  if (filter.scopes && !filter.scopes.includes(memory.scope)) return 'scope';
  if (filter.types && !filter.types.includes(memory.type)) return 'type';
  if (filter.typesExclude?.includes(memory.type)) return 'type';
  if (filter.tags && !filter.tags.every((tag) => memory.tags.includes(tag))) return 'tag';
  return undefined;
}
