import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type Condition, conditionKnown, limitsOn } from '../scoring/condition.ts';
import type { Expression } from '../scoring/operators/index.ts';
import type { Knowledge } from '../scoring/operators/interval.ts';
import { type ResolvedProfile, resolveProfile } from '../scoring/profile.ts';
import { builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { SIGNAL_NAMES, SIGNALS, type SignalName } from '../scoring/signals.ts';
import { cosine } from '../scoring/similarity.ts';
import type { SearchableMemory } from '../store/state.ts';
import type { SearchRequest } from '../store/store.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import {
  denseVector,
  expectSame,
  type IndexedAnswer,
  indexOf,
  plainStore,
  searchByIndex,
} from '../testing/index-oracle.ts';
import { clearLooked, looked } from '../testing/looked-rows.ts';
import { searchNaively } from '../testing/naive-search.ts';
import { scaledRuns } from '../testing/runs.ts';
import { sampleMemory, unitVector } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { countWithin } from './fill.ts';
import { createPlainCodes } from './kernel/codes.ts';
import { dotError, quantise, quantiseQuery } from './quantise.ts';
import type { ResidentIndex } from './resident-index.ts';

vi.mock('./fill.ts', async (original) =>
  (await import('../testing/looked-rows.ts')).counting(await original()),
);

/**
 * The index knows a similarity only within the error of its 8-bit vectors. A condition whose threshold lies inside that
 * interval is undecided until the row is evaluated. Random thresholds almost never do: here they are taken from the rows.
 */

const similarity: Expression = { op: 'signal', name: 'similarity', missing: 0.3 };
const importance: Expression = { op: 'signal', name: 'importance' };
const mean = (of: Expression): Expression => ({
  op: 'mean',
  terms: [
    { weight: 1, of: importance },
    { weight: 1, of },
  ],
});
const unlike: Expression = {
  op: 'sum',
  terms: [
    { weight: 1, of: 1 },
    { weight: -1, of: similarity },
  ],
};
/** What a row scores may rise with its similarity, fall with it, or have nothing to do with it. */
const arbitraryScore = fc.constantFrom(similarity, importance, mean(similarity), unlike);

/** By how much a threshold differs from the value of a row: not at all, by a hair, within the error of 8 bits, more. */
const arbitraryHair = fc.constantFrom(0, 0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-4, -1e-4, 2e-3, -2e-3);
const arbitraryTest = fc.constantFrom('above', 'atLeast', 'below', 'atMost');

interface Given {
  readonly memories: readonly SearchableMemory[];
  readonly query: { readonly terms: readonly string[]; readonly vector: Float32Array };
  readonly limit: number;
  /** A threshold at, or a hair beside, what the signal is for one of the memories. */
  thresholdOf(signal: SignalName): number;
}

/** Stores of one to eight memories, and limits up to one more than that. */
const arbitraryGiven = fc
  .record({
    seed: fc.nat(),
    rows: fc.oneof(fc.constant(2), fc.integer({ min: 1, max: 8 })),
    limit: fc.oneof(fc.constant(0), fc.nat()),
    at: fc.nat(),
    hair: arbitraryHair,
  })
  .map(({ seed, rows, limit, at, hair }): Given => {
    const memories = plainStore(seed, rows);
    const query = { terms: ['birch', 'ember'], vector: denseVector(seededRandom(~seed)) };
    return {
      memories,
      query,
      limit: 1 + (limit % (rows + 1)),
      thresholdOf(signal) {
        const values = valuesOf(memories, query, signal);
        const [low, high] = SIGNALS[signal].range;
        return Math.min(high, Math.max(low, values[at % rows]! + hair));
      },
    };
  });

/** What a signal is for each memory, 0 where it is not known. */
function valuesOf(
  memories: readonly SearchableMemory[],
  query: Given['query'],
  signal: SignalName,
): readonly number[] {
  const profile = profileWith({ op: 'constant', value: 1 }, []);
  const everything = { profile, query, filter: {}, now: ARBITRARY_NOW, limit: memories.length };
  const { hits } = searchNaively({ memories, pairs: [], sequence: 0 }, everything);
  expect(hits).toHaveLength(memories.length);
  return hits.map(({ signals }) => signals[signal] ?? 0);
}

function profileWith(score: Expression, require: readonly Condition[]): ResolvedProfile {
  return resolveProfile(defineProfile({ name: 'threshold', description: 'One condition.', score, require }));
}

function expectExact(
  { memories, query, limit }: Omit<Given, 'thresholdOf'>,
  profile: ResolvedProfile,
): Promise<IndexedAnswer> {
  const request: SearchRequest = { profile, query, filter: {}, now: ARBITRARY_NOW, limit };
  return expectSame(indexOf(memories), memories, memories, request);
}

describe('a threshold at the value of a row', () => {
  test('of the similarity', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryGiven, arbitraryTest, arbitraryScore, async (given, condition, score) => {
        const threshold = given.thresholdOf('similarity');
        const require = [{ signal: 'similarity', [condition]: threshold } as Condition];
        await expectExact(given, profileWith(score, require));
      }),
      { numRuns: scaledRuns(500) },
    );
  });

  test('of any signal', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryGiven,
        fc.constantFrom(...SIGNAL_NAMES),
        arbitraryTest,
        arbitraryScore,
        async (given, signal, condition, score) => {
          const require = [{ signal, [condition]: given.thresholdOf(signal) } as Condition];
          await expectExact(given, profileWith(score, require));
        },
      ),
      { numRuns: scaledRuns(500) },
    );
  });

  test('inside the formula', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryGiven,
        arbitraryTest,
        arbitraryScore,
        arbitraryScore,
        async (given, test, met, otherwise) => {
          const condition = { signal: 'similarity', [test]: given.thresholdOf('similarity') } as Condition;
          await expectExact(
            given,
            profileWith({ op: 'when', if: condition, then: met, else: otherwise }, []),
          );
        },
      ),
      { numRuns: scaledRuns(500) },
    );
  });

  test('the relevance floor of five-factor', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryGiven, async (given) => {
        const relevanceFloor = given.thresholdOf('similarity');
        await expectExact(given, resolveProfile(builtinProfile('five-factor'), { relevanceFloor }));
      }),
      { numRuns: scaledRuns(500) },
    );
  });

  test.each([
    ['the best of two fails it: the other is the answer', 1e-12, ['m1']],
    ['the best of two meets it', 0, ['m0']],
  ] as const)('%s', async (_, hair, ids) => {
    const query = { terms: ['birch'], vector: unitVector([1, 0.37, 0.11, 0.05, 0.71]) };
    const vectors = [unitVector([1, 0.2, 0.13, 0.05, 0.31]), unitVector([1, 0.37, 0.11, 0.05, 0.7])];
    const memories = vectors.map((vector, at): SearchableMemory => {
      // The first is far ahead by what it counts for, and behind in similarity.
      const memory = sampleMemory({
        id: `m${at}`,
        usefulness: at === 0 ? 1 : 0,
        accessCount: at === 0 ? 50 : 0,
      });
      return { memory, terms: new Map(), vector };
    });
    const [best, next] = vectors.map((vector) => cosine(query.vector, vector));
    expect(best).toBeLessThan(next! - 0.05);
    const profile = resolveProfile(builtinProfile('five-factor'), { relevanceFloor: best! + hair });
    expect((await expectExact({ memories, query, limit: 1 }, profile)).ids).toEqual(ids);
  });
});

describe('candidates for a requirement on the similarity', () => {
  const query = (seed: number, terms: readonly string[]) => ({
    terms,
    vector: denseVector(seededRandom(~seed)),
  });

  test('are no more than the codes leave open, and no fewer the fewer are wanted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          seed: fc.nat(),
          // Groups of 128 rows, of which whole ones are passed over.
          rows: fc.integer({ min: 100, max: 700 }),
          terms: fc.constantFrom([], ['birch', 'ember'], ['dune']),
          limit: fc.integer({ min: 1, max: 9 }),
          condition: arbitraryTest,
          at: fc.nat(),
          threshold: fc.oneof(
            fc.constantFrom(undefined, -0.5, 0, 1, 1.5),
            fc.double({ min: 0, max: 1, noNaN: true }),
          ),
          hair: arbitraryHair,
          score: arbitraryScore,
          // Of some rows it is not known beforehand, and rows of no class are all that is required.
          others: fc.constantFrom<readonly Condition[]>([], [], [{ signal: 'importance', above: 0.5 }]),
        }),
        async ({ seed, rows, terms, limit, condition, at, threshold: given, hair, score, others }) => {
          const memories = plainStore(seed, rows);
          const asked = query(seed, terms);
          const similarities = memories.map(({ vector }) => (vector ? cosine(asked.vector, vector) : 0));
          const threshold = given ?? Math.min(1, Math.max(0, similarities[at % rows]! + hair));
          const required = { signal: 'similarity', [condition]: threshold } as Condition;
          const profile = profileWith(score, [required, ...others]);
          const few = await expectExact({ memories, query: asked, limit }, profile);
          const all = await expectExact({ memories, query: asked, limit: rows + 1 }, profile);
          // What is looked at is not counted if it does not meet it.
          expect(few.candidates).toBeGreaterThanOrEqual(all.candidates);
          if (others.length > 0) return;
          const isAbove = condition === 'above' || condition === 'atLeast';
          const meeting = (open: number) =>
            similarities.filter((each) => (isAbove ? each > threshold - open : each < threshold + open))
              .length;
          expect(few.candidates).toBeGreaterThanOrEqual(meeting(-1e-9));
          expect(few.candidates).toBeLessThanOrEqual(meeting(0.03));
        },
      ),
      { numRuns: scaledRuns(60) },
    );
  });

  test('are counted as conditions judge what the codes leave open, also outside of 0 to 1', () => {
    const at = fc.constantFrom(-0.5, -0.01, 0, 0.01, 0.5, 0.99, 1, 1.01, 1.5);
    const limits = fc.record({ above: at, atLeast: at, below: at, atMost: at }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: -60, max: 160 }), { minLength: 1 }),
        fc.constantFrom(0, 0.05),
        limits.filter((each) => Object.keys(each).length > 0),
        (hundredths, residual, given) => {
          const of = {
            scales: new Float32Array(200).fill(1),
            residuals: new Float32Array(200),
          } as ResidentIndex;
          const products = Int32Array.from(hundredths);
          const rows = Int32Array.from(hundredths.keys());
          const known = { products, peaks: products, tops: [], scale: 0.01, residual };
          const { require } = profileWith(similarity, [{ signal: 'similarity', ...given }]);
          const within = (value: number) => Math.min(1, Math.max(0, value));
          const error = dotError(residual, 0);
          const meeting = hundredths.filter((each) => {
            const knowledge = {
              signal: () => [within(0.01 * each - error), within(0.01 * each + error)],
            } as unknown as Knowledge;
            return conditionKnown(require[0]!, knowledge) !== false;
          });
          // Where even 0 to 1 is refused, nobody counts.
          const all = { signal: () => [0, 1] } as unknown as Knowledge;
          fc.pre(conditionKnown(require[0]!, all) !== false);
          expect(countWithin(of, rows, known, limitsOn('similarity', require)!)).toBe(meeting.length);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('rows below the best are skipped although they meet it', async () => {
    const memories = plainStore(7, 3000);
    const profile = profileWith(similarity, [{ signal: 'similarity', above: 0.35 }]);
    const request = { profile, query: query(7, []), filter: {}, now: ARBITRARY_NOW, limit: 2 };
    const index = indexOf(memories);
    clearLooked();
    const { candidates, scored } = await searchByIndex(index, memories, memories, request);
    const picked = looked.picked.reduce((sum, each) => sum + each);
    expect(candidates).toBeGreaterThan(1000);
    expect(scored).toBeLessThan(candidates / 10);
    expect(picked).toBeLessThan(candidates / 2);
    // What is looked at is counted exactly.
    const { vector } = request.query;
    const meeting = memories.filter((each) => each.vector && cosine(vector, each.vector) > 0.35).length;
    const all = await searchByIndex(index, memories, memories, { ...request, limit: memories.length });
    expect([all.candidates, all.scored]).toEqual([meeting, meeting]);
    expect(candidates).toBeGreaterThan(meeting);
  });
});

describe('the bound covers what was left out', () => {
  // Rows are evaluated in groups of 16; what lies behind the last group is known by its upper bounds only.
  test('also what might have been among the best by its bounds, and was not looked at', async () => {
    const query = { terms: ['birch'], vector: unitVector([1, 0.37, 0.11, 0.05, 0.71]) };
    const near = unitVector([1, 0.2, 0.13, 0.05, 0.31]);
    const asked = quantiseQuery(query.vector);
    const errorOf = (vector: Float32Array) => dotError(asked.residual, quantise(vector).residual);
    const upperOf = (vector: Float32Array) => {
      const { codes, scale } = quantise(vector);
      const kernel = createPlainCodes(codes.length);
      kernel.reserve(1);
      kernel.set(0, codes);
      const product = kernel.products(asked.codes, 0, 1)[0]!;
      return asked.scale * scale * product + errorOf(vector);
    };
    // Its upper bound lies below what the sixteen score, and above the least that they might have scored.
    const seventeenth = Array.from({ length: 1000 }, (_, at) =>
      unitVector([1, 0.2 - at / 2000, 0.13, 0.05, 0.31]),
    ).find((vector) => upperOf(vector) < cosine(query.vector, near) - 1e-5);
    expect(seventeenth).toBeDefined();
    expect(upperOf(seventeenth!)).toBeGreaterThan(cosine(query.vector, near) - errorOf(near));
    const memories = [...Array.from({ length: 16 }, () => near), seventeenth!].map(
      (vector, at): SearchableMemory => ({
        memory: sampleMemory({ id: `m${at}` }),
        terms: new Map(),
        vector,
      }),
    );
    const { upperBound, scored } = await expectExact(
      { memories, query, limit: 16 },
      profileWith(similarity, []),
    );
    expect(scored).toBe(16);
    expect(upperBound).toBeGreaterThanOrEqual(cosine(query.vector, seventeenth!));
  });

  test('of many that 8 bits cannot tell apart, and not all of them are looked at', async () => {
    let rows = 0;
    let looked = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 60, max: 300 }),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(2e-2, 1e-1),
        async (seed, count, limit, spread) => {
          const random = seededRandom(seed);
          const near = [1, 0.37, 0.11, 0.05, 0.71];
          const memories = plainStore(seed, count).map((each) => ({
            ...each,
            vector: unitVector(near.map((value) => value + spread * (random() - 0.5))),
          }));
          const query = { terms: [], vector: unitVector([1, 0.2, 0.13, 0.05, 0.31]) };
          const { scored } = await expectExact({ memories, query, limit }, profileWith(similarity, []));
          rows += count;
          looked += scored;
        },
      ),
      { numRuns: scaledRuns(100), seed: 1 },
    );
    expect(looked).toBeLessThan(0.8 * rows);
    expect(looked).toBeGreaterThan(0.2 * rows);
  });

  test.each([
    ['one group', 1, 16],
    ['several groups', 17, 48],
    ['more than there are', 90, 500],
  ] as const)('of limits up to %s', async (_, least, most) => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 100, max: 400 }),
        fc.oneof(fc.constantFrom(least, most), fc.integer({ min: least, max: most })),
        arbitraryScore,
        async (seed, rows, limit, score) => {
          const query = { terms: ['birch'], vector: denseVector(seededRandom(~seed)) };
          const given = { memories: plainStore(seed, rows), query, limit };
          const { hits } = await expectExact(given, profileWith(score, []));
          expect(hits.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: scaledRuns(60) },
    );
  });
});
