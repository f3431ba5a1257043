import fc from 'fast-check';
import { expect } from 'vitest';
import type { MemoryRecord } from '../domain/memory.ts';
import { meetsMetadata } from '../domain/metadata-condition.ts';
import { MILLISECONDS_PER_DAY } from '../domain/time.ts';
import { signalsOf } from '../scoring/signals.ts';
import { conductInspection, conductSearch } from '../search/conduct.ts';
import { createResidentIndex, putMemory, type ResidentIndex, turnOf } from '../search/resident-index.ts';
import { grouped, type Relations } from '../store/belief-state.ts';
import { areAtMost } from '../store/candidates.ts';
import type { KeyedRows } from '../store/rows.ts';
import type { SearchableMemory } from '../store/state.ts';
import type { IndexedText, Inspection, MemoryFilter, NewPair, SearchRequest } from '../store/store.ts';
import { containsText } from '../store/substring.ts';
import { arbitraryMemory, arbitraryVector } from './arbitrary-memory.ts';
import { arbitraryConditions } from './arbitrary-metadata.ts';
import { ARBITRARY_NOW } from './arbitrary-profile.ts';
import { inspectNaively, searchNaively } from './naive-search.ts';
import { sampleMemory, unitVector } from './sample-memory.ts';
import { seededRandom } from './seeded-random.ts';

/** The length of every vector drawn here: one step of the kernel, and a few components more. */
export const DIMENSIONS = 18;
/** All words of the memories and of the queries drawn here. */
export const vocabulary = ['amber', 'birch', 'cedar', 'dune', 'ember'];
const termId = (term: string) => (vocabulary.includes(term) ? vocabulary.indexOf(term) : undefined);

/** Words of a memory with their counts. */
export const arbitraryTerms = fc
  .dictionary(fc.constantFrom(...vocabulary), fc.integer({ min: 1, max: 4 }))
  .map((counts) => new Map(Object.entries(counts)));

/** Memories with many ties: few distinct values, some without a vector, some that differ only in their id. */
export const arbitraryStore = fc
  .array(
    fc.record({
      memory: arbitraryMemory,
      terms: arbitraryTerms,
      vector: fc.option(arbitraryVector(DIMENSIONS), { nil: undefined }),
      copies: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 40 },
  )
  .map((entries) =>
    entries.flatMap(({ memory, terms, vector, copies }, at) =>
      Array.from({ length: copies }, (_, copy): SearchableMemory => {
        // Short chains in both directions.
        const supersedes =
          at % 4 === 1 ? [`${at - 1}-0`] : at % 4 === 2 ? [`${at + 1}-0`, `${at - 1}-0`] : [];
        // An order that differs from that of the rows, so that only the ordinal breaks ties.
        const ordinal = (((at * 3 + copy) * 7) % 127) + 1;
        return {
          memory: { ...memory, id: `${at}-${copy}`, ordinal, supersedes } as MemoryRecord,
          terms,
          vector,
        };
      }),
    ),
  );

/** Mostly absent, because all parts of a filter together would exclude everything. */
const rarely = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

/** Scopes, types, tags, metadata, depth and a moment of validity. */
export const arbitraryFilter: fc.Arbitrary<MemoryFilter> = fc.record({
  scopes: rarely(fc.subarray(['global', 'project:match', 'team:a/project:b'])),
  inScope: rarely(fc.constantFrom('global', 'project:match', 'project:*', 'team:*', 'nowhere')),
  types: rarely(fc.subarray(['fact', 'event', 'decision', 'other'])),
  typesExclude: rarely(fc.subarray(['fact', 'event'])),
  metadata: rarely(arbitraryConditions),
  tags: rarely(fc.constantFrom([], ['tea'], ['tea', 'Berlin'], ['nowhere'])),
  deep: rarely(fc.boolean()),
  cold: rarely(fc.boolean()),
  includeExpired: rarely(fc.boolean()),
  validAt: rarely(fc.integer({ min: -100, max: 100 }).map((days) => ARBITRARY_NOW + days * 86_400_000)),
});

const arbitraryRange = fc
  .tuple(fc.integer({ min: -100, max: 20 }), fc.constantFrom(1, 7, 30))
  .map(([first, days]) => {
    const start = ARBITRARY_NOW + first * MILLISECONDS_PER_DAY;
    return { text: 'then', start, end: start + days * MILLISECONDS_PER_DAY };
  });

/** Words that no memory has: unlike any, similar to two, misspelt twice, and the beginning of one. */
const unknownWords = ['unknown', 'umber', 'brich', 'ambers', 'embe'];

/** Words, among them some that no memory has, or a text without words; mostly a vector, names and dates. */
export const arbitraryQuery = fc
  .record({
    terms: fc.uniqueArray(fc.constantFrom(...vocabulary, ...unknownWords)).map((terms) => terms.sort()),
    vector: fc.option(arbitraryVector(DIMENSIONS), { nil: undefined }),
    text: fc.constantFrom(
      undefined,
      'What did Ann say?',
      'Which Lee is it, Bob?',
      'Will Will come?',
      '東京はどうだった',
      'nobody',
    ),
    dates: fc.option(fc.array(arbitraryRange, { maxLength: 2 }), { nil: undefined }),
    substring: fc.constantFrom(undefined, '東京', 'EA', '?', 'nowhere'),
  })
  // Only a query without terms has a substring.
  .map(({ substring, ...query }) => (query.terms.length === 0 ? { ...query, substring } : query));

/** Limits below, at and above the size of the groups in which rows are evaluated, and above the number of rows. */
export const arbitraryLimit: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 13, max: 40 }),
  fc.constantFrom(15, 16, 17, 32, 1000),
);

/** A vector of length 1 whose similarities are almost never known exactly from 8 bits a component. */
export function denseVector(random: () => number, dimensions: number = DIMENSIONS): Float32Array {
  return unitVector(Array.from({ length: dimensions }, () => random() - 0.25));
}

/** Visible memories, one in nine without a vector. Cheap to create, for properties that need many rows. */
export function plainStore(seed: number, rows: number): readonly SearchableMemory[] {
  const random = seededRandom(seed);
  return Array.from({ length: rows }, (_, at): SearchableMemory => {
    const memory = sampleMemory({
      id: `m${at}`,
      ordinal: at + 1,
      importance: random(),
      usefulness: random(),
      confidence: Math.round(random() * 4) / 4,
      accessCount: Math.floor(random() * 60),
      revisionCount: 1 + Math.floor(random() * 12),
      updatedAt: ARBITRARY_NOW - Math.floor(random() * 100) * 86_400_000,
    });
    const terms = new Map(vocabulary.filter(() => random() < 0.4).map((term) => [term, 1]));
    return { memory, terms, vector: random() < 1 / 9 ? undefined : denseVector(random) };
  });
}

/** An index of these memories, each by its place in the list. */
export function indexOf(memories: readonly SearchableMemory[]): ResidentIndex {
  const index = createResidentIndex();
  memories.forEach(({ memory, terms, vector }, key) => {
    putMemory(index, indexed(key, memory, { terms, vector }));
  });
  return index;
}

/** Converts a memory to the row that an index reads. */
export function indexed(key: number, memory: MemoryRecord, { terms, vector }: IndexedText) {
  const sorted = [...terms]
    .map(([term, count]) => [termId(term)!, count] as const)
    .sort((a, b) => a[0] - b[0]);
  return {
    key,
    ordinal: memory.ordinal,
    signals: signalsOf(memory),
    tags: memory.tags,
    turn: turnOf(memory),
    termIds: sorted.map(([id]) => id),
    termCounts: sorted.map(([, count]) => count),
    vector,
  };
}

/** Every third memory is similar to the one after it, and all but every ninth may be an update of it. */
function pairsOf(living: readonly SearchableMemory[]): readonly NewPair[] {
  return living.flatMap(({ memory }, at): NewPair[] => {
    const older = living[at + 1];
    return at % 3 === 0 && older
      ? [
          {
            older: older.memory.id,
            newer: memory.id,
            kind: at % 9 === 0 ? 'similar' : 'update',
            similarity: ((at % 7) + 1) / 8,
          },
        ]
      : [];
  });
}

/** Returns which memories supersede or may update which, by key. */
export function relationsOf(
  memories: readonly SearchableMemory[],
  living: readonly SearchableMemory[],
): Relations<number> {
  const keys = new Map(memories.map(({ memory }, key) => [memory.id, key]));
  const keyOf = (id: string) => keys.get(id) ?? -1;
  return {
    successors: grouped(
      living.flatMap(({ memory }) =>
        memory.supersedes.map((older) => [keyOf(older), keyOf(memory.id)] as const),
      ),
    ),
    newer: grouped(
      pairsOf(living)
        .filter(({ kind }) => kind === 'update')
        .map(({ older, newer, similarity }) => [keyOf(older), { key: keyOf(newer), similarity }] as const),
    ),
  };
}

/** A store that only has rows by key. */
function rowsOf(memories: readonly SearchableMemory[]): KeyedRows {
  return {
    vectors: (keys) => keys.map((key) => memories[key]!.vector),
    records: (keys) => keys.map((key) => memories[key]!.memory),
    keysOf(ids) {
      const keys = new Map(memories.map(({ memory }, key) => [memory.id, key]));
      return ids.map((id) => keys.get(id));
    },
    idsOf: (keys) => keys.map((key) => memories[key]?.memory.id),
    termIds: (terms) => terms.map(termId),
    termsOf: (ids) => ids.map((id) => vocabulary[id]),
    keysWithMetadata: (conditions) =>
      new Set(
        [...memories.keys()].filter((key) => meetsMetadata(memories[key]!.memory.metadata, conditions)),
      ),
    keysContaining: (text) => [...memories.keys()].filter((key) => containsText(memories[key]!.memory, text)),
  };
}

/** A search over the index. */
export async function searchByIndex(
  index: ResidentIndex,
  memories: readonly SearchableMemory[],
  living: readonly SearchableMemory[],
  request: SearchRequest,
  relations: Relations<number> = relationsOf(memories, living),
) {
  const sizes =
    request.limit % 2 === 0
      ? { skimFrom: 0, fewestStrong: 2048, commonFrom: 2048 }
      : { skimFrom: 0, fewestStrong: 1, commonFrom: 1 };
  const state = { index, relations, sequence: 0 };
  const answer = await conductSearch(state, rowsOf(memories), request, sizes);
  return { ...answer, ids: answer.hits.map(({ memory }) => memory.id) };
}

/** Expects the index to inspect all memories, also those that no search returns, exactly as brute force does. */
export async function expectSameInspection(
  memories: readonly SearchableMemory[],
  ids: readonly string[],
  request: Omit<SearchRequest, 'limit'>,
): Promise<readonly (Inspection | undefined)[]> {
  const state = { index: indexOf(memories), relations: relationsOf(memories, memories), sequence: 0 };
  const found = await conductInspection(state, rowsOf(memories), ids, request);
  expect(found).toEqual(inspectNaively({ memories, pairs: pairsOf(memories), sequence: 0 }, ids, request));
  return found;
}

export type IndexedAnswer = Awaited<ReturnType<typeof searchByIndex>>;

/** Expects the index to answer bit for bit as brute force does, with an upper bound that is true and not trivial. */
export async function expectSame(
  index: ResidentIndex,
  memories: readonly SearchableMemory[],
  living: readonly SearchableMemory[],
  request: SearchRequest,
  relations?: Relations<number>,
): Promise<IndexedAnswer> {
  const naive = searchNaively({ memories: living, pairs: pairsOf(living), sequence: 0 }, request);
  const found = await searchByIndex(index, memories, living, request, relations);
  expect(found.ids).toEqual(naive.hits.map(({ memory }) => memory.id));
  // Bit for bit: toEqual on numbers is Object.is.
  expect(found.hits.map(({ score }) => score)).toEqual(naive.hits.map(({ score }) => score));
  expect(found.hits.map(({ bm25 }) => bm25)).toEqual(naive.hits.map(({ bm25 }) => bm25));
  expect(found.hits.map(({ signals }) => signals)).toEqual(naive.hits.map(({ signals }) => signals));
  expect(found.hits.map(({ words }) => words)).toEqual(naive.hits.map(({ words }) => words));
  expect(found.spelling).toEqual(naive.spelling);
  expect([found.total, found.cold]).toEqual([naive.total, naive.cold]);
  expect([found.filtered, found.eligible]).toEqual([naive.filtered, naive.eligible]);
  expect(found.lexicalMatches).toBe(naive.lexicalMatches);
  expect(found.withVector).toBe(naive.withVector);
  if (areAtMost(found, request.profile)) expect(found.candidates).toBeGreaterThanOrEqual(naive.candidates);
  else expect(found.candidates).toBe(naive.candidates);
  // The certificate: no eligible memory outside the hits scores more than the bound.
  for (const score of scoresOutside(living, request, found.ids)) {
    expect(found.upperBound).toBeGreaterThanOrEqual(score);
  }
  const last = found.hits.at(-1);
  if (last && found.hits.length === request.limit)
    expect(found.upperBound).toBeLessThanOrEqual(last.score + 2e-9);
  return found;
}

/** The scores of eligible memories that are not among the hits. */
function scoresOutside(
  living: readonly SearchableMemory[],
  request: SearchRequest,
  ids: readonly string[],
): readonly number[] {
  const everything = { ...request, limit: living.length + 1 };
  const { hits } = searchNaively({ memories: living, pairs: pairsOf(living), sequence: 0 }, everything);
  const returned = new Set(ids);
  return hits.flatMap(({ memory, score }) => (returned.has(memory.id) ? [] : [score]));
}
