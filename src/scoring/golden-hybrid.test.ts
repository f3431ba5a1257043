import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usefulness } from './helpers.ts';
import { features, score } from './score.ts';

const now = Date.UTC(2026, 3, 20);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const memory = fc.record({
  lexical: share,
  similarity: fc.option(share, { nil: undefined }),
  importance: share,
  confidence: share,
  conflict: share,
  updatedAt: fc.integer({ min: now - 4e11, max: now }),
});

describe('hybrid', () => {
  test('relevance × (.96 + .01·recency + .015·importance + .015·confidence − .02·conflict)', () => {
    const signals = {
      lexical: 0.5,
      similarity: 0.8,
      importance: 0.7,
      confidence: 0.6,
      conflict: 0.3,
      updatedAt: now - 30 * 86_400_000,
    };
    const calibrated = (0.8 - 0.1) / 0.8;
    const relevance = (7 * 0.5 + 5 * calibrated) / 12;
    expect(score('hybrid', signals, { now })).toBeCloseTo(
      relevance * (0.96 + 0.01 * 0.5 + 0.015 * 0.7 + 0.015 * 0.6 - 0.02 * 0.3),
      14,
    );
  });

  test('without a vector relevance is the lexical score alone', () => {
    expect(features('hybrid', { lexical: 0.7, updatedAt: now }, { now })['relevance']).toBe(0.7);
  });

  test('match is 7·contextLexical + 5·calibrated similarity + 3.6·sessionLexical, over the weights of what is known', () => {
    const known = { lexical: 0.1, contextLexical: 0.5, sessionLexical: 0.3, updatedAt: now };
    const match = (signals: object) => features('hybrid', { ...known, ...signals }, { now })['match'];
    expect(match({ similarity: 0.5 })).toBeCloseTo((7 * 0.5 + 5 * 0.5 + 3.6 * 0.3) / 15.6, 14);
    expect(match({})).toBeCloseTo((7 * 0.5 + 3.6 * 0.3) / 10.6, 14);
    expect(match({ similarity: 0.5, sessionLexical: undefined })).toBeCloseTo((7 * 0.5 + 5 * 0.5) / 12, 14);
    expect(match({ contextLexical: undefined, sessionLexical: undefined })).toBe(0.1);
  });

  test('cues multiply where the query or the store raises them, and are 1 elsewhere', () => {
    const relevance = (signals: object) =>
      features('hybrid', { lexical: 0.5, updatedAt: now, ...signals }, { now })['relevance'];
    expect(relevance({})).toBe(0.5);
    expect(relevance({ authorNamed: 1, dateMatch: 1, saidByUser: 1 })).toBeCloseTo(0.5, 14);
    expect(relevance({ authorNamed: 0 })).toBeCloseTo(0.5 / 1.2, 14);
    expect(relevance({ dateMatch: 0.5 })).toBeCloseTo(0.5 * 0.75, 14);
    expect(relevance({ saidByUser: 0 })).toBeCloseTo(0.5 / 1.15, 14);
    expect(relevance({ lexical: 0, authorNamed: 1, dateMatch: 1, saidByUser: 1 })).toBe(0);
  });

  test('similarity is calibrated by a clamped affine map', () => {
    const parameters = { similarityFloor: 0.2, similaritySpan: 0.5 };
    const calibrated = (similarity: number) =>
      features('hybrid', { similarity, updatedAt: now }, { now, parameters })['calibrated'];
    expect(calibrated(0.1)).toBe(0);
    expect(calibrated(0.2)).toBe(0);
    expect(calibrated(0.45)).toBeCloseTo(0.5, 14);
    expect(calibrated(0.7)).toBeCloseTo(1, 14);
    expect(calibrated(0.9)).toBe(1);
  });

  test('a memory whose relevance is more than 6 % lower never ranks above', () => {
    fc.assert(
      fc.property(memory, memory, (one, other) => {
        const relevance = [one, other].map(
          (signals) => features('hybrid', signals, { now })['relevance'] as number,
        );
        const scores = [one, other].map((signals) => score('hybrid', signals, { now }));
        const [a = 0, b = 0] = relevance;
        const [scoreA = 0, scoreB = 0] = scores;
        if (b < 0.94 * a * (1 - 1e-12)) expect(scoreB).toBeLessThan(scoreA);
        if (a < 0.94 * b * (1 - 1e-12)) expect(scoreA).toBeLessThan(scoreB);
      }),
      { numRuns: 2000 },
    );
  });

  test('…and the bound is tight: 6 % lower can tie, less than that can rank above', () => {
    const stale = { lexical: 1, importance: 0, confidence: 0, conflict: 1, updatedAt: now - 4e11 };
    const fresh = { importance: 1, confidence: 1, updatedAt: now };
    const older = score('hybrid', stale, { now });
    expect(score('hybrid', { ...fresh, lexical: 0.94 }, { now })).toBeCloseTo(older, 10);
    expect(score('hybrid', { ...fresh, lexical: 0.95 }, { now })).toBeGreaterThan(older);
    expect(score('hybrid', { ...fresh, lexical: 0.93 }, { now })).toBeLessThan(older);
  });

  test('nothing relevant scores 0, whatever else speaks for it', () => {
    expect(
      score('hybrid', { lexical: 0, similarity: 0, importance: 1, confidence: 1, updatedAt: now }, { now }),
    ).toBe(0);
  });
});

test('the baselines are single signals', () => {
  expect(score('bm25', { lexical: 0.37, similarity: 0.9 })).toBe(0.37);
  expect(score('vector', { lexical: 0.37, similarity: 0.9 })).toBe(0.9);
  expect(score('bm25', {})).toBe(0);
  expect(score('vector', {})).toBe(0);
});

describe('usefulness from votes is (p+1)/(p+n+2)', () => {
  test.each([
    [0, 0, 0.5],
    [1, 0, 2 / 3],
    [0, 1, 1 / 3],
    [8, 0, 0.9],
    [3, 3, 0.5],
  ])('%d for, %d against: %d', (positive, negative, expected) => {
    expect(usefulness(positive, negative)).toBe(expected);
  });

  test('a count below 0 is refused', () => {
    expect(() => usefulness(-1, 0)).toThrow(/positive: -1/);
    expect(() => usefulness(0, Number.NaN)).toThrow(/negative: NaN/);
  });
});
