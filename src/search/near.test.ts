import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import type { SearchableMemory } from '../store/state.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { denseVector, expectSame, indexOf, plainStore, searchByIndex } from '../testing/index-oracle.ts';
import { unitVector } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createNearVectors, dropNear, keepNear } from './near.ts';
import { removeMemory } from './resident-index.ts';

const names = ['vector', 'balanced', 'hybrid', 'five-factor'] as const;

/** Memories around one direction: equal in shares, or different in what 8 bits cannot tell. */
function alike(seed: number, rows: number, equal: number, spread: number): readonly SearchableMemory[] {
  const random = seededRandom(seed);
  const base = denseVector(random);
  return plainStore(seed, rows).map((each) => {
    if (random() < 0.02) return { ...each, vector: undefined };
    if (random() < equal) return { ...each, vector: base };
    return { ...each, vector: unitVector([...base].map((value) => value + spread * (random() - 0.5))) };
  });
}

const requestOf = (name: (typeof names)[number], seed: number, limit: number) => ({
  profile: resolveProfile(builtinProfile(name)),
  query: { terms: [], vector: denseVector(seededRandom(seed)) },
  filter: {},
  now: ARBITRARY_NOW,
  limit,
});

describe('memories that are too much alike for 8 bits', () => {
  test.each(names)(
    'rank as brute force ranks them, at the first search and at the next: %s',
    async (name) => {
      let kept = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.nat(),
          fc.integer({ min: 600, max: 1500 }),
          fc.constantFrom(0, 0.5, 1),
          fc.constantFrom(1e-7, 1e-4, 1e-2),
          fc.constantFrom(1, 10, 600),
          async (seed, rows, equal, spread, limit) => {
            const memories = alike(seed, rows, equal, spread);
            const index = indexOf(memories);
            await expectSame(index, memories, memories, requestOf(name, seed, limit));
            await expectSame(index, memories, memories, requestOf(name, seed + 1, limit));
            kept += index.near.numbers.size;
          },
        ),
        { numRuns: 8, seed: 1 },
      );
      if (name === 'vector') expect(kept).toBeGreaterThan(1000);
    },
  );

  test('few are evaluated once their vectors are compared', async () => {
    const memories = alike(3, 3000, 0, 1e-3);
    const { scored } = await expectSame(indexOf(memories), memories, memories, requestOf('vector', 4, 10));
    expect(scored).toBeLessThan(560);
  });

  test('their vectors are read once, except those of the first groups', async () => {
    const memories = alike(3, 2000, 0, 1e-4);
    const index = indexOf(memories);
    const request = requestOf('vector', 4, 10);
    let read = 0;
    const counted = memories.map(({ vector, ...each }) => ({
      ...each,
      get vector() {
        read++;
        return vector;
      },
    }));
    await searchByIndex(index, counted, memories, request);
    expect(read).toBeGreaterThan(1500);
    read = 0;
    await searchByIndex(index, counted, memories, request);
    expect(read).toBeLessThanOrEqual(16 + 32 + 64 + 128 + 256);
  });

  test('the vector of a replaced or removed memory is dropped', async () => {
    const memories = alike(3, 1500, 0.5, 1e-4);
    const index = indexOf(memories);
    const request = requestOf('vector', 4, 10);
    await searchByIndex(index, memories, memories, request);
    const before = index.near.numbers.size;
    expect(before).toBeGreaterThan(500);
    for (const key of index.keys.slice(0, index.size)) removeMemory(index, key);
    expect(index.near).toMatchObject({ bytes: 0, numbers: new Map(), byStart: new Map() });
    expect(index.near.vectors.every((each) => each === undefined)).toBe(true);
  });
});

describe('kept vectors', () => {
  const vector = Float32Array.of(1, 0, 0);

  test('equal vectors are stored once; −0 differs from 0', () => {
    const near = createNearVectors();
    keepNear(near, 1, vector, 1000);
    const one = near.bytes;
    keepNear(near, 2, vector.slice(), 1000);
    keepNear(near, 2, vector.slice(), 1000);
    expect(near.vectors).toHaveLength(1);
    keepNear(near, 3, Float32Array.of(1, -0, 0), 1000);
    expect(near.vectors).toHaveLength(2);
    expect(near.bytes).toBe(2 * one + 40);
    dropNear(near, 1);
    expect(near.vectors[0]).toEqual(vector);
    dropNear(near, 2);
    dropNear(near, 3);
    expect([near.bytes, near.vectors]).toEqual([0, [undefined, undefined]]);
  });

  test('no more than there is room for', () => {
    const near = createNearVectors();
    const most = 1 << 21;
    for (let row = 0; row < 4000; row++) keepNear(near, row, new Float32Array(256).fill(row), most);
    expect(near.bytes).toBeLessThanOrEqual(most);
    expect(near.bytes).toBeGreaterThan(most - 2000);
  });

  test("later changes to the caller's array have no effect", () => {
    const near = createNearVectors();
    const own = vector.slice();
    keepNear(near, 1, own, 1000);
    own.fill(0);
    expect(near.vectors[0]).toEqual(vector);
  });
});
