import { type ResolvedProfile, resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import type { PreparedQuery, SearchAnswer, SearchRequest } from '../../store/store.ts';
import { start } from './harness.ts';

export const profileOf = (name: string): ResolvedProfile => resolveProfile(builtinProfile(name));

/** Returns a request that searches for words by BM25, unless `fields` says otherwise. */
export function request(query: Partial<PreparedQuery>, fields: Partial<SearchRequest> = {}): SearchRequest {
  return {
    profile: profileOf('bm25'),
    query: { terms: [], ...query },
    filter: {},
    now: start,
    limit: 10,
    ...fields,
  };
}

export const idsOf = (answer: SearchAnswer) => answer.hits.map((hit) => hit.memory.id);
