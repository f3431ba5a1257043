import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SalienceError } from '../domain/errors.ts';
import { ARBITRARY_NOW, arbitraryProfile, arbitrarySignals } from '../testing/arbitrary-profile.ts';
import { type Comparison, compareExplanations, formatComparison } from './compare.ts';
import type { Expression } from './operators/index.ts';
import { BUILTIN_PROFILE_NAMES } from './profiles/index.ts';
import { defineProfile, explain, type SignalInput } from './score.ts';

const now = ARBITRARY_NOW;

function compared(profile: Parameters<typeof explain>[0], a: SignalInput, b: SignalInput): Comparison {
  return compareExplanations(explain(profile, a, { now }), explain(profile, b, { now }));
}

const total = ({ terms }: Comparison) => terms.reduce((sum, { contribution }) => sum + contribution, 0);
const factors = (names: readonly ('lexical' | 'similarity' | 'importance')[]) =>
  defineProfile({
    name: 'factors',
    description: 'd',
    score: { op: 'product', of: names.map((name): Expression => ({ op: 'signal', name })) },
  });

describe('why one memory ranks above another', () => {
  test('in a sum each term counts by what it adds', () => {
    const comparison = compared(
      'lexical',
      { lexical: 0.9, updatedAt: now - 30 * 86_400_000, revisionCount: 2 },
      { lexical: 0.4, updatedAt: now, revisionCount: 3 },
    );
    expect(comparison.terms.map(({ name }) => name)).toEqual(['lexical', 'recency', 'revision']);
    expect(comparison.terms.map(({ contribution }) => contribution)).toEqual([
      expect.closeTo(0.3, 12),
      expect.closeTo(-0.125, 12),
      expect.closeTo(-0.015, 12),
    ]);
    expect(comparison.terms[0]).toMatchObject({ a: 0.9, b: 0.4 });
    expect(comparison.difference).toBeCloseTo(0.16, 12);
  });

  test('in a mean too', () => {
    const comparison = compared(
      'balanced',
      { similarity: 1, createdAt: now },
      { similarity: 0, createdAt: now },
    );
    expect(comparison.terms[0]).toEqual({
      name: 'semantic',
      a: 1,
      b: 0,
      contribution: expect.closeTo(0.4, 12),
    });
  });

  test('in a product each factor has its share of the logarithm', () => {
    const comparison = compared(
      factors(['lexical', 'similarity']),
      { lexical: 0.8, similarity: 0.5 },
      { lexical: 0.4, similarity: 0.25 },
    );
    // Each factor halves: each has half of the difference .4 − .1.
    expect(comparison.terms.map(({ contribution }) => contribution)).toEqual([
      expect.closeTo(0.15, 12),
      expect.closeTo(0.15, 12),
    ]);
  });

  test('factors that make up for each other contribute the same with opposite signs', () => {
    const comparison = compared(
      factors(['lexical', 'similarity']),
      { lexical: 0.8, similarity: 0.5 },
      { lexical: 0.5, similarity: 0.8 },
    );
    expect(comparison.difference).toBe(0);
    expect(comparison.terms[0]?.contribution).toBeCloseTo(0.4 * Math.log(1.6), 12);
    expect(total(comparison)).toBeCloseTo(0, 14);
  });

  test('a factor of 0 takes the whole difference', () => {
    const three = factors(['lexical', 'similarity', 'importance']);
    const full = { lexical: 0.5, similarity: 0.8, importance: 0.5 };
    const zero = compared(three, full, { ...full, similarity: 0, importance: 1 });
    expect(zero.terms[0]).toMatchObject({ name: 'similarity', contribution: expect.closeTo(0.2, 12) });
    expect(total(zero)).toBeCloseTo(0.2, 12);
    const two = compared(three, { ...full, similarity: 0, lexical: 0 }, full);
    expect(two.terms.map(({ contribution }) => contribution)).toEqual(
      [-0.1, -0.1, 0].map((each) => expect.closeTo(each, 12)),
    );
    expect(total(compared(three, { ...full, lexical: 0 }, { ...full, importance: 0 }))).toBe(0);
  });

  test('negative factors are taken one after the other', () => {
    const profile = defineProfile({
      name: 'signed',
      description: 'd',
      score: {
        op: 'clamp',
        of: {
          op: 'product',
          of: ['lexical', 'similarity'].map(
            (name): Expression => ({
              op: 'sum',
              terms: [{ of: { op: 'signal', name: name as 'lexical' } }, { weight: -1, of: 0.5 }],
            }),
          ),
        },
      },
    });
    const comparison = compared(profile, { lexical: 0, similarity: 0 }, { lexical: 1, similarity: 0.8 });
    expect(comparison.difference).toBeCloseTo(0.1, 12);
    expect(total(comparison)).toBeCloseTo(0.1, 12);
  });

  test('a bound that cut off is a term of its own', () => {
    const profile = defineProfile({
      name: 'cut',
      description: 'd',
      score: {
        op: 'clamp',
        max: 0.7,
        of: { op: 'sum', terms: [{ weight: 1, of: { op: 'signal', name: 'lexical' } }] },
      },
    });
    const comparison = compared(profile, { lexical: 1 }, { lexical: 0.5 });
    expect(comparison.difference).toBeCloseTo(0.2, 12);
    expect(comparison.terms).toEqual([
      { name: 'lexical', a: 1, b: 0.5, contribution: 0.5 },
      { name: 'bounds', a: expect.closeTo(-0.3, 12), b: 0, contribution: expect.closeTo(-0.3, 12) },
    ]);
  });

  test('references, choices and tables around the formula are looked through', () => {
    const sum: Expression = {
      op: 'sum',
      terms: [
        { weight: 0.5, of: { op: 'signal', name: 'lexical' } },
        { weight: 0.5, of: { op: 'signal', name: 'importance' } },
      ],
    };
    const profile = defineProfile({
      name: 'wrapped',
      description: 'd',
      parts: { inner: { op: 'table', by: 'type', cases: { fact: sum }, otherwise: sum } },
      score: { op: 'when', if: { known: 'lexical' }, then: { op: 'ref', name: 'inner' }, else: 0 },
    });
    const comparison = compared(profile, { lexical: 0.9, type: 'fact' }, { lexical: 0.1, type: 'event' });
    expect(comparison.terms[0]).toMatchObject({ name: 'lexical', contribution: expect.closeTo(0.4, 12) });
  });

  test('a choice that gave two memories formulas of different shapes is the only term', () => {
    const product: Expression = {
      op: 'product',
      of: [
        { op: 'signal', name: 'lexical' },
        { op: 'signal', name: 'importance' },
      ],
    };
    const profile = defineProfile({
      name: 'parted',
      description: 'd',
      parts: {
        inner: {
          op: 'table',
          by: 'type',
          cases: { fact: product, event: { op: 'signal', name: 'lexical' } },
          otherwise: 0.25,
        },
      },
      score: { op: 'clamp', max: 0.5, of: { op: 'ref', name: 'inner' } },
    });
    const fact = { lexical: 0.8, importance: 0.5, type: 'fact' };
    expect(compared(profile, fact, { lexical: 0.75, type: 'event' })).toEqual({
      difference: expect.closeTo(-0.1, 12),
      terms: [
        { name: 'table by type', a: 0.4, b: 0.75, contribution: expect.closeTo(-0.35, 12) },
        { name: 'bounds', a: 0, b: -0.25, contribution: expect.closeTo(0.25, 12) },
      ],
    });
    const [other] = compared(profile, fact, { lexical: 0.75 }).terms;
    expect(other).toMatchObject({ name: 'table by type', a: 0.4, b: 0.25 });
  });

  test('a decay whose age is known for only one memory is one term', () => {
    const profile = defineProfile({
      name: 'fading',
      description: 'd',
      score: { op: 'decay', age: { op: 'age', of: 'lastAccessedAt' }, halfLife: 30, missing: 0.25 },
    });
    expect(compared(profile, {}, { lastAccessedAt: now })).toEqual({
      difference: -0.75,
      terms: [{ name: 'decay', a: 0.25, b: 1, contribution: -0.75 }],
    });
  });

  test('any two memories can be compared by one formula', () => {
    fc.assert(
      fc.property(arbitraryProfile(), arbitrarySignals(), arbitrarySignals(), ({ parts, ...rest }, a, b) => {
        const score: Expression = { op: 'clamp', of: parts?.['third'] as Expression };
        const comparison = compared(defineProfile({ ...rest, parts, score }), a, b);
        const scale = Math.max(1, ...comparison.terms.map(({ contribution }) => Math.abs(contribution)));
        expect(Math.abs(total(comparison) - comparison.difference)).toBeLessThanOrEqual(1e-9 * scale);
      }),
      { numRuns: 500 },
    );
  });

  test('a formula of a single signal has one term', () => {
    expect(compared('bm25', { lexical: 0.75 }, { lexical: 0.5 })).toEqual({
      difference: 0.25,
      terms: [{ name: 'lexical', a: 0.75, b: 0.5, contribution: 0.25 }],
    });
  });

  test('is written as lines, strongest first', () => {
    const text = formatComparison(
      compared(
        'scoped',
        { similarity: 0.8, updatedAt: now, weight: 0.5 },
        { similarity: 0.4, updatedAt: now },
      ),
    );
    expect(text.split('\n')[0]).toBe('+0.0000  in all');
    expect(text).toContain('+0.2218  similarity     0.8000 against 0.4000');
    expect(text).toContain('−0.2218  weight         0.5000 against 1.0000');
  });
});

test('contributions add up to the difference, strongest first, for every built-in profile', () => {
  const clocks = { createdAt: now, updatedAt: now - 5e8 };
  fc.assert(
    fc.property(
      fc.constantFrom(...BUILTIN_PROFILE_NAMES),
      arbitrarySignals(),
      arbitrarySignals(),
      (name, a, b) => {
        const comparison = compared(name, { ...clocks, ...a }, { ...clocks, ...b });
        expect(Math.abs(total(comparison) - comparison.difference)).toBeLessThanOrEqual(1e-12);
        const sizes = comparison.terms.map(({ contribution }) => Math.abs(contribution));
        expect(sizes).toEqual([...sizes].sort((one, other) => other - one));
      },
    ),
    { numRuns: 2000 },
  );
});

describe('explanations of different formulas', () => {
  const tree = (name: string, parameters = {}) =>
    explain(name, { createdAt: now, updatedAt: now }, { now, parameters });
  test.each([
    ['another operator', tree('lexical'), tree('scoped'), /one is a sum, the other a product/],
    ['another number of terms', tree('lexical'), tree('five-factor'), /different numbers of terms/],
    ['other terms', tree('lexical'), tree('ambient'), /term 1 is lexical in one and recency in the other/],
    ['other signals', tree('bm25'), tree('vector'), /one is lexical, the other similarity/],
    [
      'other weights',
      tree('balanced'),
      tree('balanced', { weights: { recency: 1 } }),
      /the weight of recency is 0.3 and 1/,
    ],
  ])('%s', (_name, a, b, help) => {
    try {
      compareExplanations(a, b);
      expect.unreachable();
    } catch (error) {
      if (!SalienceError.isInstance(error)) throw error;
      expect(error.code).toBe('incomparable_scores');
      expect(error.message).toMatch(help);
      expect(error.message).toMatch(/same profile and parameters/);
    }
  });
});
