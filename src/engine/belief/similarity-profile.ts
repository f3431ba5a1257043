import { type ResolvedProfile, resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';

/** By their requirement, of which an embedder has a few: resolving one takes as long as a search. */
const profiles = new Map<string, ResolvedProfile>();

/** The profile that ranks by similarity, of memories that are more similar than a threshold, or at least as similar. */
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
