import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Condition } from '../scoring/condition.ts';
import type { Expression } from '../scoring/operators/index.ts';
import { resolveProfile, withFloor } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile, featuresOf } from '../scoring/score.ts';
import { cosine } from '../scoring/similarity.ts';
import type { SearchableMemory } from '../store/state.ts';
import type { SearchRequest } from '../store/store.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryLimit,
  arbitraryQuery,
  arbitraryStore,
  denseVector,
  expectSame,
  indexOf,
  plainStore,
  searchByIndex,
} from '../testing/index-oracle.ts';
import { clearLooked, looked } from '../testing/looked-rows.ts';
import { searchNaively } from '../testing/naive-search.ts';
import { scaledRuns } from '../testing/runs.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { dotError, quantise, quantiseQuery } from './quantise.ts';

vi.mock('./fill.ts', async (original) =>
  (await import('../testing/looked-rows.ts')).counting(await original()),
);

const hybrid = resolveProfile(builtinProfile('hybrid'));
const similarity: Expression = { op: 'signal', name: 'similarity', missing: 0.3 };
const importance: Expression = { op: 'signal', name: 'importance' };

/** By how much a floor differs from the match of a memory: not at all, by a hair, within the error of 8 bits, more. */
const hairs = fc.constantFrom(0, 0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-4, -1e-4, 2e-3, -2e-3);

/** A profile whose part `match` is 1 − similarity, and whose score is what is handed in. */
function against(score: Expression) {
  const match: Expression = {
    op: 'sum',
    terms: [
      { weight: 1, of: 1 },
      { weight: -1, of: similarity },
    ],
  };
  return resolveProfile(
    defineProfile({ name: 'against', description: 'What is unlike the query.', parts: { match }, score }),
  );
}

/** The index and brute force answer alike; both leave out what a filter of the unfloored answer leaves out. */
async function expectFloored(
  memories: readonly SearchableMemory[],
  request: SearchRequest,
  atLeast: (matches: readonly number[]) => number,
) {
  const space = { memories, pairs: [], sequence: 0 };
  const everything = searchNaively(space, { ...request, limit: memories.length + 1 }).hits;
  const matchOf = (hit: (typeof everything)[number]) =>
    featuresOf(request.profile, hit.signals, request.now)['match'] as number;
  const least = atLeast(everything.map(matchOf));
  const profile = withFloor(request.profile, 'match', least);
  const floored = { ...request, profile };
  const naive = searchNaively(space, floored);
  const kept = everything.filter((hit) => matchOf(hit) >= least);
  expect(naive.hits.map(({ memory }) => memory.id)).toEqual(
    kept.slice(0, request.limit).map(({ memory }) => memory.id),
  );
  expect(naive.hits.map(({ score }) => score)).toEqual(
    kept.slice(0, request.limit).map(({ score }) => score),
  );
  const found = await expectSame(indexOf(memories), memories, memories, floored);
  // Bounds may leave open whether a memory that is not needed reaches the floor; they never call one low that is not.
  expect(found.belowFloor).toBeLessThanOrEqual(naive.belowFloor as number);
  // With room for all, every memory that bounds leave open is evaluated, unless it scores 0 anyway.
  const unscored = naive.candidates + (naive.belowFloor as number) - everything.length;
  if (request.limit > kept.length)
    expect(found.belowFloor).toBeGreaterThanOrEqual((naive.belowFloor as number) - unscored);
  expect(found.candidates + (found.belowFloor as number)).toBe(
    naive.candidates + (naive.belowFloor as number),
  );
  const belowFloor = naive.belowFloor as number;
  return { found, kept, matches: everything.map(matchOf), naive: { least, belowFloor, unscored } };
}

describe('the index with a floor under the match', () => {
  test.each([
    ['of hybrid', hybrid],
    ['that has nothing to do with the score', against(importance)],
    ['that falls as the score rises', against(similarity)],
  ])('%s answers as brute force does, floors at a match included', async (_, profile) => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.oneof(fc.constant(2), fc.integer({ min: 1, max: 40 })),
        fc.nat(),
        fc.nat(),
        hairs,
        async (seed, rows, limit, at, hair) => {
          const memories = plainStore(seed, rows);
          const query = { terms: ['birch', 'ember'], vector: denseVector(seededRandom(~seed)) };
          const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 1 + (limit % (rows + 1)) };
          await expectFloored(memories, request, (matches) => (matches[at % matches.length] ?? 0) + hair);
        },
      ),
      { numRuns: scaledRuns(300) },
    );
  });

  test('does so over memories of every kind, filters and queries', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        arbitraryQuery,
        arbitraryFilter,
        arbitraryLimit,
        fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true })),
        async (memories, query, filter, limit, floor) => {
          // Pairs play no part here: only the oracle of the index makes them.
          const profile = withFloor(hybrid, 'match', floor);
          await expectSame(indexOf(memories), memories, memories, {
            profile,
            query,
            filter,
            now: ARBITRARY_NOW,
            limit,
          });
        },
      ),
      { numRuns: scaledRuns(300) },
    );
  });

  test('at 0 keeps all, at 1 only full matches, and rows below it displace no others', async () => {
    const memories = plainStore(7, 60);
    const query = { terms: ['birch'], vector: denseVector(seededRandom(8)) };
    const request = { profile: hybrid, query, filter: {}, now: ARBITRARY_NOW, limit: 5 };
    const all = await expectFloored(memories, request, () => 0);
    expect(all.found.belowFloor).toBe(0);
    const none = await expectFloored(memories, request, () => 1);
    expect(none.found.ids).toHaveLength(Math.min(5, none.kept.length));
    expect(none.found.belowFloor).toBeGreaterThan(0);
    const one = await expectFloored(memories, request, (matches) => Math.max(...matches));
    expect(one.found.ids).toHaveLength(1);
    expect(one.found.upperBound).toBeLessThanOrEqual(one.found.hits[0]!.score);
  });

  describe('among more memories than are looked at', () => {
    /** Some in sessions, and with words of which most memories have one. */
    const conversation = (seed: number, rows: number): readonly SearchableMemory[] => {
      const random = seededRandom(seed);
      return plainStore(seed, rows).map(({ memory, terms, vector }, at) => {
        const bornIn = random() < 0.6 ? `s${Math.floor(at / 50)}` : undefined;
        return { memory: { ...memory, bornIn }, terms, vector };
      });
    };
    const mean = (...of: readonly Expression[]): Expression => ({
      op: 'mean',
      terms: of.map((each) => ({ weight: 1, of: each })),
    });
    const sessionLexical: Expression = { op: 'signal', name: 'sessionLexical' };
    const matching = (match: Expression, score: Expression, require: readonly Condition[] = []) =>
      resolveProfile(
        defineProfile({ name: 'matching', description: 'A match.', parts: { match }, score, require }),
      );
    const profiles = [
      hybrid,
      matching(similarity, mean(importance, similarity)),
      matching(similarity, importance),
      matching(mean(similarity, sessionLexical), mean(importance, sessionLexical)),
      matching(sessionLexical, mean(importance, similarity)),
      // What has a word of the question matches less.
      matching(
        {
          op: 'sum',
          terms: [
            { weight: 0.5, of: 1 },
            { weight: 0.5, of: similarity },
            { weight: -0.5, of: { op: 'signal', name: 'lexical' } },
          ],
        },
        mean(importance, similarity),
      ),
      // What is required decides for some sessions alone.
      matching(similarity, mean(importance, similarity), [{ signal: 'sessionLexical', atMost: 0.5 }]),
      matching(similarity, mean(importance, similarity), [{ signal: 'importance', above: 0.5 }]),
    ];

    test('answers as brute force does, and counts nearly all rows below the floor as such', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            seed: fc.nat(),
            rows: fc.integer({ min: 100, max: 700 }),
            profile: fc.constantFrom(...profiles),
            terms: fc.constantFrom([], ['birch'], ['birch', 'ember'], ['unknown']),
            hasVector: fc.constantFrom(true, true, false),
            limit: fc.integer({ min: 1, max: 9 }),
            at: fc.nat(),
            hair: hairs,
          }),
          async ({ seed, rows, profile, terms, hasVector, limit, at, hair }) => {
            const memories = conversation(seed, rows);
            const vector = hasVector ? denseVector(seededRandom(~seed)) : undefined;
            const request = { profile, query: { terms, vector }, filter: {}, now: ARBITRARY_NOW, limit };
            const { matches, found, naive } = await expectFloored(memories, request, (all) =>
              all.length === 0 ? 0.5 : Math.min(1, Math.max(0, all[at % all.length]! + hair)),
            );
            // What the codes leave open.
            const near = matches.filter((match) => match < naive.least && match > naive.least - 0.02);
            if (profile.require.length === 0)
              expect(naive.belowFloor! - found.belowFloor!).toBeLessThanOrEqual(near.length + naive.unscored);
          },
        ),
        { numRuns: scaledRuns(300) },
      );
    });

    test('looks at few rows that cannot be among the best', async () => {
      const memories = conversation(3, 3000);
      const vector = denseVector(seededRandom(9));
      const request = {
        profile: withFloor(matching(similarity, mean(importance, similarity)), 'match', 0.2),
        query: { terms: [], vector },
        filter: {},
        now: ARBITRARY_NOW,
        limit: 2,
      };
      const index = indexOf(memories);
      clearLooked();
      const { candidates, belowFloor } = await searchByIndex(index, memories, memories, request);
      // All rows that are below the floor whatever the codes leave open.
      const asked = quantiseQuery(vector);
      const low = memories.filter(({ vector: own }) => {
        const error = own ? dotError(asked.residual, quantise(own).residual) : 0;
        return own !== undefined && cosine(vector, own) + 2 * error < 0.2 - 1e-5;
      });
      expect(low.length).toBeGreaterThan(50);
      expect(belowFloor).toBeGreaterThanOrEqual(low.length);
      expect(candidates).toBeGreaterThan(1500);
      // The second pass tells who of those that were passed over is below the floor.
      const [first = 0, second] = looked.picked;
      expect(first).toBeLessThan(candidates / 2);
      expect(second).toBeGreaterThan(0);
    });
  });
});
