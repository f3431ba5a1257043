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

async function fitTo(questions: readonly FitQuestion[]) {
  const shares = questions.map(() => 1 / questions.length);
  const { fitted } = await fitParameters({
    ...{ profile, parameters: ['weight'], questions, shares, objective: 'ndcg@10', seed: 1, task: 'test' },
  });
  return fitted!;
}

/** How many questions each part has. */
async function partsOf(questions: readonly FitQuestion[]): Promise<readonly number[]> {
  return (await fitTo(questions)).folds.map((fold) => fold.questions).sort((a, b) => a - b);
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

test('where sharing joins all questions, those with the same answers are held out together', async () => {
  const about = (...others: readonly number[]) => others.map((at) => question(3, at));
  expect(await partsOf([...about(10, 10, 10), ...about(20, 20), ...about(30, 31, 32)])).toEqual([
    1, 1, 1, 2, 3,
  ]);
  const { problems } = await fitTo(about(10, 20, 30, 40, 50, 51, 52, 53, 54, 55, 56));
  expect(problems.filter((each) => each.includes('the same right answers'))).toEqual([]);
});

test('where all questions have the same answers, they are split all the same, and nothing was held out', async () => {
  const questions = Array.from({ length: 12 }, () => question(3, 4));
  expect(await partsOf(questions)).toEqual([2, 2, 2, 3, 3]);
  expect((await fitTo(questions)).problems).toContain(
    'all questions have the same right answers, so none was held out; ask for other memories too',
  );
  const elsewhere = questions.map((each, at) => ({ ...each, space: `s${at % 3}` }));
  expect((await fitTo(elsewhere)).problems.filter((each) => each.includes('the same right answers'))).toEqual(
    [],
  );
});
