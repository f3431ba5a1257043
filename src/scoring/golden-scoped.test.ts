import { describe, expect, test } from 'vitest';
import { scopedScore } from './helpers.ts';
import { features, score } from './score.ts';

const now = '2026-04-20T00:00:00Z';
const daysAgo = (days: number) => new Date(Date.parse(now) - days * 86_400_000);

describe('"Scoring & Recall"', () => {
  test.each([
    [1, 0.995],
    [7, 0.966],
    [30, 0.861],
    [90, 0.638],
    [180, 0.407],
    [365, 0.161],
  ])('after %d days the decay factor is %d', (days, expected) => {
    const parts = features('scoped', { updatedAt: daysAgo(days) }, { now });
    expect(parts['temporalDecay']).toBeCloseTo(expected, 3);
  });

  test.each([
    [5, 0.975],
    [60, 0.741],
    [2, 0.99],
  ])('in the worked example, %d days leave %d', (days, expected) => {
    expect(features('scoped', { updatedAt: daysAgo(days) }, { now })['temporalDecay']).toBeCloseTo(
      expected,
      3,
    );
  });

  // The document prints .349 for the third row; its own factors multiply to .3485.
  test.each([
    ['Uses Zustand for stores', 0.92, 'project:match', 1, 5, 0.897],
    ['Prefer Redux for large apps', 0.95, 'global', 1, 60, 0.563],
    ['State management is complex', 0.88, 'global', 0.5, 2, 0.348],
  ])('worked example: "%s" scores', (_title, similarity, scope, weight, days, expected) => {
    const value = scopedScore({ similarity, scope, weight, updatedAt: daysAgo(days) }, { now });
    expect(Math.floor(value * 1000 + 0.5) / 1000).toBe(expected);
  });

  test('global knowledge has .8, any narrower scope 1', () => {
    const weightOf = (scope: string) => features('scoped', { scope, updatedAt: now }, { now })['scopeWeight'];
    expect(weightOf('global')).toBe(0.8);
    expect(weightOf('project:match')).toBe(1);
    expect(weightOf('team:a/project:b')).toBe(1);
  });

  test.each([1, 0.5, 0.3, 0.1])('a weight of %d is a plain factor', (weight) => {
    const signals = { similarity: 0.8, scope: 'project:x', updatedAt: now };
    expect(scopedScore({ ...signals, weight }, { now })).toBe(0.8 * weight);
  });

  test('the decay counts from the last update, not from creation', () => {
    const signals = { similarity: 0.8, updatedAt: daysAgo(3) };
    expect(scopedScore({ ...signals, createdAt: daysAgo(900) }, { now })).toBe(scopedScore(signals, { now }));
  });

  test('a missing weight is 1, a missing vector has similarity 0 and is no hit', () => {
    expect(scopedScore({ similarity: 0.8, scope: 'project:x', updatedAt: now }, { now })).toBe(0.8);
    expect(scopedScore({ updatedAt: now }, { now })).toBe(0);
  });

  test('the factor of the global scope and the rate are parameters', () => {
    const signals = { similarity: 1, updatedAt: daysAgo(10) };
    expect(score('scoped', signals, { now, parameters: { globalWeight: 0.5, decayRate: 0 } })).toBe(0.5);
  });
});
