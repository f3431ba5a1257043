import { describe, expect, test } from 'vitest';
import { recencyScore, revisionScore, typePriority } from './helpers.ts';
import { resolveProfile } from './profile.ts';
import { builtinProfile } from './profiles/index.ts';
import { failedRequirement, features, readSignals, score } from './score.ts';

const now = '2026-04-20T00:00:00Z';
const sixMonthsAgo = '2025-10-20T00:00:00Z';

describe('"Scoring" of iLAB Memory, SearchScore', () => {
  test('.60·rank + .25·recency + .15·revisions', () => {
    const signals = { lexical: 0.5, updatedAt: '2026-03-21T00:00:00Z', revisionCount: 4 };
    expect(score('lexical', signals, { now })).toBeCloseTo(0.6 * 0.5 + 0.25 * 0.5 + 0.15 * 0.4, 14);
    expect(score('lexical', { lexical: 1, updatedAt: now, revisionCount: 10 }, { now })).toBeCloseTo(1, 14);
    expect(score('lexical', { lexical: 1, updatedAt: now, revisionCount: 0 }, { now })).toBeCloseTo(0.85, 14);
  });

  test('a six-month-old observation that nails the query beats a brand-new half match', () => {
    const nailed = score('lexical', { lexical: 0.9, updatedAt: sixMonthsAgo, revisionCount: 1 }, { now });
    const half = score('lexical', { lexical: 0.45, updatedAt: now, revisionCount: 1 }, { now });
    expect(nailed).toBeGreaterThan(half);
    expect(nailed).toBeCloseTo(0.5587, 4);
    expect(half).toBeCloseTo(0.535, 12);
  });

  test('a memory without any word of the query is no candidate', () => {
    const bound = resolveProfile(builtinProfile('lexical'));
    expect(failedRequirement(bound, readSignals({ lexical: 0 }), 0)).toBe(0);
    expect(failedRequirement(bound, readSignals({}), 0)).toBe(0);
    expect(failedRequirement(bound, readSignals({ lexical: 1e-9 }), 0)).toBeUndefined();
  });
});

describe('"Scoring" of iLAB Memory, ContextScore', () => {
  test('.50·recency + .30·revisions + .20·type priority', () => {
    const signals = { type: 'decision', updatedAt: '2026-03-21T00:00:00Z', revisionCount: 7 };
    expect(score('ambient', signals, { now })).toBeCloseTo(0.5 * 0.5 + 0.3 * 0.7 + 0.2 * 0.7, 14);
    expect(score('ambient', { type: 'profile', updatedAt: now, revisionCount: 10 }, { now })).toBeCloseTo(
      1,
      14,
    );
  });

  test('needs no query: words and similarity change nothing', () => {
    const signals = { updatedAt: sixMonthsAgo, type: 'pattern' };
    const queried = { ...signals, lexical: 1, similarity: 1 };
    expect(score('ambient', queried, { now })).toBe(score('ambient', signals, { now }));
  });

  test.each([
    ['profile', 1],
    ['preference', 0.9],
    ['decision', 0.7],
    ['pattern', 0.6],
    ['discovery', 0.5],
    ['summary', 0.3],
    ['fact', 0.5],
    ['made up', 0.5],
    ['', 0.5],
    ['constructor', 0.5],
  ])('type %s has priority %d', (type, priority) => {
    expect(typePriority(type)).toBe(priority);
  });
});

describe('"Scoring" of iLAB Memory, the shared helpers', () => {
  test('140 days leave .0394 of a recency with a half-life of 30 days (the document misprints .39)', () => {
    expect(recencyScore('2025-12-01T00:00:00+00:00', { now })).toBeCloseTo(0.0394, 4);
  });

  test.each([
    [5, 0.5],
    [50, 1],
    [10, 1],
    [0, 0],
    [1, 0.1],
  ])('revisionScore(%d) is %d, capped at 10 revisions', (count, expected) => {
    expect(revisionScore(count)).toBe(expected);
  });

  test('both formulas call the same recency and revision', () => {
    const signals = { updatedAt: '2026-02-03T04:05:06Z', revisionCount: 3, lexical: 0.4 };
    const [search, context] = [features('lexical', signals, { now }), features('ambient', signals, { now })];
    expect(search['recency']).toBe(context['recency']);
    expect(search['revision']).toBe(context['revision']);
    expect(search['recency']).toBe(recencyScore(signals.updatedAt, { now }));
    expect(search['revision']).toBe(revisionScore(3));
  });

  test('a future time counts as now, an offset is converted', () => {
    expect(recencyScore('2030-01-01T00:00:00Z', { now })).toBe(1);
    expect(recencyScore('2026-03-21T02:00:00+02:00', { now })).toBe(0.5);
    expect(recencyScore(new Date('2026-03-21T00:00:00Z'), { now })).toBe(0.5);
    expect(recencyScore('2026-04-13T00:00:00Z', { now, halfLifeDays: 7 })).toBe(0.5);
  });
});
