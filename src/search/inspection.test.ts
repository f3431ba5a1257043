import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile, withFloor } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import type { SearchableMemory } from '../store/state.ts';
import type { Exclusion, MemoryFilter } from '../store/store.ts';
import { ARBITRARY_NOW, arbitraryProfile } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryQuery,
  arbitraryStore,
  expectSameInspection,
} from '../testing/index-oracle.ts';

/** A few of the memories, in any order, and one that is not there. */
const arbitraryPlaces = fc.array(fc.nat(), { maxLength: 12 });
const chosen = (memories: readonly SearchableMemory[], places: readonly number[]) => [
  ...new Set(places.map((at) => memories[at % memories.length]?.memory.id ?? 'nobody')),
  'nobody',
];

describe('inspecting single memories equals brute force', () => {
  test('for random formulas', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        arbitraryProfile(),
        arbitraryQuery,
        arbitraryFilter,
        arbitraryPlaces,
        async (memories, definition, query, filter, places) => {
          const profile = resolveProfile(defineProfile(definition));
          const request = { profile, query, filter, now: ARBITRARY_NOW };
          await expectSameInspection(memories, chosen(memories, places), request);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('for hybrid, which reads neighbouring turns: for visible and for hidden memories', async () => {
    const why = new Set<Exclusion | undefined>();
    let around = 0;
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        arbitraryQuery,
        arbitraryFilter,
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (memories, query, filter, floor) => {
          const profile = withFloor(resolveProfile(builtinProfile('hybrid')), 'match', floor);
          const ids = memories.map(({ memory }) => memory.id);
          const request = { profile, query, filter, now: ARBITRARY_NOW };
          for (const found of await expectSameInspection(memories, ids, request)) {
            why.add(found?.excluded);
            const { lexical, contextLexical } = found?.signals ?? {};
            if (found?.excluded !== undefined && contextLexical !== lexical) around++;
          }
        },
      ),
      { numRuns: 150, seed: 1 },
    );
    // What the draws must have shown: every reason why a memory is left out, and hidden ones whose neighbours count.
    const reasons = ['scope', 'elsewhere', 'type', 'tag', 'metadata', 'tier', 'consolidated', 'superseded'];
    const clocks = ['invalidated', 'expired', 'not-yet-valid', 'no-longer-valid'];
    for (const each of [undefined, ...reasons, ...clocks]) expect(why).toContain(each);
    expect(around).toBeGreaterThan(20);
  });

  test('also at the exact moment of a clock', async () => {
    const filters: readonly MemoryFilter[] = [{}, { deep: true }, { includeExpired: true }];
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        fc.nat(),
        fc.constantFrom(-1, 0, 1),
        fc.constantFrom(...filters),
        fc.boolean(),
        async (memories, at, offset, filter, looksBack) => {
          fc.pre(memories.length > 0);
          const moments = memories.flatMap(({ memory }) =>
            [memory.validFrom, memory.validUntil, memory.expiresAt, memory.invalidatedAt].filter(
              (clock) => clock !== undefined,
            ),
          );
          const moment = (moments[at % moments.length] ?? ARBITRARY_NOW) + offset;
          const profile = resolveProfile(builtinProfile('bm25'));
          await expectSameInspection(
            memories,
            memories.map(({ memory }) => memory.id),
            {
              profile,
              query: { terms: ['amber', 'birch'] },
              now: looksBack ? ARBITRARY_NOW : moment,
              filter: looksBack ? { ...filter, validAt: moment } : filter,
            },
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
