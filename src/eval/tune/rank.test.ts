import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QuestionFeatures } from '../../fit/features.ts';
import { createRanker } from '../../fit/rank.ts';
import { builtinProfile, defineProfile, type ProfileDefinition } from '../../scoring/index.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { createEvaluationEngine } from '../engine.ts';

const day = (number: number) => Date.UTC(2026, 0, 1 + number);
const subjects = ['tea', 'coffee', 'a red bus', 'the garden', 'Oslo', 'chess'];
const memories = Array.from({ length: 60 }, (_, at) => ({
  id: `m${at}`,
  content: `${at % 3 === 0 ? 'I like' : 'We spoke of'} ${subjects[at % 6]} and ${subjects[(at * 5 + 1) % 6]}, ${at}`,
  createdAt: day(at * 3),
  session: at % 5 === 4 ? undefined : `S${Math.floor(at / 6)}`,
  type: at % 4 === 0 ? 'preference' : 'event',
  role: at % 2 === 0 ? 'user' : 'assistant',
  author: at % 2 === 0 ? 'Ann' : 'Bob',
  metadata: {},
}));
const queries = [
  'what did Ann say about tea?',
  'the garden in February 2026',
  'chess and coffee in Oslo',
  'something else entirely',
  'zzz',
];
const vector = fc.record({
  'weights.context': fc.constantFrom(0, 1, 7, 12.5),
  'weights.similarity': fc.constantFrom(0.01, 5, 20),
  'weights.session': fc.constantFrom(0, 3.6, 9),
  'cues.author': fc.constantFrom(0, 0.2, 4),
  'cues.date': fc.constantFrom(0, 1, 8),
  'cues.role': fc.constantFrom(0, 0.15, 2),
});

it('ranks by features as the engine ranks memories by their own scores, whatever the parameters', async () => {
  const vectors = fc.sample(vector, { numRuns: 6, seed: 7 });
  const profiles = vectors.map(
    (set, at): ProfileDefinition => ({
      name: `v${at}`,
      description: 'Other weights.',
      extends: 'hybrid',
      set,
    }),
  );
  await using engine = await createEvaluationEngine({ profiles, recall: { association: 'none' } });
  const space = await engine.open('one');
  await space.load(memories);
  const now = day(200);
  const questions: QuestionFeatures[] = [];
  for (const query of queries) {
    const features = await space.features?.(query, { strategy: 'hybrid', now });
    if (!features) throw new Error('the engine must tell features');
    questions.push(features);
  }
  for (const depth of [10, 100]) {
    const ranker = createRanker(questions, depth);
    for (const [at, set] of vectors.entries()) {
      const best = await ranker.rank(
        resolveProfile(builtinProfile('hybrid'), { ...questions[0]?.parameters, ...set }),
        () => undefined,
      );
      for (const [place, query] of queries.entries()) {
        const rows = [...best.subarray(place * depth, (place + 1) * depth)].filter((row) => row >= 0);
        const { hits } = await space.rank(query, { strategy: `v${at}`, now, limit: depth });
        expect(
          rows.map((row) => questions[place]?.ids[row]),
          `${query} with ${JSON.stringify(set)}`,
        ).toEqual(hits.map(({ id }) => id));
      }
    }
  }
  await space.close();
});

it('reads attributes, ages and requirements, whose limits are parameters too', async () => {
  const definition: ProfileDefinition = {
    name: 'mine',
    description: 'Type and age, of what matters.',
    parameters: { least: { kind: 'number', default: 0.1, min: 0, max: 1 } },
    require: [{ signal: 'lexical', atLeast: { op: 'param', name: 'least' } }],
    score: {
      op: 'mean',
      terms: [
        { weight: 1, of: { op: 'table', by: 'type', cases: { event: 0.3 }, otherwise: 0.9 } },
        { weight: 2, of: { op: 'decay', age: { op: 'age', of: 'createdAt' }, halfLife: 20 } },
      ],
    },
  };
  const strict: ProfileDefinition = {
    ...{ name: 'strict', description: 'Less.', extends: 'mine', set: { least: 0.7 } },
  };
  await using engine = await createEvaluationEngine({ profiles: [definition, strict], embedder: 'none' });
  const space = await engine.open('one');
  await space.load(memories);
  const now = day(200);
  const features = await space.features?.('I like tea', { strategy: 'mine', now });
  if (!features) throw new Error('the engine must tell features');
  expect(Object.keys(features.attributes)).toEqual(['type']);
  const ranker = createRanker([features], 100);
  const sizes = [];
  for (const [strategy, least] of [
    ['mine', 0.1],
    ['strict', 0.7],
  ] as const) {
    let pauses = 0;
    const best = await ranker.rank(resolveProfile(defineProfile(definition), { least }), () => {
      pauses++;
      return undefined;
    });
    const rows = [...best].filter((row) => row >= 0);
    const { hits } = await space.rank('I like tea', { strategy, now, limit: 100 });
    expect(rows.map((row) => features.ids[row])).toEqual(hits.map(({ id }) => id));
    // Others may come to their turn after each block, of which there is one, and each row that is evaluated.
    expect(pauses).toBe(1 + hits.length);
    sizes.push(hits.length);
  }
  expect(sizes[0]).toBeGreaterThan(sizes[1] as number);
  await space.close();
});
