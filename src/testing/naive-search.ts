import type { MemoryRecord } from '../domain/memory.ts';
import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { exponentialDecay } from '../scoring/arithmetic.ts';
import { evaluate, signalsRead } from '../scoring/evaluate.ts';
import { compareRanked, type Ranked } from '../scoring/order.ts';
import { failedRequirement } from '../scoring/score.ts';
import {
  type CompleteSignals,
  type QuerySignals,
  type Signals,
  signalsOf,
  UNRELATED,
} from '../scoring/signals.ts';
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
import { namedAuthors } from '../text/names.ts';

/** The definition of a search, one memory after the other: what every faster search must reproduce bit for bit. */
export function searchNaively(space: SearchableSpace, request: SearchRequest): SearchAnswer {
  const started = performance.now();
  const { memories, sequence } = space;
  const standings = standingsIn(space, request.filter, request.now);
  const around = surroundings(space, request, standings);
  const filtered = memories.filter(
    ({ memory }) =>
      filterExclusionOf(memory, request.filter) === undefined && searchesTier(memory.tier, request.filter),
  );
  const eligible = filtered
    .filter(({ memory }) => {
      const { superseded } = standings.get(memory.id) ?? ORDINARY;
      return exclusionOf({ ...memory, superseded }, request.filter, request.now) === undefined;
    })
    .map((each) => ({ memory: each.memory, ...measure(each, around, request, standings) }));
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
    durations: { eligible: 0, lexical: 0, vector: 0, score: performance.now() - started },
  };
}

/** What {@link searchNaively} makes of these memories, in order; `undefined` where there is none. */
export function inspectNaively(
  space: SearchableSpace,
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): readonly (Inspection | undefined)[] {
  const { profile, filter, now } = request;
  const { memories } = space;
  const standings = standingsIn(space, filter, now);
  const around = surroundings(space, request, standings);
  return ids.map((id) => {
    const found = memories.find(({ memory }) => memory.id === id);
    if (!found) return undefined;
    const { signals, bm25 } = measure(found, around, request, standings);
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

/** What the signals of one memory depend on beside it. */
interface Around {
  readonly bm25: Bm25Query;
  /** The authors that the query names, of those that the recall sees, whatever it returns. */
  readonly named: readonly string[];
  readonly hasRoles: boolean;
  /** Of each session, what is visible, in its order. */
  readonly turns: ReadonlyMap<string, readonly SearchableMemory[]>;
  readonly sessions: Bm25Query;
}

function surroundings(
  { memories }: SearchableSpace,
  { query, filter, now }: Omit<SearchRequest, 'limit'>,
  standings: ReadonlyMap<string, Standing>,
): Around {
  const { scopes, validAt, deep, includeExpired } = filter;
  const visible = memories.filter(({ memory }) => {
    const { superseded } = standings.get(memory.id) ?? ORDINARY;
    return (
      exclusionOf({ ...memory, superseded }, { scopes, validAt, deep, includeExpired }, now) === undefined
    );
  });
  const authors = visible.flatMap(({ memory }) => (memory.author ? [memory.author] : []));
  const turns = grouped(
    visible.flatMap((each) =>
      each.memory.bornIn === undefined ? [] : [[each.memory.bornIn, each] as const],
    ),
  );
  const sessions = [...turns.values()];
  for (const each of sessions) each.sort((a, b) => inOrder(a.memory, b.memory));
  const lengths = sessions.map((each) => sumOf(each, ({ terms }) => lengthOf(terms)));
  return {
    bm25: bm25QueryOf(memories, query),
    named: query.text === undefined ? [] : namedAuthors(query.text, [...new Set(authors)]),
    hasRoles: visible.some(({ memory }) => memory.role !== undefined),
    turns,
    sessions: prepareBm25Query(query.terms, {
      memoryCount: sessions.length,
      averageLength: sessions.length > 0 ? sumOf(lengths, (each) => each) / sessions.length : 0,
      documentFrequency: (term) =>
        sessions.filter((each) => each.some(({ terms }) => terms.has(term))).length,
    }),
  };
}

/** The signals of a memory for a query, and its BM25. */
function measure(
  searched: SearchableMemory,
  around: Around,
  { profile, query }: Omit<SearchRequest, 'limit'>,
  standings: ReadonlyMap<string, Standing>,
): { readonly signals: Signals; readonly bm25: number } {
  const { memory, vector } = searched;
  const bm25 = bm25Score(around.bm25, (term) => wordsOf(searched).get(term), lengthOf(wordsOf(searched)));
  if (query.vector && vector) checkQueryVector(query.vector, vector.length);
  const lexical = lexicalOf(memory, query, bm25, around.bm25);
  const read = signalsRead(profile);
  const asked = lexical !== undefined;
  const found: QuerySignals = {
    similarity: query.vector && vector ? cosine(query.vector, vector) : undefined,
    lexical,
    contextLexical:
      asked && read.has('contextLexical') ? contextOf(searched, around, query, lexical) : undefined,
    sessionLexical:
      asked && read.has('sessionLexical') ? sessionOf(searched, around, query, lexical) : undefined,
    authorNamed: read.has('authorNamed') ? authorOf(memory, around) : undefined,
    dateMatch: read.has('dateMatch') ? dateOf(memory, query) : undefined,
    saidByUser:
      read.has('saidByUser') && around.hasRoles ? Number((memory.role ?? 'user') === 'user') : undefined,
  };
  return {
    signals: Object.assign(
      signalsOf(memory),
      standings.get(memory.id) ?? UNRELATED,
      found,
    ) as CompleteSignals,
    bm25,
  };
}

/** The words of a stub are not searched, as they are not counted. */
function wordsOf({ memory, terms }: SearchableMemory): ReadonlyMap<string, number> {
  return memory.tier === 'stub' ? new Map() : terms;
}

/** The words of a memory and, less and less, of the turns around it. */
function contextOf(
  searched: SearchableMemory,
  around: Around,
  query: PreparedQuery,
  lexical: number,
): number {
  const { memory } = searched;
  const others = turnsOf(memory, around).filter((each) => each.memory.id !== memory.id);
  const last = others.at(-1)?.memory;
  const replaced = memory.revisionCount > 1 && last !== undefined && memory.updatedAt > last.createdAt;
  const isTurn = (each: MemoryRecord) => each.type !== 'summary' && each.source !== 'consolidated';
  if (query.terms.length === 0 || memory.bornIn === undefined || replaced || !isTurn(memory)) return lexical;
  const place = others.filter((each) => inOrder(each.memory, memory) < 0).length;
  const share = (each: SearchableMemory) => Math.min(1, 25 / Math.max(1, lengthOf(wordsOf(each))));
  const neighbours = [
    [others[place - 1], /[?？؟]/.test(others[place - 1]?.memory.content ?? '') ? 0.7 : 0.3],
    [others[place], 0.25],
    [others[place - 2], 0.15],
    [others[place + 1], 0.15],
  ] as const;
  const sum = (of: (words: ReadonlyMap<string, number>) => number) => {
    let total = of(wordsOf(searched));
    for (const [each, base] of neighbours) {
      if (each && isTurn(each.memory)) total += base * (share(searched) * share(each)) * of(wordsOf(each));
    }
    return total;
  };
  const score = bm25Score(around.bm25, (term) => sum((words) => words.get(term) ?? 0), sum(lengthOf));
  return lexicalRelevance(score, around.bm25.idfSum);
}

/** The words of all that its session says. */
function sessionOf(
  { memory }: SearchableMemory,
  around: Around,
  query: PreparedQuery,
  lexical: number,
): number {
  const { sessions } = around;
  const turns = turnsOf(memory, around);
  if (query.terms.length === 0 || memory.bornIn === undefined || turns.length === 0) return lexical;
  const count = (term: string) => sumOf(turns, ({ terms }) => terms.get(term) ?? 0);
  const length = sumOf(turns, ({ terms }) => lengthOf(terms));
  return lexicalRelevance(bm25Score(sessions, count, length), sessions.idfSum);
}

function turnsOf({ bornIn }: MemoryRecord, { turns }: Around): readonly SearchableMemory[] {
  return bornIn === undefined ? [] : (turns.get(bornIn) ?? []);
}

function authorOf({ author }: MemoryRecord, { named }: Around): number | undefined {
  return named.length === 0 ? undefined : Number(named.length === 1 && named[0] === author);
}

function dateOf({ createdAt }: MemoryRecord, { dates = [] }: PreparedQuery): number | undefined {
  const off = dates.map(({ start, end }) => Math.max(0, start - createdAt, createdAt - end));
  return off.length === 0 ? undefined : exponentialDecay(Math.min(...off) / MILLISECONDS_PER_DAY, 7);
}

function inOrder(a: MemoryRecord, b: MemoryRecord): number {
  return a.createdAt - b.createdAt || a.ordinal - b.ordinal;
}

function sumOf<Each>(list: readonly Each[], of: (each: Each) => number): number {
  return list.reduce((total, each) => total + of(each), 0);
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
