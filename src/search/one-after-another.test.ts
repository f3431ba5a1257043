import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile, withFloor } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { signalsOf } from '../scoring/signals.ts';
import type { SearchableMemory } from '../store/state.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryQuery,
  arbitraryStore,
  denseVector,
  expectSame,
  indexed,
  indexOf,
  plainStore,
  relationsOf,
  searchByIndex,
  vocabulary,
} from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { putMemory, putSignals } from './resident-index.ts';

const profiles = (['hybrid', 'bm25', 'balanced'] as const).map((name) =>
  resolveProfile(builtinProfile(name)),
);

/**
 * What a recall sees of an index, and what its formula makes of it, is kept for the next one. Recalls of one index, at
 * moments around those at which a memory begins or ceases to count, must not see what another one saw.
 */
test('recalls of one index find what brute force finds, whatever was asked before', async () => {
  const seen = new Set<number>();
  await fc.assert(
    fc.asyncProperty(
      arbitraryStore,
      fc.array(arbitraryQuery, { minLength: 1, maxLength: 3 }),
      fc.array(arbitraryFilter, { minLength: 1, maxLength: 3 }),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(),
          fc.constantFrom(-60_000, -1, 0, 0, 1, 30_000),
          fc.constantFrom(...profiles),
          fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined, freq: 3 }),
        ),
        {
          minLength: 2,
          maxLength: 10,
        },
      ),
      async (stored, queries, filters, steps) => {
        let memories = stored;
        const index = indexOf(memories);
        const relations = relationsOf(memories, memories);
        const clocks = memories.flatMap(({ memory }) =>
          [
            memory.validFrom,
            memory.validUntil,
            memory.expiresAt,
            memory.invalidatedAt,
            memory.consolidatedAt,
          ].filter((clock) => clock !== undefined),
        );
        for (const [at, which, offset, profile, importance] of steps) {
          if (importance !== undefined && memories.length > 0) {
            // A memory changes between two recalls.
            const place = which % memories.length;
            const { memory } = memories[place]!;
            const changed = { ...memory, importance };
            memories = memories.with(place, { ...memories[place]!, memory: changed });
            putSignals(index, place, signalsOf(changed));
          }
          const query = queries[at % queries.length]!;
          const now = (clocks[at % Math.max(1, clocks.length)] ?? ARBITRARY_NOW) + offset;
          const filter = filters[which % filters.length] ?? {};
          const request = { profile, query, filter, now, limit: 5 };
          const { eligible } = await expectSame(index, memories, memories, request, relations);
          seen.add(eligible);
        }
      },
    ),
    { numRuns: scaledRuns(100), seed: 1 },
  );
  expect(seen.size).toBeGreaterThan(5);
});

/** Formulas that differ in what they read, in their numbers alone, and in having a floor. */
const formulas = [
  ...profiles,
  resolveProfile(builtinProfile('hybrid'), { 'weights.session': 0.6 }),
  resolveProfile(builtinProfile('balanced'), { recencyHalfLifeDays: 2 }),
  resolveProfile(
    defineProfile({
      name: 'standing',
      description: 'What was replaced counts less.',
      score: {
        op: 'product',
        of: [
          { op: 'when', if: { attribute: 'superseded', is: 'true' }, then: 0.2, else: 1 },
          {
            op: 'mean',
            terms: [
              { weight: 1, of: { op: 'signal', name: 'similarity' } },
              { weight: 1, of: { op: 'signal', name: 'importance' } },
            ],
          },
        ],
      },
    }),
  ),
  withFloor(resolveProfile(builtinProfile('hybrid')), 'match', 0.4),
];

const MANY = 700;

/** Rare words, sessions, and memories that took the place of others. */
function manyMemories(seed: number): readonly SearchableMemory[] {
  const random = seededRandom(seed);
  return plainStore(seed, MANY).map(({ memory, vector }, at) => ({
    memory: {
      ...memory,
      bornIn: random() < 0.7 ? `s${Math.floor(random() * 30)}` : undefined,
      supersedes: at > 0 && random() < 0.05 ? [`m${Math.floor(random() * at)}`] : [],
      // A view is another one after each of these moments.
      validUntil:
        seed % 3 === 0 && random() < 0.1 ? ARBITRARY_NOW + Math.floor(random() * 3) * 86_400_000 : undefined,
    },
    terms: new Map(vocabulary.filter(() => random() < 0.03).map((term) => [term, 1])),
    vector,
  }));
}

/**
 * The same of so many memories that most are let go of by their bounds: what was made ready for one recall would be wrong for
 * another one whose words, vector, formula or moment differ, and the best would not be found.
 */
test('so do recalls of many memories, most of which are never evaluated', async () => {
  let scored = 0;
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.shuffledSubarray(formulas, { minLength: 1, maxLength: 2 }),
      fc.array(
        fc.record({
          which: fc.nat({ max: 1 }),
          terms: fc.subarray(vocabulary, { maxLength: 2 }),
          vector: fc.oneof(
            { weight: 1, arbitrary: fc.constant(undefined) },
            { weight: 3, arbitrary: fc.nat() },
          ),
          days: fc.constantFrom(0, 0, 0, 1, 40),
          deep: fc.constantFrom(false, false, true),
          limit: fc.constantFrom(1, 3, 10),
          change: fc.oneof(
            { weight: 6, arbitrary: fc.constant(undefined) },
            { weight: 1, arbitrary: fc.nat() },
          ),
        }),
        { minLength: 8, maxLength: 16 },
      ),
      async (seed, chosen, steps) => {
        let memories = manyMemories(seed);
        const index = indexOf(memories);
        let relations = relationsOf(memories, memories);
        for (const { which, terms, vector, days, deep, limit, change } of steps) {
          const profile = chosen[which % chosen.length]!;
          if (change !== undefined) {
            const random = seededRandom(change);
            // One is rewritten, or so many come that the columns grow.
            const places =
              change % 2 === 0
                ? [change % memories.length]
                : Array.from({ length: 400 }, (_, more) => memories.length + more);
            for (const place of places) {
              const each = memories[place] ?? memories[place % MANY]!;
              const id = `m${place}`;
              const memory = {
                ...each.memory,
                id,
                ordinal: place + 1,
                importance: random(),
                confidence: random(),
              };
              const changed = { ...each, memory, vector: denseVector(random) };
              memories = place < memories.length ? memories.with(place, changed) : [...memories, changed];
              putMemory(index, indexed(place, memory, changed));
            }
            if (change % 2 === 1) relations = relationsOf(memories, memories);
          }
          const query = {
            terms,
            vector: vector === undefined ? undefined : denseVector(seededRandom(vector)),
          };
          const now = ARBITRARY_NOW + days * 86_400_000;
          const request = { profile, query, filter: { deep, includeExpired: deep }, now, limit };
          const answer = await expectSame(index, memories, memories, request, relations);
          scored += answer.scored;
          found += answer.eligible;
        }
      },
    ),
    { numRuns: scaledRuns(20), seed: 1 },
  );
  expect(scored).toBeLessThan(found / 4);
});

describe('a formula that was ready for another recall is made anew', () => {
  const query = { terms: ['birch'], vector: denseVector(seededRandom(3)) };
  const ranked = (profile: (typeof formulas)[number], limit = 3) => ({
    profile,
    query,
    filter: {},
    now: ARBITRARY_NOW,
    limit,
  });
  const relations = { successors: new Map(), newer: new Map() };
  /** Reads a column as it stands: nothing of it is kept. */
  const beside = (name: 'importance' | 'conflict') =>
    resolveProfile(
      defineProfile({
        name: 'beside',
        description: 'One signal beside the similarity.',
        score: {
          op: 'mean',
          terms: [
            { weight: 1, of: { op: 'signal', name: 'similarity' } },
            { weight: 1, of: { op: 'signal', name } },
          ],
        },
      }),
    );

  test('where a floor is asked for, and where it is not any more', async () => {
    const memories = plainStore(1, 700);
    const index = indexOf(memories);
    const hybrid = resolveProfile(builtinProfile('hybrid'));
    const those = relationsOf(memories, memories);
    for (const profile of [hybrid, withFloor(hybrid, 'match', 0.3), hybrid, withFloor(hybrid, 'match', 0.6)])
      await expectSame(index, memories, memories, ranked(profile), those);
  });

  test('where columns have moved as they grew, and a memory has changed in them', async () => {
    let memories = plainStore(2, 2200).map((each, at) => ({
      ...each,
      memory: { ...each.memory, importance: at === 0 ? 0 : each.memory.importance / 2 },
    }));
    memories = memories.with(0, { ...memories[0]!, vector: query.vector });
    const index = indexOf(memories.slice(0, 700));
    const profile = beside('importance');
    await searchByIndex(index, memories.slice(0, 700), memories.slice(0, 700), ranked(profile), relations);
    memories.slice(700).forEach((each, at) => {
      putMemory(index, indexed(700 + at, each.memory, each));
    });
    const memory = { ...memories[0]!.memory, importance: 1 };
    memories = memories.with(0, { ...memories[0]!, memory });
    putSignals(index, 0, signalsOf(memory));
    const { ids } = await searchByIndex(index, memories, memories, ranked(profile), relations);
    expect(ids[0]).toBe('m0');
  });

  test('where memories stand otherwise to each other', async () => {
    const memories = plainStore(5, 700);
    const index = indexOf(memories);
    const profile = beside('conflict');
    const everything = await searchByIndex(index, memories, memories, ranked(profile, 700), relations);
    const last = everything.ids.at(-1)!;
    await searchByIndex(index, memories, memories, ranked(profile), relations);
    const newer = new Map([[Number(last.slice(1)), [{ key: 600, similarity: 0.99 }]]]);
    const contested = { successors: new Map(), newer };
    const { ids } = await searchByIndex(index, memories, memories, ranked(profile), contested);
    expect(ids).toContain(last);
  });
});
