import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  aggregate,
  allAtK,
  forbiddenAboveEvidence,
  hitAtK,
  measure,
  ndcgAtK,
  recallAtK,
  reciprocalRank,
  updatedAboveStale,
} from './metrics.ts';

const set = (...ids: string[]) => new Set(ids);
const ranking = ['a', 'b', 'c', 'd', 'e'];

test('recall is over all relevant ids, found or not', () => {
  expect(recallAtK(ranking, set('b', 'e', 'x', 'y'), 1)).toBe(0);
  expect(recallAtK(ranking, set('b', 'e', 'x', 'y'), 2)).toBe(0.25);
  expect(recallAtK(ranking, set('b', 'e', 'x', 'y'), 5)).toBe(0.5);
  expect(recallAtK(ranking, set('b', 'e', 'x', 'y'), 1000)).toBe(0.5);
});

test('a hit is any relevant id among the first k', () => {
  expect([1, 2, 3, 4].map((k) => hitAtK(ranking, set('c', 'd'), k))).toEqual([0, 0, 1, 1]);
});

test('all of the relevant ids must be among the first k', () => {
  expect([1, 3, 4, 9].map((k) => allAtK(ranking, set('c', 'd'), k))).toEqual([0, 0, 1, 1]);
  expect(allAtK(ranking, set('a', 'x'), 5)).toBe(0);
  expect(allAtK(ranking, set(), 5)).toBe(0);
});

test('a forbidden id is above the evidence when it comes first, or alone', () => {
  expect(forbiddenAboveEvidence(ranking, set('b'), set('c'))).toBe(false);
  expect(forbiddenAboveEvidence(ranking, set('c'), set('b'))).toBe(true);
  expect(forbiddenAboveEvidence(ranking, set('x'), set('e'))).toBe(true);
  expect(forbiddenAboveEvidence(ranking, set('a'), set('x'))).toBe(false);
  expect(forbiddenAboveEvidence([], set('a'), set('b'))).toBe(false);
});

test('NDCG by hand', () => {
  // Ranks 2 and 5 of three relevant ids: (1/log2 3 + 1/log2 6) / (1 + 1/log2 3 + 1/log2 4)
  // = (0.630930 + 0.386853) / (1 + 0.630930 + 0.5) = 1.017782 / 2.130930 = 0.477623
  expect(ndcgAtK(ranking, set('b', 'e', 'x'), 5)).toBeCloseTo(0.477623, 5);
  // At 2 the ideal holds only two: 0.630930 / 1.630930 = 0.386853
  expect(ndcgAtK(ranking, set('b', 'e', 'x'), 2)).toBeCloseTo(0.386853, 5);
  expect(ndcgAtK(ranking, set('a', 'b'), 10)).toBe(1);
});

test('reciprocal rank, cut and uncut', () => {
  expect(reciprocalRank(ranking, set('d', 'e'))).toBe(0.25);
  expect(reciprocalRank(ranking, set('d'), 4)).toBe(0.25);
  expect(reciprocalRank(ranking, set('d'), 3)).toBe(0);
  expect(reciprocalRank(ranking, set('x'))).toBe(0);
});

test('an id that is ranked twice within the cutoff is refused: it would be counted twice', () => {
  const again = ['a', 'b', 'a'];
  const wrong = expect.objectContaining({ code: 'invalid_argument', details: { field: 'ranking[2]' } });
  for (const at of [recallAtK, hitAtK, allAtK, ndcgAtK, reciprocalRank]) {
    expect(() => at(again, set('a', 'c'), 3)).toThrow(wrong);
    expect(() => at(again, set('a', 'c'), 2)).not.toThrow();
  }
  expect(() => measure(again, set('a'), [1])).toThrow(wrong);
  expect(() => updatedAboveStale(again, set('a'), set('b'))).toThrow(wrong);
  expect(() => forbiddenAboveEvidence(again, set('a'), set('b'))).toThrow(/"a" is ranked twice/);
});

test('without a relevant id every measure is 0', () => {
  expect(new Set(Object.values(measure(ranking, set(), [1, 10])))).toEqual(new Set([0]));
});

test('the updated memory must be ranked, and above every stale one', () => {
  expect(updatedAboveStale(ranking, set('b'), set('c'))).toBe(true);
  expect(updatedAboveStale(ranking, set('c'), set('b'))).toBe(false);
  expect(updatedAboveStale(ranking, set('c', 'a'), set('b', 'e'))).toBe(true);
  expect(updatedAboveStale(ranking, set('e'), set('x'))).toBe(true);
  expect(updatedAboveStale(ranking, set('x'), set('e'))).toBe(false);
  expect(updatedAboveStale(ranking, set('x'), set('y'))).toBe(false);
});

test('measure names every measure, aggregate averages them', () => {
  const first = measure(ranking, set('a'), [1, 2]);
  expect(first).toEqual({
    'recall@1': 1,
    'recall@2': 1,
    'hit@1': 1,
    'hit@2': 1,
    'all@1': 1,
    'all@2': 1,
    'ndcg@1': 1,
    'ndcg@2': 1,
    'mrr@1': 1,
    'mrr@2': 1,
    mrr: 1,
  });
  const mean = aggregate([first, measure(ranking, set('c', 'd'), [1, 2])]);
  expect(mean['recall@2']).toBe(0.5);
  expect(mean['mrr@2']).toBe(0.5);
  expect(mean['mrr']).toBeCloseTo(2 / 3, 12);
  expect(aggregate([])).toEqual({});
  expect(aggregate([{ mrr: 1 }, { mrr: 0 }], [3, 1])).toEqual({ mrr: 0.75 });
});

test.each([
  ['weights', [1]],
  ['weights', [0, 0]],
  ['weights[1]', [1, -1]],
  ['weights[0]', [Number.NaN, 1]],
])('%s of %j are refused: no mean would be made of them, or another', (field, weights) => {
  expect(() => aggregate([{ mrr: 1 }, { mrr: 0 }], weights)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', details: { field } }),
  );
});

test('measures stay in [0,1], grow with k, and are 1 for the ideal order', () => {
  const cases = fc.record({
    size: fc.integer({ min: 1, max: 30 }),
    relevant: fc.uniqueArray(fc.integer({ min: 0, max: 39 }), { minLength: 1 }),
    k: fc.integer({ min: 1, max: 35 }),
  });
  fc.assert(
    fc.property(cases, ({ size, relevant, k }) => {
      const ids = Array.from({ length: size }, (_, index) => String(index));
      const wanted = new Set(relevant.map(String));
      for (const value of Object.values(measure(ids, wanted, [k]))) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
      for (const at of [recallAtK, hitAtK, reciprocalRank]) {
        expect(at(ids, wanted, k + 1)).toBeGreaterThanOrEqual(at(ids, wanted, k));
      }
      expect(ndcgAtK([...wanted, 'other'], wanted, k)).toBeCloseTo(1, 12);
    }),
  );
});
