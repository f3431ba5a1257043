import { expect, test } from 'vitest';
import { defineProfile } from '../scoring/index.ts';
import { type FitQuestion, fitParameters } from './fit.ts';

const profile = defineProfile({
  name: 'two',
  description: 'Two signals.',
  parameters: { weight: { kind: 'number', default: 1, min: 0 } },
  score: {
    op: 'mean',
    terms: [
      { weight: { op: 'param', name: 'weight' }, of: { op: 'signal', name: 'lexical' } },
      { weight: 1, of: { op: 'signal', name: 'importance' } },
    ],
  },
});
const MEMORIES = 60;
const ids = Array.from({ length: MEMORIES }, (_, at) => `m${at}`);
const ramp = (step: number) => Float64Array.from(ids, (_, at) => ((at * step) % MEMORIES) / MEMORIES);

function question(...relevant: readonly number[]): FitQuestion {
  const unknown = new Float64Array(MEMORIES);
  return {
    space: 'only',
    relevant: new Set(relevant.map((at) => `m${at}`)),
    placebo: new Set(relevant.map((at) => `m${(at + 1) % MEMORIES}`)),
    features: {
      ...{ now: 0, parameters: { weight: 1 }, ids },
      signals: { lexical: ramp(7), importance: ramp(11) },
      ...{ clocks: {}, attributes: {}, bm25: unknown, similarity: unknown, updatedAt: unknown },
      ordinal: Float64Array.from(ids.keys()),
    },
  };
}

/** How many questions each part has. */
async function partsOf(questions: readonly FitQuestion[]): Promise<readonly number[]> {
  const shares = questions.map(() => 1 / questions.length);
  const { fitted } = await fitParameters({
    ...{ profile, parameters: ['weight'], questions, shares, objective: 'ndcg@10', seed: 1, task: 'test' },
  });
  return fitted!.folds.map((fold) => fold.questions).sort((a, b) => a - b);
}

test('questions that share no memory are spread evenly', async () => {
  expect(await partsOf(Array.from({ length: 12 }, (_, at) => question(at)))).toEqual([2, 2, 2, 3, 3]);
});

test('questions that share a memory are held out together, also by way of others', async () => {
  const apart = Array.from({ length: 4 }, (_, at) => question(40 + at));
  const shared = Array.from({ length: 8 }, (_, at) => question(at, at + 1));
  expect(await partsOf([...apart, ...shared])).toEqual([1, 1, 1, 1, 8]);
  // Joined by the last of them only.
  const pairs = [question(0), question(1), question(2), question(3), question(0, 1, 2, 3)];
  expect(await partsOf([...pairs, ...apart])).toEqual([1, 1, 1, 1, 5]);
});

test('where sharing joins all questions, they are split all the same', async () => {
  expect(await partsOf(Array.from({ length: 10 }, () => question(3)))).toEqual([2, 2, 2, 2, 2]);
});
