import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import type { SearchableMemory } from '../store/state.ts';
import { arbitraryMemory } from '../testing/arbitrary-memory.ts';
import { ARBITRARY_NOW, arbitraryProfile } from '../testing/arbitrary-profile.ts';
import {
  arbitraryFilter,
  arbitraryLimit,
  arbitraryQuery,
  arbitraryStore,
  arbitraryTerms,
  expectSame,
  indexed,
  indexOf,
  searchByIndex,
  vocabulary,
} from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { decodePages, encodePages } from './pages.ts';
import { putMemory, removeMemory } from './resident-index.ts';

describe('the index finds exactly what brute force finds', () => {
  test('for random formulas, stores, filters, ties and missing vectors', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        arbitraryProfile(),
        arbitraryQuery,
        arbitraryFilter,
        arbitraryLimit,
        async (memories, definition, query, filter, limit) => {
          const profile = resolveProfile(defineProfile(definition));
          const request = { profile, query, filter, now: ARBITRARY_NOW, limit };
          await expectSame(indexOf(memories), memories, memories, request);
        },
      ),
      { numRuns: scaledRuns(600) },
    );
  });

  test('where a part that is kept is 0 and is raised to a power', async () => {
    const day = { op: 'capped', of: { op: 'age', of: 'createdAt' }, cap: 365 } as const;
    const exponent = { op: 'max', of: [1, { op: 'signal', name: 'similarity' }] } as const;
    const profile = resolveProfile(
      defineProfile({
        name: 'powers',
        description: 'A decay that begins at 0.',
        score: {
          op: 'decay',
          age: { op: 'power', base: day, exponent },
          missing: 0,
          halfLife: { op: 'sum', total: 2, terms: [{ of: 1 }, { of: day }] },
        },
      }),
    );
    const memories = [0, 1, 40].map((days, at) => ({
      memory: sampleMemory({ id: `m${at}`, ordinal: at + 1, createdAt: ARBITRARY_NOW - days * 86_400_000 }),
      terms: new Map<string, number>(),
      vector: undefined,
    }));
    const request = { profile, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit: 5 };
    const { ids } = await expectSame(indexOf(memories), memories, memories, request);
    expect(ids).toEqual(['m0', 'm1', 'm2']);
  });

  test.each(BUILTIN_PROFILE_NAMES)('for %s', async (name) => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        arbitraryQuery,
        arbitraryFilter,
        arbitraryLimit,
        async (memories, query, filter, limit) => {
          const profile = resolveProfile(builtinProfile(name));
          await expectSame(indexOf(memories), memories, memories, {
            profile,
            query,
            filter,
            now: ARBITRARY_NOW,
            limit,
          });
        },
      ),
      { numRuns: scaledRuns(150) },
    );
  });

  test('after changes and removals, and after saving and loading the index', async () => {
    const change = fc.record({
      at: fc.nat(),
      memory: arbitraryMemory,
      terms: arbitraryTerms,
      remove: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        arbitraryStore,
        fc.array(change, { maxLength: 20 }),
        arbitraryQuery,
        async (memories, changes, query) => {
          fc.pre(memories.length > 0);
          const index = indexOf(memories);
          const living = new Map(memories.map((each, key) => [key, each]));
          const all = [...memories];
          for (const { at, memory, terms, remove } of changes) {
            const key = at % memories.length;
            const next = {
              ...all[key]!,
              memory: { ...memory, id: all[key]!.memory.id, ordinal: all[key]!.memory.ordinal },
              terms,
            };
            if (remove) {
              removeMemory(index, key);
              living.delete(key);
            } else {
              putMemory(index, indexed(key, next.memory, next));
              all[key] = next;
              living.set(key, next);
            }
          }
          const profile = resolveProfile(builtinProfile('hybrid'));
          const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 7 };
          await expectSame(index, all, [...living.values()], request);
          const restored = decodePages(encodePages(index))!;
          expect(restored.dead).toBe(0);
          await expectSame(restored, all, [...living.values()], request);
          // A restored index goes on growing.
          const [first] = living.entries();
          if (first) {
            putMemory(restored, indexed(first[0], first[1].memory, first[1]));
            await expectSame(restored, all, [...living.values()], request);
          }
        },
      ),
      { numRuns: scaledRuns(300) },
    );
  });
});

describe('a large store', () => {
  test('only a few memories are evaluated, and the answer is that of brute force', async () => {
    const random = seededRandom(7);
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
        bornIn: at % 5 === 0 ? undefined : `s${at % 300}`,
        ordinal: at + 1,
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
      const profile = resolveProfile(builtinProfile(name));
      const query = { terms: ['birch', 'ember'], vector: vector() };
      const request = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: 10 };
      await expectSame(index, memories, memories, request);
      expect((await searchByIndex(index, memories, memories, request)).scored).toBeLessThan(700);
    }
  });
});
