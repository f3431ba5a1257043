import { describe, expect, test } from 'vitest';
import { fiveFactorScore } from './helpers.ts';
import { resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import { explain, failedRequirement, features, readSignals, score } from './score.ts';

const now = '2026-04-20T00:00:00Z';
const daysAgo = (days: number) => new Date(Date.parse(now) - days * 86_400_000);

describe('"Memory Composite Scorer"', () => {
  test('the weights are .40, .25, .20, .10 and .05, and sum exactly to 1', () => {
    const weights = explain('five-factor', {}, { now }).detail.weights ?? [];
    expect(weights).toEqual([0.4, 0.25, 0.2, 0.1, 0.05]);
    expect(weights.reduce((sum, weight) => sum + weight, 0)).toBe(1);
  });

  test('the weights cannot be overridden: a variant is a new named profile', () => {
    expect(() => score('five-factor', {}, { now, parameters: { weights: { relevance: 1 } } })).toThrow(
      /unknown parameter "weights\.relevance"/,
    );
  });

  test('created 14 days ago, recency is e^(−.7) = .4966, about .5', () => {
    const recency = features('five-factor', { createdAt: daysAgo(14) }, { now })['recency'] as number;
    expect(recency).toBeCloseTo(0.4966, 4);
    expect(Math.abs(recency - 0.5)).toBeLessThan(0.004);
    expect(features('five-factor', { createdAt: daysAgo(Math.LN2 / 0.05) }, { now })['recency']).toBeCloseTo(
      0.5,
      8,
    );
  });

  test.each([
    [0, 0],
    [25, 0.5],
    [50, 1],
    [100, 1],
  ])('%d retrievals have a frequency of %d: capped at 50', (accessCount, expected) => {
    expect(features('five-factor', { accessCount }, { now })['frequency']).toBe(expected);
  });

  test('what is missing: created → recency .5, usefulness .5, confidence .8, count 0, similarity 0', () => {
    expect(features('five-factor', {}, { now })).toEqual({
      relevance: 0,
      recency: 0.5,
      usefulness: 0.5,
      confidence: 0.8,
      frequency: 0,
    });
    expect(score('five-factor', {}, { now })).toBeCloseTo(0.25 * 0.5 + 0.2 * 0.5 + 0.1 * 0.8, 14);
  });

  test('the breakdown has the composite and its five parts, each rounded to 6 decimals', () => {
    const memory = { createdAt: daysAgo(1 / 3), usefulness: 1 / 3, confidence: 2 / 3, accessCount: 7 };
    expect(fiveFactorScore(memory, { similarity: 0.123456789, now })).toEqual({
      compositeScore: 0.435584,
      relevanceScore: 0.123457,
      recencyScore: 0.983471,
      usefulnessScore: 0.333333,
      confidenceScore: 0.666667,
      frequencyScore: 0.14,
    });
    const exact = 0.4 * 0.123456789 + 0.25 * Math.exp(-0.05 / 3) + 0.2 / 3 + (0.1 * 2) / 3 + 0.05 * 0.14;
    expect(score('five-factor', { ...memory, similarity: 0.123456789 }, { now })).toBeCloseTo(exact, 12);
  });

  test('the score itself is not rounded: a difference beyond the sixth decimal still orders', () => {
    const [a, b] = [0.5, 0.5 + 1e-8].map((similarity) => score('five-factor', { similarity }, { now }));
    expect(b).toBeGreaterThan(a as number);
    expect(fiveFactorScore({}, { similarity: 0.5 + 1e-8, now }).compositeScore).toBe(
      fiveFactorScore({}, { similarity: 0.5, now }).compositeScore,
    );
  });

  test('"relevance dominates" cannot hold with these weights: .40 against .60', () => {
    const old = daysAgo(100_000);
    const relevant = { similarity: 1, createdAt: old, usefulness: 0, confidence: 0, accessCount: 0 };
    const rest = { similarity: 0, createdAt: now, usefulness: 1, confidence: 1, accessCount: 50 };
    expect(score('five-factor', relevant, { now })).toBeCloseTo(0.4, 12);
    expect(score('five-factor', rest, { now })).toBeCloseTo(0.6, 12);
  });

  test('an optional floor of relevance, off by default, keeps the irrelevant out', () => {
    const meets = (similarity: number | undefined, parameters = {}) =>
      failedRequirement(
        resolveProfile(builtinProfile('five-factor'), parameters),
        readSignals({ similarity }),
        0,
      ) === undefined;
    expect(meets(0)).toBe(true);
    expect(meets(undefined)).toBe(true);
    expect(meets(0.14, { relevanceFloor: 0.15 })).toBe(false);
    expect(meets(undefined, { relevanceFloor: 0.15 })).toBe(false);
    expect(meets(0.15, { relevanceFloor: 0.15 })).toBe(true);
  });
});
