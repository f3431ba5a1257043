import type { MemoryRecord } from '../domain/memory.ts';
import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { exponentialDecay } from '../scoring/arithmetic.ts';
import { evaluate, signalsRead } from '../scoring/evaluate.ts';
import { compareRanked, type Ranked } from '../scoring/order.ts';
import { failedRequirement } from '../scoring/score.ts';
import { type CompleteSignals, type QuerySignals, signalsOf, UNRELATED } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import { type BeliefState, beliefStates, grouped } from '../store/belief-state.ts';
import { checkQueryVector } from '../store/derived.ts';
import { exclusionOf, filterExclusionOf, isBelieved, searchesTier } from '../store/eligibility.ts';
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
import { type Bm25Query, lexicalRelevance } from '../text/bm25.ts';
import { namedAuthors } from '../text/names.ts';
import {
  bm25Of,
  contextOf,
  countedNaively,
  sessionOf,
  type WordsAround,
  wordsAround,
} from './naive-words.ts';

/** Searches by scoring one memory after the other. This defines the answer that every faster search must give bit for bit. */
export function searchNaively(space: SearchableSpace, request: SearchRequest): SearchAnswer {
  const started = performance.now();
  const { memories, sequence } = space;
  const states = statesIn(space, request.filter, request.now);
  const around = surroundings(space, request, states);
  const filtered = memories.filter(
    ({ memory }) =>
      filterExclusionOf(memory, request.filter) === undefined && searchesTier(memory.tier, request.filter),
  );
  const eligible = filtered
    .filter(({ memory }) => {
      const { superseded } = states.get(memory.id) ?? ORDINARY;
      return exclusionOf({ ...memory, superseded }, request.filter, request.now) === undefined;
    })
    .map((each) => ({ memory: each.memory, ...measure(each, around, request, states) }));
  const { floor, ...withoutFloor } = request.profile;
  const meeting = eligible.filter(
    ({ signals }) => failedRequirement(withoutFloor, signals, request.now) === undefined,
  );
  const candidates = meeting.filter(
    ({ signals }) => floor === undefined || evaluate(floor.node, signals, request.now) >= floor.atLeast,
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
    ...(floor ? { belowFloor: meeting.length - candidates.length } : {}),
    scored: scored.length,
    sequence,
    spelling: around.words.spelling,
    durations: { eligible: 0, lexical: 0, vector: 0, score: performance.now() - started, hydrate: 0 },
  };
}

/** Inspects memories as {@link searchNaively} scores them, in order; `undefined` for an unknown id. */
export function inspectNaively(
  space: SearchableSpace,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): readonly (Inspection | undefined)[] {
  const { profile, filter, now } = request;
  const { memories } = space;
  const states = statesIn(space, filter, now);
  const around = surroundings(space, request, states);
  return ids.map((id) => {
    const found = memories.find(({ memory }) => memory.id === id);
    if (!found) return undefined;
    const { signals, bm25, words } = measure(found, around, request, states);
    const { superseded } = states.get(id) ?? ORDINARY;
    return {
      id,
      ordinal: found.memory.ordinal,
      signals,
      bm25,
      words,
      score: evaluate(profile.root, signals, now),
      excluded: exclusionOf({ ...found.memory, superseded }, filter, now),
      failedRequirement: failedRequirement(profile, signals, now),
    };
  });
}

/** The ids, in order, of the memories among `ids` that a recall may return. */
export function visibleNaively(
  space: SearchableSpace,
  ids: readonly string[],
  { filter, now }: Pick<SearchRequest, 'filter' | 'now'>,
): readonly string[] {
  const states = statesIn(space, filter, now);
  return ids.filter((id) => {
    const found = space.memories.find(({ memory }) => memory.id === id);
    const { superseded } = states.get(id) ?? ORDINARY;
    return found && exclusionOf({ ...found.memory, superseded }, filter, now) === undefined;
  });
}

const ORDINARY: BeliefState = { superseded: false, conflict: 0 };

function statesIn(
  { memories, pairs }: SearchableSpace,
  filter: MemoryFilter,
  now: number,
): ReadonlyMap<string, BeliefState> {
  const byId = new Map(memories.map(({ memory }) => [memory.id, memory]));
  const successors = grouped(
    memories.flatMap(({ memory }) => memory.supersedes.map((older) => [older, memory.id] as const)),
  );
  const newer = grouped(
    pairs
      .filter(({ kind }) => kind === 'update')
      .map(({ older, newer: key, similarity }) => [older, { key, similarity }] as const),
  );
  return beliefStates({ successors, newer }, (id) => {
    const memory = byId.get(id);
    return memory !== undefined && isBelieved(memory, filter, now);
  });
}

/** The data beside a memory on which its signals depend. */
interface Around {
  readonly words: WordsAround;
  /** The authors that the query names, among those of all visible memories. */
  readonly named: readonly string[];
  readonly hasRoles: boolean;
}

function surroundings(
  { memories }: SearchableSpace,
  { query, filter, now }: Omit<SearchRequest, 'limit'>,
  states: ReadonlyMap<string, BeliefState>,
): Around {
  const { scopes, validAt, deep, includeExpired } = filter;
  const visible = memories.filter(({ memory }) => {
    const { superseded } = states.get(memory.id) ?? ORDINARY;
    return (
      exclusionOf({ ...memory, superseded }, { scopes, validAt, deep, includeExpired }, now) === undefined
    );
  });
  const authors = visible.flatMap(({ memory }) => (memory.author ? [memory.author] : []));
  return {
    words: wordsAround(memories, visible, query),
    named: query.text === undefined ? [] : namedAuthors(query.text, [...new Set(authors)]),
    hasRoles: visible.some(({ memory }) => memory.role !== undefined),
  };
}

/** The signals of a memory for a query, and its BM25. */
function measure(
  searched: SearchableMemory,
  around: Around,
  { profile, query }: Omit<SearchRequest, 'limit'>,
  states: ReadonlyMap<string, BeliefState>,
): Pick<ScoredMemory, 'signals' | 'bm25' | 'words'> {
  const { memory, vector } = searched;
  const bm25 = bm25Of(searched, around.words);
  if (query.vector && vector) checkQueryVector(query.vector, vector.length);
  const lexical = lexicalOf(memory, query, bm25, around.words.memories.bm25);
  const read = signalsRead(profile);
  const asked = lexical !== undefined;
  const found: QuerySignals = {
    similarity: query.vector && vector ? cosine(query.vector, vector) : undefined,
    lexical,
    contextLexical:
      asked && read.has('contextLexical') ? contextOf(searched, around.words, lexical) : undefined,
    sessionLexical:
      asked && read.has('sessionLexical') ? sessionOf(searched, around.words, lexical) : undefined,
    authorNamed: read.has('authorNamed') ? authorOf(memory, around) : undefined,
    dateMatch: read.has('dateMatch') ? dateOf(memory, query) : undefined,
    saidByUser:
      read.has('saidByUser') && around.hasRoles ? Number((memory.role ?? 'user') === 'user') : undefined,
  };
  return {
    signals: Object.assign(signalsOf(memory), states.get(memory.id) ?? UNRELATED, found) as CompleteSignals,
    bm25,
    words: countedNaively(searched, around.words, read),
  };
}

function authorOf({ author }: MemoryRecord, { named }: Around): number | undefined {
  return named.length === 0 ? undefined : Number(named.length === 1 && named[0] === author);
}

function dateOf({ createdAt }: MemoryRecord, { dates = [] }: PreparedQuery): number | undefined {
  const off = dates.map(({ start, end }) => Math.max(0, start - createdAt, createdAt - end));
  return off.length === 0 ? undefined : exponentialDecay(Math.min(...off) / MILLISECONDS_PER_DAY, 7);
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

function rankedOf({ memory, signals, bm25, score }: ScoredMemory): Ranked {
  return {
    score,
    bm25,
    similarity: signals.similarity,
    updatedAt: memory.updatedAt,
    ordinal: memory.ordinal,
  };
}
