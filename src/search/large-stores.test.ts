import fc from 'fast-check';
import { test } from 'vitest';
import { type ResolvedProfile, resolveProfile, withFloor } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import type { SearchableMemory } from '../store/state.ts';
import { arbitraryMemory } from '../testing/arbitrary-memory.ts';
import { ARBITRARY_NOW, arbitraryProfile } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryLimit,
  arbitraryQuery,
  denseVector,
  expectSame,
  indexOf,
  relationsOf,
  vocabulary,
} from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { seededRandom } from '../testing/seeded-random.ts';

/**
 * What is done for groups, classes and levels of rows shows only among many of them: sessions of any length, words that few or most
 * have, vectors that are shared or missing, and one search after the other.
 */

/** Of sixty kinds of memories. */
function manyMemories(seed: number, rows: number): readonly SearchableMemory[] {
  const random = seededRandom(seed);
  const kinds = fc.sample(arbitraryMemory, { seed, numRuns: 60 });
  const vectors = Array.from({ length: 1 + Math.floor(random() * 400) }, () => denseVector(random));
  const one = <Value>(among: readonly Value[]) => among[Math.floor(random() * among.length)]!;
  const share = random();
  let left = 0;
  let bornIn: string | undefined;
  return Array.from({ length: rows }, (_, at) => {
    if (left-- === 0) {
      left = Math.floor(random() * 200);
      bornIn = random() < 0.2 ? undefined : `s${at}`;
    }
    const terms = vocabulary.filter(() => random() < share).map((term) => [term, 1 + (at % 3)] as const);
    const memory = {
      ...one(kinds),
      id: `m${at}`,
      ordinal: ((at * 7919) % 1_000_003) + 1,
      bornIn,
      supersedes: at % 50 === 1 ? [`m${at - 1}`] : [],
      importance: random(),
    };
    const vector = [undefined, one(vectors), one(vectors), denseVector(random)][Math.floor(random() * 4)];
    return { memory, terms: new Map(terms), vector: at % 9 === 0 ? vector : (vector ?? denseVector(random)) };
  });
}

const required = (above: number) =>
  resolveProfile({ ...builtinProfile('vector'), require: [{ signal: 'similarity', above }] });
const arbitrarySearch = fc.record({
  profile: fc.oneof(
    fc.constantFrom(...BUILTIN_PROFILE_NAMES).map((name) => resolveProfile(builtinProfile(name))),
    arbitraryProfile().map((profile) => resolveProfile(defineProfile(profile))),
    fc.double({ min: 0, max: 1, noNaN: true }).map(required),
    fc
      .double({ min: 0, max: 1, noNaN: true })
      .map((floor): ResolvedProfile => withFloor(resolveProfile(builtinProfile('hybrid')), 'match', floor)),
  ),
  query: arbitraryQuery,
  filter: fc.oneof(fc.constant({}), arbitraryFilter),
  limit: arbitraryLimit,
  days: fc.integer({ min: 0, max: 2 }),
});

test('searches of large stores equal brute force, one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.integer({ min: 300, max: 2500 }),
      fc.array(arbitrarySearch, { minLength: 3, maxLength: 8 }),
      async (seed, rows, searches) => {
        const memories = manyMemories(seed, rows);
        const index = indexOf(memories);
        const relations = relationsOf(memories, memories);
        for (const { days, ...search } of searches) {
          const request = { ...search, now: ARBITRARY_NOW + days * 86_400_000 };
          await expectSame(index, memories, memories, request, relations);
        }
      },
    ),
    { numRuns: scaledRuns(12) },
  );
});
