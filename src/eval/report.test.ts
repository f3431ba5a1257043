import { expect, test } from 'vitest';
import { percentile, type QueryOutcome, summarise } from './report.ts';

const outcome = (
  type: string,
  ranking: string,
  relevant: string,
  more: Partial<QueryOutcome> = {},
): QueryOutcome => ({
  type,
  ranking: [...ranking],
  relevant: [...relevant],
  milliseconds: 1,
  ...more,
});
const names = { dataset: 'd', strategy: 's', embedder: 'none', ks: [1, 2] };

test('means over answerable queries, types apart, abstention counted only', () => {
  const result = summarise(
    [
      outcome('single', 'abc', 'a', { milliseconds: 1 }),
      outcome('single', 'abc', 'c', { milliseconds: 2, stale: ['b'] }),
      outcome('multi', 'abc', 'bx', { milliseconds: 3, stale: ['c'] }),
      outcome('adversarial', 'abc', 'b', { milliseconds: 4, stale: ['c'] }),
      outcome('abstention', 'abc', '', { milliseconds: 100 }),
      outcome('single', 'abc', '', { milliseconds: 5, stale: ['a'] }),
    ],
    names,
  );
  expect(result).toMatchObject({
    dataset: 'd',
    strategy: 's',
    embedder: 'none',
    n: 3,
    updatedAboveStale: { won: 1, of: 2 },
    latencyMs: { p50: 3, p95: 100, p99: 100 },
    reportedApart: ['adversarial'],
    abstention: { n: 2 },
  });
  expect(result.metrics['hit@1']).toBeCloseTo(1 / 3, 12);
  expect(result.metrics['recall@2']).toBeCloseTo((1 + 0 + 0.5) / 3, 12);
  expect(result.metrics['mrr']).toBeCloseTo((1 + 1 / 3 + 1 / 2) / 3, 12);
  expect(result.metrics['mrr@2']).toBeCloseTo((1 + 0 + 1 / 2) / 3, 12);
  expect(Object.keys(result.byType)).toEqual(['adversarial', 'multi', 'single']);
  expect(result.byType['adversarial']).toMatchObject({ n: 1, 'hit@1': 0, 'hit@2': 1, mrr: 0.5 });
  expect(result.byType['single']).toMatchObject({ n: 2, 'recall@1': 0.5, 'recall@2': 0.5 });
});

test('counts forbidden memories, empty answers, and answers to questions without one', () => {
  const result = summarise(
    [
      outcome('single', 'abc', 'a', { mustNot: ['b'] }),
      outcome('single', 'abc', 'c', { stale: ['a'], mustNot: ['x'] }),
      // Ranked below what was returned: not in the answer.
      outcome('single', 'acb', 'a', { mustNot: ['b'], returned: 1 }),
      outcome('single', 'ab', 'a', { returned: 0 }),
      outcome('adversarial', 'ba', 'a', { mustNot: ['b'] }),
      outcome('none', 'a', ''),
      outcome('none', '', ''),
      outcome('none', 'ab', '', { returned: 0 }),
    ],
    names,
  );
  expect(result.forbidden).toEqual({ of: 3, above: 1, returned: { 1: 1, 2: 2 } });
  expect(result.falseRefusals).toEqual({ empty: 1, of: 4 });
  expect(result.abstention).toEqual({ n: 3, answered: 1 });
  expect(result.tokens).toBeUndefined();
  expect(summarise([outcome('single', 'a', 'a')], names)).not.toHaveProperty('forbidden');
});

test('a question counts by its weight', () => {
  const outcomes = [outcome('single', 'ab', 'a', { weight: 3 }), outcome('single', 'ab', 'b')];
  const { metrics, byType } = summarise(outcomes, names);
  expect([metrics['hit@1'], byType['single']!['hit@1'], byType['single']!.n]).toEqual([0.75, 0.75, 2]);
});

test('which types are left out can be chosen', () => {
  const outcomes = [outcome('adversarial', 'ab', 'a'), outcome('multi', 'ab', 'b')];
  const all = summarise(outcomes, { ...names, excludeTypes: [] });
  expect([all.n, all.metrics['hit@1'], all.reportedApart]).toEqual([2, 0.5, undefined]);
  const other = summarise(outcomes, { ...names, excludeTypes: ['multi', 'unknown'] });
  expect([other.n, other.metrics['hit@1'], other.reportedApart]).toEqual([1, 1, ['multi']]);
});

test('without answerable queries there are no metrics', () => {
  const result = summarise([outcome('abstention', 'ab', '')], names);
  expect(result).toMatchObject({ n: 0, metrics: {}, byType: {}, abstention: { n: 1 } });
});

test('a type may have any name', () => {
  const result = summarise([outcome('__proto__', 'ab', 'a')], names);
  expect(JSON.stringify(result.byType)).toContain('{"__proto__":{"n":1,');
});

test('percentiles are observed values, by nearest rank', () => {
  const values = [15, 20, 35, 40, 50].reverse();
  expect([5, 30, 40, 50, 100].map((percent) => percentile(values, percent))).toEqual([15, 20, 20, 35, 50]);
  expect(percentile([], 50)).toBe(0);
  const refused = expect.objectContaining({ code: 'invalid_argument' });
  expect(() => percentile(values, 0)).toThrow(refused);
  expect(() => percentile([1, Number.NaN], 50)).toThrow(refused);
  expect(() => percentile(undefined as never, 50)).toThrow(refused);
});
