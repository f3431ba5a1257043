import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MemoryRecord } from '../model/memory.ts';
import { bindProfile } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { signalsOf } from '../scoring/signals.ts';
import { type SearchableMemory, searchNaively } from '../store/naive-search.ts';
import { grouped, type Relations } from '../store/standing.ts';
import type { IndexedText, MemoryFilter, NewPair, SearchRequest } from '../store/store.ts';
import { arbitraryMemory, arbitraryVector } from '../testing/arbitrary-memory.ts';
import { ARBITRARY_NOW, arbitraryProfile } from '../testing/arbitrary-profile.ts';
import { eligibleRows } from './eligible.ts';
import { lexicalScores, noLexicalScores } from './lexical.ts';
import { createResidentIndex, putMemory, type ResidentIndex, removeMemory } from './resident-index.ts';
import { searchIndex } from './search.ts';
import { decodeSnapshot, encodeSnapshot } from './snapshot.ts';
import { applyStandings } from './standing.ts';

const DIMENSIONS = 5;
const vocabulary = ['amber', 'birch', 'cedar', 'dune', 'ember'];
const termId = (term: string) => (vocabulary.includes(term) ? vocabulary.indexOf(term) : undefined);

const arbitraryTerms = fc
  .dictionary(fc.constantFrom(...vocabulary), fc.integer({ min: 1, max: 4 }))
  .map((counts) => new Map(Object.entries(counts)));

/** Memories with many ties: few distinct values, some without a vector, some equal but for their id. */
const arbitraryStore = fc
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
        // Chains of a few, in both directions.
        const supersedes =
          at % 4 === 1 ? [`${at - 1}-0`] : at % 4 === 2 ? [`${at + 1}-0`, `${at - 1}-0`] : [];
        return { memory: { ...memory, id: `${at}-${copy}`, supersedes } as MemoryRecord, terms, vector };
      }),
    ),
  );

const arbitraryFilter: fc.Arbitrary<MemoryFilter> = fc.record(
  {
    scopes: fc.subarray(['global', 'project:match', 'team:a/project:b']),
    inScope: fc.constantFrom('global', 'project:match', 'project:*', 'team:*', 'nowhere'),
    types: fc.subarray(['fact', 'event', 'decision', 'other']),
    typesExclude: fc.subarray(['fact', 'event']),
    deep: fc.boolean(),
    cold: fc.boolean(),
    includeExpired: fc.boolean(),
    validAt: fc.integer({ min: -100, max: 100 }).map((days) => ARBITRARY_NOW + days * 86_400_000),
  },
  { requiredKeys: [] },
);

const arbitraryQuery = fc.record({
  terms: fc.uniqueArray(fc.constantFrom(...vocabulary, 'unknown')).map((terms) => terms.sort()),
  vector: fc.option(arbitraryVector(DIMENSIONS), { nil: undefined }),
});

function indexOf(memories: readonly SearchableMemory[]): ResidentIndex {
  const index = createResidentIndex();
  memories.forEach(({ memory, terms, vector }, key) => {
    putMemory(index, indexed(key, memory, { terms, vector }));
  });
  return index;
}

function indexed(key: number, memory: MemoryRecord, { terms, vector }: IndexedText) {
  const sorted = [...terms]
    .map(([term, count]) => [termId(term)!, count] as const)
    .sort((a, b) => a[0] - b[0]);
  return {
    key,
    signals: signalsOf(memory, {}),
    tags: memory.tags,
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

function relationsOf(
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

function searchByIndex(
  index: ResidentIndex,
  memories: readonly SearchableMemory[],
  living: readonly SearchableMemory[],
  request: SearchRequest,
) {
  const undo = applyStandings(index, relationsOf(memories, living), request.filter, request.now);
  try {
    return searchStanding(index, memories, request);
  } finally {
    undo();
  }
}

function searchStanding(index: ResidentIndex, memories: readonly SearchableMemory[], request: SearchRequest) {
  const { rows, filtered } = eligibleRows(index, request.filter, request.now);
  const lexical =
    request.query.terms.length > 0
      ? lexicalScores(index, request.query.terms, termId)
      : noLexicalScores(index);
  const { profile, now, limit, query } = request;
  const answer = searchIndex(
    index,
    { profile, rows, lexical, vector: query.vector, now, limit },
    {
      vectors: (keys) => keys.map((key) => memories[key]!.vector),
      id: (key) => memories[key]!.memory.id,
    },
  );
  return {
    ...answer,
    filtered,
    eligible: rows.length,
    ids: answer.hits.map(({ key }) => memories[key]!.memory.id),
  };
}

function expectSame(
  index: ResidentIndex,
  memories: readonly SearchableMemory[],
  living: readonly SearchableMemory[],
  request: SearchRequest,
) {
  const naive = searchNaively({ memories: living, pairs: pairsOf(living), sequence: 0 }, request);
  const found = searchByIndex(index, memories, living, request);
  expect(found.ids).toEqual(naive.hits.map(({ memory }) => memory.id));
  // Bit for bit: toEqual on numbers is Object.is.
  expect(found.hits.map(({ score }) => score)).toEqual(naive.hits.map(({ score }) => score));
  expect(found.hits.map(({ bm25 }) => bm25)).toEqual(naive.hits.map(({ bm25 }) => bm25));
  expect([found.filtered, found.eligible]).toEqual([naive.filtered, naive.eligible]);
  expect(found.lexicalMatches).toBe(naive.lexicalMatches);
  expect(found.withVector).toBe(naive.withVector);
  // The certificate: the best memory left out scores no more than the bound.
  expect(found.bound).toBeGreaterThanOrEqual(naive.bound);
  const last = found.hits.at(-1);
  if (last && found.hits.length === request.limit) expect(found.bound).toBeLessThanOrEqual(last.score + 2e-9);
}

describe('the index finds exactly what brute force finds', () => {
  test('for random formulas, stores, filters, ties and missing vectors', () => {
    fc.assert(
      fc.property(
        arbitraryStore,
        arbitraryProfile(),
        arbitraryQuery,
        arbitraryFilter,
        fc.integer({ min: 1, max: 12 }),
        (memories, definition, query, filter, limit) => {
          const profile = bindProfile(defineProfile(definition));
          const request = { profile, query, filter, now: ARBITRARY_NOW, limit };
          expectSame(indexOf(memories), memories, memories, request);
        },
      ),
      { numRuns: 1500 },
    );
  });

  test.each(BUILTIN_PROFILE_NAMES)('for %s', (name) => {
    fc.assert(
      fc.property(
        arbitraryStore,
        arbitraryQuery,
        arbitraryFilter,
        fc.integer({ min: 1, max: 12 }),
        (memories, query, filter, limit) => {
          const profile = bindProfile(builtinProfile(name));
          expectSame(indexOf(memories), memories, memories, {
            profile,
            query,
            filter,
            now: ARBITRARY_NOW,
            limit,
          });
        },
      ),
      { numRuns: 150 },
    );
  });

  test('after changes and removals, and after a snapshot of them', () => {
    const change = fc.record({
      at: fc.nat(),
      memory: arbitraryMemory,
      terms: arbitraryTerms,
      remove: fc.boolean(),
    });
    fc.assert(
      fc.property(
        arbitraryStore,
        fc.array(change, { maxLength: 20 }),
        arbitraryQuery,
        (memories, changes, query) => {
          fc.pre(memories.length > 0);
          const index = indexOf(memories);
          const living = new Map(memories.map((each, key) => [key, each]));
          const all = [...memories];
          for (const { at, memory, terms, remove } of changes) {
            const key = at % memories.length;
            const next = { ...all[key]!, memory: { ...memory, id: all[key]!.memory.id }, terms };
            if (remove) {
              removeMemory(index, key);
              living.delete(key);
            } else {
              putMemory(index, indexed(key, next.memory, next));
              all[key] = next;
              living.set(key, next);
            }
          }
          const profile = bindProfile(builtinProfile('hybrid'));
          const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 7 };
          expectSame(index, all, [...living.values()], request);
          const restored = decodeSnapshot(encodeSnapshot(index))!;
          expect(restored.dead).toBe(0);
          expectSame(restored, all, [...living.values()], request);
          // A restored index goes on growing.
          const [first] = living.entries();
          if (first) {
            putMemory(restored, indexed(first[0], first[1].memory, first[1]));
            expectSame(restored, all, [...living.values()], request);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a large store', () => {
  test('only a few memories are evaluated, and the answer is that of brute force', () => {
    const random = mulberry(7);
    const vector = () => {
      const numbers = Float32Array.from({ length: 64 }, () => random() - 0.5);
      const length = Math.sqrt(numbers.reduce((sum, each) => sum + each * each, 0));
      return numbers.map((each) => each / length);
    };
    const [sample] = fc.sample(arbitraryMemory, { numRuns: 1, seed: 1 });
    const memories = Array.from({ length: 9000 }, (_, at): SearchableMemory => {
      const updatedAt = ARBITRARY_NOW - random() * 3e10;
      const memory = {
        ...sample!,
        id: `m${at}`,
        tier: 'hot',
        core: false,
        importance: random(),
        updatedAt,
        createdAt: updatedAt,
        lastAccessedAt: undefined,
        validFrom: undefined,
        validUntil: undefined,
        expiresAt: undefined,
        invalidatedAt: undefined,
        consolidatedAt: undefined,
      } as const;
      const terms = new Map(
        vocabulary.filter(() => random() < 0.2).map((term) => [term, 1 + Math.floor(random() * 3)]),
      );
      return { memory, terms, vector: vector() };
    });
    const index = indexOf(memories);
    for (const name of ['hybrid', 'balanced', 'retention', 'scoped', 'vector'] as const) {
      const profile = bindProfile(builtinProfile(name));
      const query = { terms: ['birch', 'ember'], vector: vector() };
      const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 10 };
      expectSame(index, memories, memories, request);
      expect(searchByIndex(index, memories, memories, request).scored).toBeLessThan(700);
    }
  });
});

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
