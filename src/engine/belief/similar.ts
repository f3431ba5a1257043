import { type ResolvedProfile, resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';

/** By their requirement, of which an embedder has a few: resolving one takes as long as a search. */
const profiles = new Map<string, ResolvedProfile>();

/** Ranks by similarity what is more similar than a threshold, or at least as similar. */
export function similarTo(limit: 'above' | 'atLeast', threshold: number): ResolvedProfile {
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
