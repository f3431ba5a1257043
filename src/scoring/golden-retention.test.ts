import { describe, expect, test } from 'vitest';
import { retention } from './helpers.ts';
import { type SignalInput, score } from './score.ts';

const createdAt = Date.UTC(2026, 0, 1);
const daysLater = (days: number) => createdAt + days * 86_400_000;
const fact = { stability: 0.3, importance: 0.7, type: 'fact', createdAt };
const event = { stability: 0.5, importance: 0.5, type: 'event', createdAt };
const left = (memory: SignalInput, days: number, curve?: 'exponential' | 'power') =>
  retention(memory, { now: daysLater(days), curve });

describe('"Scoring Pipeline", R = max(floor, e^(−Δt/(S·B·β)))', () => {
  test.each([
    ['a fact of stability .3 and importance .7 after 30 days', fact, 30, 0.7066],
    ['the same after 180 days', fact, 180, 0.1245],
    ['an event of stability .5 and importance .5 after a day', event, 1, 0.978],
    ['the same after 30 days', event, 30, 0.513],
  ])('%s', (_name, memory, days, expected) => {
    expect(left(memory, days)).toBeCloseTo(expected, expected === 0.7066 || expected === 0.1245 ? 4 : 3);
  });

  test('what was accessed counts from its last access, however old it is', () => {
    expect(left({ ...fact, lastAccessedAt: daysLater(100) }, 130)).toBe(left(fact, 30));
  });

  test('B is 1 + 2·importance, at most 3', () => {
    const r = (importance: number) => Math.log(left({ ...fact, importance }, 10));
    expect(r(0) / r(1)).toBeCloseTo(3, 10);
    expect(r(0) / r(0.5)).toBeCloseTo(2, 10);
  });

  test('a stability of 0 counts as .01', () => {
    expect(left({ ...fact, stability: 0 }, 1)).toBe(left({ ...fact, stability: 0.01 }, 1));
    expect(left({ ...fact, stability: 0 }, 1)).toBeCloseTo(Math.exp(-1 / (0.01 * 2.4 * 120)), 12);
  });

  test.each(['event', 'summary', 'something new'])('%s is episodic: β 45', (type) => {
    expect(left({ ...event, type }, 30)).toBeCloseTo(Math.exp(-30 / (0.5 * 2 * 45)), 12);
  });

  test.each([
    'profile',
    'preference',
    'decision',
    'pattern',
    'discovery',
    'fact',
    'plan',
    'transient_state',
    'entity',
    'learning',
    'rule',
    'feedback',
    'context',
  ])('%s is semantic: β 120', (type) => {
    expect(left({ ...event, type }, 30)).toBeCloseTo(Math.exp(-30 / (0.5 * 2 * 120)), 12);
  });

  test('a core event fades as slowly as a fact, to a floor of .60', () => {
    expect(left({ ...event, core: true }, 30)).toBeCloseTo(Math.exp(-30 / (0.5 * 2 * 120)), 12);
    expect(left({ ...event, core: true }, 10_000)).toBe(0.6);
  });

  test('the floor is .02 otherwise', () => {
    expect(left(fact, 10_000)).toBe(0.02);
  });

  test('procedures never fade, core or not; stubs have nothing left', () => {
    expect(left({ ...fact, type: 'procedure' }, 10_000)).toBe(1);
    expect(left({ ...fact, type: 'procedure', core: true }, 10_000)).toBe(1);
    expect(left({ ...fact, tier: 'stub' }, 0)).toBe(0);
    expect(left({ ...fact, type: 'procedure', tier: 'stub' }, 0)).toBe(0);
  });

  test('the power law is (1+Δt/(S·B·β))^(−1/ln 2)', () => {
    const scale = 0.3 * 2.4 * 120;
    expect(left(fact, 30, 'power')).toBeCloseTo((1 + 30 / scale) ** (-1 / Math.LN2), 12);
    expect(left(fact, 0, 'power')).toBe(1);
    expect(left(fact, 500, 'power')).toBeGreaterThan(left(fact, 500));
  });
});

describe('"Scoring Pipeline", combined = sim·R^α', () => {
  test.each([
    [0.8, 0.935],
    [0.6, 0.858],
    [0.4, 0.76],
    [0.2, 0.617],
    [0.1, 0.501],
    [0.02, 0.309],
  ])('α .3 softens an R of %d to %d', (target, expected) => {
    // The age at which a fact of these judgements has exactly this much left.
    const days = -Math.log(target) * 0.3 * 2.4 * 120;
    expect(score('retention', { ...fact, similarity: 1 }, { now: daysLater(days) })).toBeCloseTo(expected, 3);
  });

  test('is proportional to similarity', () => {
    const at = { now: daysLater(30) };
    const full = score('retention', { ...fact, similarity: 1 }, at);
    expect(score('retention', { ...fact, similarity: 0.5 }, at)).toBeCloseTo(full / 2, 14);
    expect(score('retention', { ...fact, similarity: 0 }, at)).toBe(0);
  });

  test('α is a parameter: 0 leaves similarity alone, 1 is the plain product', () => {
    const signals = { ...fact, similarity: 0.8 };
    expect(score('retention', signals, { now: daysLater(180), parameters: { alpha: 0 } })).toBe(0.8);
    expect(score('retention', signals, { now: daysLater(180), parameters: { alpha: 1 } })).toBeCloseTo(
      0.8 * left(fact, 180),
      14,
    );
  });

  test('without a vector similarity is .1', () => {
    const at = { now: daysLater(30) };
    expect(score('retention', fact, at)).toBe(score('retention', { ...fact, similarity: 0.1 }, at));
  });

  test('hybrid search, off by default, lets an exact keyword match surface though its vector is far', () => {
    const signals = { ...fact, similarity: 0.2, lexical: 0.9 };
    const at = { now: daysLater(30) };
    expect(score('retention', signals, at)).toBe(score('retention', { ...signals, lexical: 0 }, at));
    expect(score('retention', signals, { ...at, parameters: { hybridSearch: true } })).toBe(
      score('retention', { ...fact, similarity: 0.9 }, at),
    );
  });

  test('the curve is a parameter', () => {
    const signals = { ...fact, similarity: 1 };
    const power = score('retention', signals, {
      now: daysLater(500),
      parameters: { curve: 'power', alpha: 1 },
    });
    expect(power).toBeCloseTo(left(fact, 500, 'power'), 14);
  });
});
