import type { MemoryRecord } from '../domain/memory.ts';
import { evaluate } from '../scoring/evaluate.ts';
import { compareRanked, type Ranked } from '../scoring/order.ts';
import { failedRequirement } from '../scoring/score.ts';
import { type CompleteSignals, type Signals, signalsOf, UNRELATED } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import { checkQueryVector } from '../store/derived.ts';
import { exclusionOf, filterExclusionOf, isBelieved, searchesTier } from '../store/eligibility.ts';
import { grouped, type Standing, standingsOf } from '../store/standing.ts';
import type { SearchableMemory, SearchableSpace } from '../store/state.ts';
import type {
  Inspection,
  MemoryFilter,
  PreparedQuery,
  ScoredMemory,
  SearchAnswer,
  SearchRequest,
} from '../store/store.ts';
import { containsText, SUBSTRING_RELEVANCE } from '../store/substring.ts';
import { type Bm25Query, bm25Score, lexicalRelevance, prepareBm25Query } from '../text/bm25.ts';

/** The definition of a search, one memory after the other: what every faster search must reproduce bit for bit. */
export function searchNaively(space: SearchableSpace, request: SearchRequest): SearchAnswer {
  const started = performance.now();
  const { memories, sequence } = space;
  const standings = standingsIn(space, request.filter, request.now);
  const bm25 = bm25QueryOf(memories, request.query);
  const filtered = memories.filter(
    ({ memory }) =>
      filterExclusionOf(memory, request.filter) === undefined && searchesTier(memory.tier, request.filter),
  );
  const eligible = filtered
    .filter(({ memory }) => {
      const { superseded } = standings.get(memory.id) ?? ORDINARY;
      return exclusionOf({ ...memory, superseded }, request.filter, request.now) === undefined;
    })
    .map((each) => ({ memory: each.memory, ...measure(each, bm25, request.query, standings) }));
  const candidates = eligible.filter(
    ({ signals }) => failedRequirement(request.profile, signals, request.now) === undefined,
  );
  const scored = candidates.map((each) => ({
    ...each,
    score: evaluate(request.profile.root, each.signals, request.now),
  }));
  const ranked = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => compareRanked(rankedOf(a), rankedOf(b)));
  return {
    hits: ranked.slice(0, request.limit),
    completeness: 'exact',
    upperBound: ranked[request.limit]?.score ?? 0,
    total: memories.length,
    filtered: filtered.length,
    cold: memories.filter(({ memory }) => memory.tier === 'cold').length,
    eligible: eligible.length,
    lexicalMatches: eligible.filter((each) => (each.signals.lexical ?? 0) > 0).length,
    withVector: eligible.filter((each) => each.signals.similarity !== undefined).length,
    candidates: candidates.length,
    scored: scored.length,
    sequence,
    durations: { eligible: 0, lexical: 0, vector: 0, score: performance.now() - started },
  };
}

/** What {@link searchNaively} makes of these memories, in order; `undefined` where there is none. */
export function inspectNaively(
  space: SearchableSpace,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): readonly (Inspection | undefined)[] {
  const { profile, query, filter, now } = request;
  const { memories } = space;
  const standings = standingsIn(space, filter, now);
  const bm25Query = bm25QueryOf(memories, query);
  return ids.map((id) => {
    const found = memories.find(({ memory }) => memory.id === id);
    if (!found) return undefined;
    const { signals, bm25 } = measure(found, bm25Query, query, standings);
    const { superseded } = standings.get(id) ?? ORDINARY;
    return {
      id,
      ordinal: found.memory.ordinal,
      signals,
      bm25,
      score: evaluate(profile.root, signals, now),
      excluded: exclusionOf({ ...found.memory, superseded }, filter, now),
      failedRequirement: failedRequirement(profile, signals, now),
    };
  });
}

const ORDINARY: Standing = { superseded: false, conflict: 0 };

function standingsIn(
  { memories, pairs }: SearchableSpace,
  filter: MemoryFilter,
  now: number,
): ReadonlyMap<string, Standing> {
  const byId = new Map(memories.map(({ memory }) => [memory.id, memory]));
  const successors = grouped(
    memories.flatMap(({ memory }) => memory.supersedes.map((older) => [older, memory.id] as const)),
  );
  const newer = grouped(
    pairs
      .filter(({ kind }) => kind === 'update')
      .map(({ older, newer: key, similarity }) => [older, { key, similarity }] as const),
  );
  return standingsOf({ successors, newer }, (id) => {
    const memory = byId.get(id);
    return memory !== undefined && isBelieved(memory, filter, now);
  });
}

/** The signals of a memory for a query, and its BM25. */
function measure(
  { memory, terms, vector }: SearchableMemory,
  bm25Query: Bm25Query,
  query: PreparedQuery,
  standings: ReadonlyMap<string, Standing>,
): { readonly signals: Signals; readonly bm25: number } {
  // The words of a stub are not searched, as they are not counted.
  const frequencyOf = (term: string) => (memory.tier === 'stub' ? 0 : terms.get(term));
  const bm25 = bm25Score(bm25Query, frequencyOf, lengthOf(terms));
  if (query.vector && vector) checkQueryVector(query.vector, vector.length);
  const signals: CompleteSignals = Object.assign(signalsOf(memory), standings.get(memory.id) ?? UNRELATED, {
    similarity: query.vector && vector ? cosine(query.vector, vector) : undefined,
    lexical: lexicalOf(memory, query, bm25, bm25Query),
  });
  return { signals, bm25 };
}

function lexicalOf(
  memory: MemoryRecord,
  query: PreparedQuery,
  bm25: number,
  bm25Query: Bm25Query,
): number | undefined {
  if (query.terms.length > 0) return lexicalRelevance(bm25, bm25Query.idfSum);
  if (query.substring === undefined) return undefined;
  return containsText(memory, query.substring) ? SUBSTRING_RELEVANCE : 0;
}

/** Statistics over all memories that are not stubs, eligible or not. */
function bm25QueryOf(memories: readonly SearchableMemory[], query: PreparedQuery): Bm25Query {
  const counted = memories.filter(({ memory }) => memory.tier !== 'stub');
  let length = 0;
  for (const { terms } of counted) length += lengthOf(terms);
  return prepareBm25Query(query.terms, {
    memoryCount: counted.length,
    averageLength: counted.length > 0 ? length / counted.length : 0,
    documentFrequency: (term) => counted.filter(({ terms }) => terms.has(term)).length,
  });
}

function lengthOf(terms: ReadonlyMap<string, number>): number {
  let length = 0;
  for (const count of terms.values()) length += count;
  return length;
}

function rankedOf({ memory, signals, bm25, score }: ScoredMemory): Ranked {
  return {
    score,
    bm25,
    similarity: signals.similarity,
    updatedAt: memory.updatedAt,
    ordinal: memory.ordinal,
  };
}
