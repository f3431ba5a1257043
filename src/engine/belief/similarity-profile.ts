import { type ResolvedProfile, resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';

/**
 * Resolved profiles by limit and threshold. An embedder has only a few thresholds, and resolving a profile takes as
 * long as a search.
 */
const profiles = new Map<string, ResolvedProfile>();

/** Returns the profile that ranks by similarity the memories above a threshold, or at or above it. */
export function similarityProfile(limit: 'above' | 'atLeast', threshold: number): ResolvedProfile {
  const key = `${limit} ${threshold}`;
  const profile =
    profiles.get(key) ??
    resolveProfile({
      ...builtinProfile('vector'),
      require: [{ signal: 'similarity', [limit]: threshold }],
    });
  profiles.set(key, profile);
  return profile;
}
