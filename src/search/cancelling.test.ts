import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cancels, SLACK, slackOf } from '../scoring/cancelling.ts';
import type { Expression } from '../scoring/operators/index.ts';
import type { ProfileDefinition } from '../scoring/profile.ts';
import { resolveProfile, withFloor } from '../scoring/profile.ts';
import { BUILTIN_PROFILE_NAMES, builtinProfile } from '../scoring/profiles/index.ts';
import { defineProfile } from '../scoring/score.ts';
import { ARBITRARY_NOW } from '../testing/arbitrary-profile.ts';
import { denseVector, expectSame, indexOf, plainStore } from '../testing/index-oracle.ts';
import { scaledRuns } from '../testing/runs.ts';
import { sampleMemory } from '../testing/sample-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';

const importance = { op: 'signal', name: 'importance' } as const;
const one = { op: 'constant', value: 1 } as const;
const clamped = <Of>(of: Of) => ({ op: 'clamp', of, min: 0, max: 1 }) as const;
/** 0 for arithmetic, and 5e-17 or less for float64, by the order in which it is added up. */
const nothing = {
  op: 'sum',
  terms: [
    { weight: 0.3, of: importance },
    { weight: -0.1, of: importance },
    { weight: -0.2, of: importance },
  ],
} as const;
/** Lost where it is added to 1 before the 1 is taken away. */
const lost = {
  op: 'sum',
  terms: [
    { weight: -1, of: importance },
    { weight: 1, of: importance },
    { weight: 1e-20, of: one },
  ],
} as const;

/** The only hit of a formula, held to brute force. */
async function only(score: ProfileDefinition['score']): Promise<number | undefined> {
  const profile = resolveProfile(defineProfile({ name: 'cancelling', description: 'One.', score }));
  expect(cancels(profile.root)).toBe(true);
  const memories = [
    { memory: sampleMemory({ id: 'a', ordinal: 1, importance: 1 }), terms: new Map(), vector: undefined },
  ];
  const request = { profile, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit: 3 };
  const { hits } = await expectSame(indexOf(memories), memories, memories, request);
  return hits[0]?.score;
}

describe('terms that cancel each other out', () => {
  test('still give a score from rounding alone, and the row is found', async () => {
    expect(await only(clamped(lost))).toBe(1e-20);
    const rounded = 0.3 * 1 + -0.1 * 1 + -0.2 * 1;
    expect(await only(clamped(nothing))).toBe(rounded > 0 ? rounded : undefined);
  });

  test('can be the base of a power, which differs near 0 from its value at 0', async () => {
    const exponent = { op: 'clamp', of: 0, min: 0, max: 2 } as const;
    expect(await only({ op: 'power', base: clamped(lost), exponent })).toBe(1);
    const little = { op: 'constant', value: 0.01 } as const;
    expect(await only({ op: 'power', base: clamped(lost), exponent: little })).toBeCloseTo(0.63, 2);
  });

  test.each(BUILTIN_PROFILE_NAMES)('is nothing that %s has to be looked through for', (name) => {
    const { root } = resolveProfile(builtinProfile(name));
    expect(cancels(root)).toBe(false);
    expect(slackOf(root)).toBe(SLACK);
  });
});

const signalNames = ['similarity', 'lexical', 'importance', 'confidence', 'usefulness'] as const;
const aSignal = fc.constantFrom(...signalNames).map((name): Expression => ({ op: 'signal', name }));
const someSignals = fc.array(aSignal, { minLength: 1, maxLength: 3 });
const tenths = fc.integer({ min: 1, max: 10 }).map((each) => each / 10);
const weight = fc.oneof(
  fc.constantFrom(1, 0.3),
  fc.tuple(fc.integer({ min: -3, max: 12 }), tenths).map(([power, share]) => share * 10 ** power),
);
const meanOf = (terms: readonly (readonly [number, Expression])[]): Expression => ({
  op: 'mean',
  terms: terms.map(([each, of]) => ({ weight: each, of })),
});
const sumOf = (terms: readonly (readonly [number, Expression])[]): Expression => ({
  op: 'sum',
  total: terms.reduce((total, [each]) => total + each, 0),
  terms: terms.map(([each, of]) => ({ weight: each, of })),
});

/** Two formulas with one value for arithmetic. */
const pair: fc.Arbitrary<readonly [Expression, Expression]> = fc.oneof(
  aSignal.map((each) => [each, each] as const),
  someSignals.map(
    (of) =>
      [
        { op: 'product', of: of as [Expression] },
        { op: 'product', of: of.toReversed() as [Expression] },
      ] as const,
  ),
  fc
    .tuple(aSignal, fc.array(tenths, { minLength: 1, maxLength: 3 }))
    .map(([each, weights]) => [meanOf(weights.map((of) => [of, each])), each] as const),
  fc.array(fc.tuple(tenths, aSignal), { minLength: 1, maxLength: 3 }).map((terms) => {
    const total = terms.reduce((sum, [each]) => sum + each, 0);
    return [meanOf(terms), sumOf(terms.toReversed().map(([each, of]) => [each / total, of]))] as const;
  }),
);

/** What is added and taken away again, with or without something beside it. */
const cancelled: fc.Arbitrary<Expression> = fc
  .record({
    pair,
    weight,
    beside: fc.array(fc.tuple(tenths, aSignal), { maxLength: 2 }),
    turn: fc.nat(3),
    isMean: fc.boolean(),
  })
  .map(({ pair: [one, other], weight: by, beside, turn, isMean }) => {
    const terms: (readonly [number, Expression])[] = isMean
      ? [[by, one], ...beside, [by, sumOf([[-1, other]])]]
      : [[by, one], ...beside, [-by, other]];
    const turned = [...terms.slice(turn % terms.length), ...terms.slice(0, turn % terms.length)];
    return isMean ? meanOf(turned) : sumOf(turned);
  });

const wrapped: fc.Arbitrary<Expression> = fc
  .tuple(cancelled, weight, aSignal, fc.nat(6))
  .map(([of, by, other, way]): Expression => {
    const held = clamped(of);
    const product = (...factors: [Expression, ...Expression[]]): Expression => ({
      op: 'product',
      of: factors,
    });
    const capped: Expression = { op: 'capped', of: held, cap: 0.001 };
    switch (way) {
      case 0:
        return { op: 'power', base: held, exponent: 0.1 };
      case 1:
        return clamped(product(by, of));
      case 2:
        return clamped(product(other, of, other));
      case 3:
        return clamped(
          sumOf([
            [by, of],
            [1, other],
          ]),
        );
      case 4:
        return capped;
      case 5:
        return { op: 'power', base: capped, exponent: 0.5 };
      default:
        return held;
    }
  });

const importanceTaken = sumOf([[-1, importance]]);
test.each([
  [
    'of a mean',
    meanOf([
      [1, importance],
      [0.4, importance],
      [1.4, importanceTaken],
    ]),
  ],
  [
    'of a mean of weights',
    sumOf([
      [
        1,
        meanOf([
          [0.7, importance],
          [0.6, importance],
          [0.4, importance],
        ]),
      ],
      [-1, importance],
    ]),
  ],
  [
    'of two products',
    sumOf([
      [1, { op: 'product', of: [0.3, importance, { op: 'signal', name: 'usefulness' }] }],
      [-1, { op: 'product', of: [{ op: 'signal', name: 'usefulness' }, importance, 0.3] }],
    ]),
  ],
])('terms %s leave scores by rounding alone, which are found', async (_, of) => {
  const memories = plainStore(1, 150);
  for (const score of [clamped(of), { op: 'power', base: clamped(of), exponent: 0.1 } as const]) {
    const profile = resolveProfile(
      defineProfile({ name: 'cancelling', description: 'Nothing is left.', score }),
    );
    const request = { profile, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit: 200 };
    const { hits } = await expectSame(indexOf(memories), memories, memories, request);
    expect(hits.length).toBeGreaterThan(5);
    const [best] = (await expectSame(indexOf(memories), memories, memories, { ...request, limit: 1 })).hits;
    expect(best?.score).toBe(hits[0]?.score);
  }
});

test.each([1e5, 1e8, 1e10, 1e12])(
  'the best do not depend on the limit where %d is added and taken away',
  async (much) => {
    const memories = plainStore(2, 150);
    const score = clamped(
      sumOf([
        [much, importance],
        [1, { op: 'signal', name: 'lexical' }],
        [-much, importance],
      ]),
    );
    const profile = resolveProfile(defineProfile({ name: 'much', description: 'Words.', score }));
    const request = { profile, query: { terms: ['birch'] }, filter: {}, now: ARBITRARY_NOW };
    for (const limit of [1, 2, 5, 20, 60, 200])
      await expectSame(indexOf(memories), memories, memories, { ...request, limit });
  },
);

test('a value limited to 1 counts as at most 1, however large its operands are', () => {
  const { root } = resolveProfile(
    defineProfile({
      name: 'young',
      description: 'Linear.',
      score: clamped(
        sumOf([
          [1, 1],
          [-5000, { op: 'signal', name: 'accessCount' }],
          [-0.5, importance],
        ]),
      ),
    }),
  );
  expect(slackOf(root)).toBe(SLACK);
});

test('equals brute force for every limit, whatever the weights of terms that cancel out', async () => {
  const cases = fc.record({
    score: wrapped,
    atLeast: fc.option(fc.constantFrom(1e-12, 0.1, 0.5), { nil: undefined }),
    seed: fc.nat(),
    compares: fc.boolean(),
    areAlike: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ score, atLeast, seed, compares, areAlike }) => {
      const parts = { match: score };
      const resolved = resolveProfile(
        defineProfile({ name: 'cancelling', description: 'Terms that cancel out.', parts, score }),
      );
      const profile = atLeast === undefined ? resolved : withFloor(resolved, 'match', atLeast);
      const memories = plainStore(seed, 150).map((each) =>
        areAlike ? { ...each, memory: { ...each.memory, importance: 0.7, usefulness: 0.3 } } : each,
      );
      const index = indexOf(memories);
      const vector = compares ? denseVector(seededRandom(seed)) : undefined;
      const request = {
        profile,
        query: { terms: ['birch', 'dune'], vector },
        filter: {},
        now: ARBITRARY_NOW,
      };
      for (const limit of [1, 2, 7, 40, 200])
        await expectSame(index, memories, memories, { ...request, limit });
    }),
    { numRuns: scaledRuns(60) },
  );
});

const aged = clamped(
  sumOf([
    [-0.3, importance],
    [0.1, one],
    [0.2, one],
  ]),
);
const nearlyOne = clamped(
  sumOf([
    [0.2, one],
    [-0.4, importance],
    [1.2, one],
  ]),
);
const hardlyAnything = clamped(
  sumOf([
    [-1.4, one],
    [-0.4, importance],
    [1.8, one],
  ]),
);
test.each<[string, Expression]>([
  ['a short half-life', { op: 'decay', age: aged, halfLife: 1e-12 }],
  ['a high rate', { op: 'decay', age: aged, rate: 1e12 }],
  ['a high power', { op: 'power', base: nearlyOne, exponent: 1e12 }],
  ['a low cap', { op: 'capped', of: hardlyAnything, cap: 2.220446049250313e-16 }],
])('terms that cancel out are not made too much of by %s', async (_, steep) => {
  const score: Expression = {
    op: 'max',
    of: [
      { op: 'product', of: [steep, { op: 'signal', name: 'confidence' }] },
      { op: 'signal', name: 'usefulness' },
    ],
  };
  const profile = resolveProfile(defineProfile({ name: 'steep', description: 'Steep.', score }));
  const memories = [
    sampleMemory({ id: 'a', ordinal: 1, importance: 1, confidence: 1, usefulness: 0 }),
    sampleMemory({ id: 'b', ordinal: 2, importance: 1, confidence: 0, usefulness: 0.99997 }),
  ].map((memory) => ({ memory, terms: new Map(), vector: undefined }));
  const request = { profile, query: { terms: [] }, filter: {}, now: ARBITRARY_NOW, limit: 1 };
  const { ids } = await expectSame(indexOf(memories), memories, memories, request);
  expect(ids).toEqual(['a']);
});

const huge = (after: readonly (readonly [number, Expression])[]) =>
  // Of the query too, so that its bounds are not kept, which widens them.
  clamped(
    sumOf([[1e10, importance], ...after, [-1e10, importance], [1e-30, { op: 'signal', name: 'lexical' }]]),
  );
test.each([
  // Of 0.3, a score makes 0.300001 and a bound 0.299999.
  [
    'is not lost below a floor that its score reaches',
    huge([
      [0.1, one],
      [0.2, one],
    ]),
    0.3000005,
    ['a'],
  ],
  // Of 0.3, a score makes 0.299995 and a bound 0.299999.
  [
    'does not push out others where its bound alone reaches a floor',
    huge([
      [0.05, one],
      [0.05, one],
      [0.05, one],
      [0.05, one],
      [0.05, one],
      [0.05, one],
    ]),
    0.299997,
    ['b'],
  ],
])('what cancels out %s', async (_, match, atLeast, expected) => {
  const usefulness = { op: 'signal', name: 'usefulness' } as const;
  const confidence = { op: 'signal', name: 'confidence' } as const;
  const parts = {
    match: { op: 'max', of: [{ op: 'product', of: [match, confidence] }, usefulness] },
  } as const;
  const score: Expression = { op: 'max', of: [confidence, { op: 'product', of: [0.5, usefulness] }] };
  const profile = withFloor(
    resolveProfile(defineProfile({ name: 'floored', description: 'A floor.', parts, score })),
    'match',
    atLeast,
  );
  const memories = [
    sampleMemory({ id: 'a', ordinal: 1, importance: 1, confidence: 1, usefulness: 0 }),
    sampleMemory({ id: 'b', ordinal: 2, importance: 1, confidence: 0, usefulness: 0.9 }),
  ].map((memory) => ({ memory, terms: new Map([['birch', 1]]), vector: undefined }));
  for (const limit of [1, 2]) {
    const request = { profile, query: { terms: ['birch'] }, filter: {}, now: ARBITRARY_NOW, limit };
    const { ids } = await expectSame(indexOf(memories), memories, memories, request);
    expect(ids[0]).toBe(expected[0]);
  }
});
