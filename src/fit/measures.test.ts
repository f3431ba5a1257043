import { expect, it } from 'vitest';
import { defineProfile } from '../scoring/index.ts';
import type { FitQuestion } from './fit.ts';
import { createMeasures } from './measures.ts';
import { randomWords } from './random.ts';

const profile = defineProfile({
  name: 'two',
  description: 'Two signals.',
  parameters: {
    a: { kind: 'number', default: 1, min: 0 },
    b: { kind: 'number', default: 1, min: 0, max: 4 },
  },
  score: {
    op: 'mean',
    terms: [
      { weight: { op: 'param', name: 'a' }, of: { op: 'signal', name: 'lexical' } },
      { weight: { op: 'param', name: 'b' }, of: { op: 'signal', name: 'importance' } },
    ],
  },
});
const tunables = [
  { name: 'a', start: 1, min: 0, max: Infinity },
  { name: 'b', start: 1, min: 0, max: 4 },
];
const ROWS = 1500;

function question(seed: number): FitQuestion {
  const random = randomWords(seed);
  const column = () => Float64Array.from({ length: ROWS }, () => random() / 2 ** 32);
  const ids = Array.from({ length: ROWS }, (_, at) => `m${at}`);
  const [lexical, importance] = [column(), column()];
  const zero = new Float64Array(ROWS);
  // The evidence is good by either signal, or by both.
  const good = ids.filter((_, at) => lexical[at]! > 0.99 || importance[at]! > 0.99);
  return {
    ...{ space: '0/s', dataset: 0, type: 'plain', weight: 1, relevant: new Set(good) },
    placebo: new Set(ids.slice(0, 30)),
    features: {
      ...{ now: 0, parameters: { a: 1, b: 1 }, ids, clocks: {}, attributes: {}, bm25: zero, updatedAt: zero },
      signals: { lexical, importance },
      similarity: new Float64Array(ROWS).fill(Number.NaN),
      ordinal: Float64Array.from(ids, (_, at) => at),
    },
  };
}

it('measures the same quickly as exactly at the start, and with one parameter far off', async () => {
  const measures = createMeasures(profile, tunables, [question(1), question(2), question(3)]);
  for (const values of [
    [1, 1],
    [8, 1],
    [0, 1],
    [1, 4],
    [1, 0],
  ]) {
    for (const arm of ['relevant', 'placebo'] as const) {
      const exact = await measures.exact(values, arm);
      expect(exact).toBeDefined();
      expect(await measures.quick(values, arm), `${values} ${arm}`).toEqual(exact);
    }
  }
  const meanAt = async (values: readonly number[]) => (await measures.exact(values, 'relevant'))?.mean;
  expect(await meanAt([1, 1])).not.toEqual(await meanAt([1, 0]));
});

it('returns undefined for values that are invalid for the formula', async () => {
  const risky = defineProfile({
    name: 'risky',
    description: 'May leave [0, 1].',
    parameters: { a: { kind: 'number', default: 0.5, min: 0 } },
    score: {
      op: 'sum',
      terms: [{ weight: { op: 'param', name: 'a' }, of: { op: 'signal', name: 'importance' } }],
    },
  });
  const one = question(1);
  const features = { ...one.features, parameters: { a: 0.5 } };
  const measures = createMeasures(
    risky,
    [{ name: 'a', start: 0.5, min: 0, max: Infinity }],
    [{ ...one, features }],
  );
  expect(await measures.exact([2], 'relevant')).toBeUndefined();
  expect(await measures.quick([2], 'relevant')).toBeUndefined();
  expect(await measures.quick([1], 'relevant')).toBeDefined();
});
