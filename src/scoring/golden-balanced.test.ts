import { describe, expect, test } from 'vitest';
import { computeCompositeScore } from './helpers.ts';
import { builtinProfile } from './profiles/index.ts';
import { features, score } from './score.ts';

const now = '2026-04-20T00:00:00Z';
const daysAgo = (days: number) => new Date(Date.parse(now) - days * 86_400_000);

describe('"Composite Scoring"', () => {
  test.each([
    [0, 1],
    [14, 0.5],
    [28, 0.25],
    [42, 0.125],
    [56, 0.0625],
  ])('%d days ago, recency is %d', (days, expected) => {
    const weights = { semantic: 0, recency: 1, importance: 0 };
    expect(computeCompositeScore({ createdAt: daysAgo(days), weights, now })).toBeCloseTo(expected, 12);
  });

  test('.4·semantic + .3·recency + .3·importance', () => {
    const input = { similarity: 0.9, createdAt: daysAgo(14), importance: 0.7, now };
    expect(computeCompositeScore(input)).toBeCloseTo(0.4 * 0.9 + 0.3 * 0.5 + 0.3 * 0.7, 14);
  });

  test('recency counts from the later of creation and last reference', () => {
    const age = { createdAt: daysAgo(56), lastAccessedAt: daysAgo(14) };
    expect(features('balanced', age, { now })['recency']).toBeCloseTo(0.5, 12);
    const odd = { createdAt: daysAgo(14), lastAccessedAt: daysAgo(56) };
    expect(features('balanced', odd, { now })['recency']).toBeCloseTo(0.5, 12);
  });

  test('partial weights merge over the defaults and are divided by their sum', () => {
    const input = { similarity: 0.9, createdAt: daysAgo(28), importance: 0.2, now };
    expect(computeCompositeScore({ ...input, weights: { semantic: 0.9 } })).toBeCloseTo(
      (0.9 * 0.9 + 0.3 * 0.25 + 0.3 * 0.2) / 1.5,
      14,
    );
    expect(
      computeCompositeScore({ ...input, weights: { semantic: 4, recency: 3, importance: 3 } }),
    ).toBeCloseTo(computeCompositeScore(input), 14);
    expect(computeCompositeScore({ ...input, weights: {} })).toBe(computeCompositeScore(input));
  });

  test('a missing importance counts as .5, a missing similarity as .5', () => {
    const input = { createdAt: daysAgo(3), now };
    expect(computeCompositeScore({ ...input, similarity: 0.8 })).toBe(
      computeCompositeScore({ ...input, similarity: 0.8, importance: 0.5 }),
    );
    expect(computeCompositeScore({ ...input, importance: 0.8 })).toBe(
      computeCompositeScore({ ...input, similarity: 0.5, importance: 0.8 }),
    );
  });

  test('the half-life can be set, and 0 is refused', () => {
    const input = { createdAt: daysAgo(7), weights: { semantic: 0, importance: 0 }, now };
    expect(computeCompositeScore({ ...input, recencyHalfLifeDays: 7 })).toBeCloseTo(0.5, 12);
    expect(() => computeCompositeScore({ ...input, recencyHalfLifeDays: 0 })).toThrow(/recencyHalfLifeDays/);
  });

  test('weights that are negative, or all 0, are refused', () => {
    const input = { createdAt: daysAgo(7), now };
    expect(() => computeCompositeScore({ ...input, weights: { semantic: -1 } })).toThrow(/weights\.semantic/);
    expect(() =>
      computeCompositeScore({ ...input, weights: { semantic: 0, recency: 0, importance: 0 } }),
    ).toThrow(/must not all be 0: raise weights\.semantic or weights\.recency or weights\.importance$/);
  });

  test('the defaults of the reference table: .4, .3, .3 and 14 days', () => {
    const defaults = Object.fromEntries(
      Object.entries(builtinProfile('balanced').parameters).map(([name, parameter]) => [
        name,
        parameter.default,
      ]),
    );
    expect(defaults).toMatchObject({
      'weights.semantic': 0.4,
      'weights.recency': 0.3,
      'weights.importance': 0.3,
      recencyHalfLifeDays: 14,
    });
    expect(score('balanced', { similarity: 0, importance: 0, createdAt: daysAgo(14) }, { now })).toBeCloseTo(
      0.15,
      14,
    );
  });
});

describe('presets of balanced', () => {
  const memory = (similarity: number, days: number, importance: number) => ({
    similarity,
    createdAt: daysAgo(days),
    importance,
  });

  test.each([
    ['personal-assistant', [0.35, 0.2, 0.45], 30],
    ['support-desk', [0.45, 0.4, 0.15], 5],
    ['coding-agent', [0.55, 0.1, 0.35], 90],
    ['research-notes', [0.75, 0.05, 0.2], 365],
    ['news', [0.35, 0.6, 0.05], 2],
  ] as const)('%s: weights %j, half-life %d days', (name, [semantic, recency, importance], halfLife) => {
    expect(builtinProfile(name).lineage).toEqual(['balanced', name]);
    const expected = semantic * 0.9 + recency * 0.5 + importance * 0.7;
    expect(score(name, memory(0.9, halfLife, 0.7), { now })).toBeCloseTo(expected, 12);
  });

  test('each ranks as it says', () => {
    const allergy = memory(0.5, 60, 0.95);
    const chat = memory(0.6, 1, 0.2);
    const better = (name: string) => score(name, allergy, { now }) > score(name, chat, { now });
    expect(['personal-assistant', 'coding-agent', 'support-desk', 'news'].map(better)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const oldNote = memory(0.8, 400, 0.5);
    const fresh = memory(0.6, 0, 0.5);
    const prefersOld = (name: string) => score(name, oldNote, { now }) > score(name, fresh, { now });
    expect(['research-notes', 'balanced', 'news'].map(prefersOld)).toEqual([true, false, false]);
  });
});
