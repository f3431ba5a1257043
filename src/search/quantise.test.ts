import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { denseVector, expectSame, indexed, indexOf, searchByIndex } from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { sampleMemory, unitVector } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { createPlainCodes } from './kernel/codes.ts';
import { codesOfQuery, JOINED } from './kernel/scan.ts';
import { dotError, quantise, quantiseQuery } from './quantise.ts';
import { putMemory } from './resident-index.ts';
import { rotate } from './rotate.ts';

/** Of lengths and components: what was made once. */
const undone = new Map<string, Float32Array>();

/** A rotation of whole numbers is undone by its transpose: what each component becomes, one by one. */
function rotatedBack(length: number, at: number): readonly number[] {
  const turned = new Float64Array(length);
  return Array.from({ length }, (_, component) => {
    rotate(
      Float32Array.from({ length }, (_, each) => (each === component ? 1 : 0)),
      turned,
    );
    return turned[at]!;
  });
}

/** Rotated, all components of the first are equally large, which makes for the longest codes; of the second one holds all, for the shortest. */
const vectors = {
  'one component': (length: number, at: number) =>
    Float32Array.from({ length }, (_, each) => (each === at % length ? 1 : 0)),
  'one rotated component': (length: number, at: number) => {
    const key = `${length} ${at % length}`;
    const known = undone.get(key) ?? unitVector(rotatedBack(length, at % length));
    undone.set(key, known);
    return known;
  },
  dense: (length: number, seed: number) => denseVector(seededRandom(seed), length),
};

const vector = (length: number) =>
  fc
    .record({
      kind: fc.constantFrom(...Object.values(vectors)),
      seed: fc.nat(1000),
      sign: fc.constantFrom(1, -1),
      // As long as a vector of length 1 may be.
      length: fc.constantFrom(1, 1.0004, 0.9996),
    })
    .map(({ kind, seed, sign, length: longer }) => kind(length, seed).map((each) => each * sign * longer));

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

function lengthOf(vector: ArrayLike<number>): number {
  return Math.sqrt(dot(vector, vector));
}

/** How far an approximation in rotated coordinates lies from a vector. */
function differenceOf(vector: Float32Array, codes: ArrayLike<number>, scale: number): number {
  const turned = new Float64Array(vector.length);
  rotate(vector, turned);
  return lengthOf(turned.map((each, at) => each - codes[at]! * scale));
}

/** The codes that were joined. */
function codesApart(codes: Int8Array): Float64Array {
  const joined = codes.length - (codes.length % 16);
  return Float64Array.from(codes, (code, at) =>
    at % 2 === 1 && at < joined && codes[at - 1]! < 0 ? code + 1 : code,
  );
}

describe('the product of codes', () => {
  test('differs from that of the vectors by at most the stated error, and fits into 32 bits', () => {
    const pairs = fc
      .oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(64, 250, 256))
      .chain((length) =>
        fc.tuple(vector(length), fc.option(vector(length), { nil: undefined }), fc.boolean()),
      );
    fc.assert(
      fc.property(pairs, ([asked, other, isKnown]) => {
        const kept = other ?? asked;
        const memory = quantise(kept);
        const query = quantiseQuery(asked, isKnown ? memory.scale : 0);
        const codes = createPlainCodes(kept.length);
        codes.reserve(1);
        codes.set(0, memory.codes);
        const product = codes.products(query.codes, 0, 1)[0]!;
        const found = product * query.scale * memory.scale;
        expect(Math.abs(found - dot(asked, kept))).toBeLessThanOrEqual(
          dotError(query.residual, memory.residual),
        );
        // All that was left out of either, and as much more as the other one is longer than 1.
        const numbers = codesOfQuery(query.codes);
        const ofQuery = differenceOf(asked, numbers, query.scale * JOINED);
        const ofMemory = differenceOf(kept, codesApart(memory.codes), memory.scale);
        expect(query.residual).toBeGreaterThanOrEqual(ofQuery * lengthOf(kept));
        expect(memory.residual).toBeGreaterThanOrEqual(ofMemory * lengthOf(asked));
      }),
      { numRuns: scaledRuns(3000) },
    );
  });

  test.each([16, 256, 1536])('of %i components leaves little out of a query', (length) => {
    const [asked, kept] = [vectors.dense(length, 1), vectors.dense(length, 2)];
    const { scale, residual } = quantise(kept);
    expect(quantiseQuery(asked, scale).residual).toBeLessThan(residual / 3);
    // Whatever the rows are.
    expect(quantiseQuery(asked).residual).toBeLessThan(residual);
  });

  test.each([1, 2, 16, 40, 256])(
    'of %i components leaves as little out of a query of one large one, or of two that stand beside each other',
    (length) => {
      const [first, second] = [0, 1].map((at) => vectors['one rotated component'](length, at)) as [
        Float32Array,
        Float32Array,
      ];
      // Rows as short as can be leave the most room, and no number of the query may need more than 16 bits.
      const { scale } = quantise(first);
      const apart = (one: Float32Array, other: Float32Array) => one.map((each, at) => each - other[at]!);
      const asked = length === 1 ? [first] : [first, apart(first, second), apart(second, first)];
      for (const each of asked) {
        expect(quantiseQuery(unitVector([...each]), scale).residual).toBeLessThan(2e-3);
      }
    },
  );

  test('of a vector of zeros is 0', () => {
    for (const found of [quantise(new Float32Array(20)), quantiseQuery(new Float32Array(20))]) {
      expect([...found.codes]).toEqual(Array(20).fill(0));
      expect(found.scale).toBe(0);
      expect(found.residual).toBeLessThan(1e-5);
    }
  });

  test('of as many components as a vector may have fits into 32 bits', () => {
    const long = vectors['one component'](65_536, 7);
    const { codes, scale } = quantise(long);
    const query = quantiseQuery(long);
    const kernel = createPlainCodes(long.length);
    kernel.reserve(1);
    kernel.set(0, codes);
    const found = kernel.products(query.codes, 0, 1)[0]! * query.scale * scale;
    expect(found).toBeGreaterThan(0.9);
  });
});

test('rows whose codes are longer than all before them are found as well', async () => {
  const memoryOf = (vector: Float32Array, at: number) => ({
    memory: sampleMemory({ id: `m${at}`, ordinal: at + 1 }),
    terms: new Map<string, number>(),
    vector,
  });
  const short = Array.from({ length: 20 }, (_, at) => vectors['one rotated component'](64, at));
  const memories = short.map(memoryOf);
  const index = indexOf(memories);
  const requestOf = (vector: Float32Array) => ({
    profile: resolveProfile(builtinProfile('vector')),
    query: { terms: [], vector },
    filter: {},
    now: ARBITRARY_NOW,
    limit: 2,
  });
  await expectSame(index, memories, memories, requestOf(short[3]!));
  const long = memoryOf(vectors['one component'](64, 9), memories.length);
  const { memory, terms, vector } = long;
  putMemory(index, indexed(memories.length, memory, { terms, vector }));
  const all = [...memories, long];
  await expectSame(index, all, all, requestOf(vector));
  expect((await searchByIndex(index, all, all, requestOf(vector))).ids[0]).toBe(memory.id);
});
