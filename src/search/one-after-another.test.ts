import fc from 'fast-check';
import { expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryQuery,
  arbitraryStore,
  expectSame,
  indexOf,
  relationsOf,
} from '../testing/index-oracle.ts';

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
      arbitraryQuery,
      fc.array(arbitraryFilter, { minLength: 1, maxLength: 3 }),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(),
          fc.constantFrom(-60_000, -1, 0, 0, 1, 30_000),
          fc.constantFrom(...profiles),
        ),
        {
          minLength: 2,
          maxLength: 10,
        },
      ),
      async (memories, query, filters, steps) => {
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
        for (const [at, which, offset, profile] of steps) {
          const now = (clocks[at % Math.max(1, clocks.length)] ?? ARBITRARY_NOW) + offset;
          const filter = filters[which % filters.length] ?? {};
          const request = { profile, query, filter, now, limit: 5 };
          const { eligible } = await expectSame(index, memories, memories, request, relations);
          seen.add(eligible);
        }
      },
    ),
    { numRuns: 50 },
  );
  expect(seen.size).toBeGreaterThan(5);
});
