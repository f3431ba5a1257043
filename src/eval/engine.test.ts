import { expect, it } from 'vitest';
import type { Embedder } from '../index.ts';
import { createEvaluationEngine } from './engine.ts';
import { evaluate, type Ranking } from './run.ts';

const ids = ({ hits }: Ranking) => hits.map(({ id }) => id);
const day = (number: number) => Date.UTC(2026, 0, 1 + number);

it('measures strategies that learn from use without tracking', async () => {
  await using engine = await createEvaluationEngine({ embedder: 'builtin' });
  const space = await engine.open('one');
  const memory = { type: 'event', createdAt: day(0), session: undefined, metadata: {} };
  await space.load([
    { ...memory, id: 'coffee', content: 'dark roast coffee' },
    { ...memory, id: 'beans', content: 'dark roast coffee beans' },
  ]);
  for (let week = 1; week <= 12; week++) {
    const options = { strategy: 'retention', now: day(week * 7), limit: 1 };
    expect(ids(await space.rank('dark roast coffee', options))).toEqual(['coffee']);
  }
  // Had it been reinforced a dozen times, the first would have faded far less than the second by now.
  const ranked = await space.rank('dark roast coffee beans', {
    strategy: 'retention',
    now: day(98),
    limit: 2,
  });
  expect(ids(ranked)).toEqual(['beans', 'coffee']);
  await space.close();
});

it('reports the ids of duplicates, and runs maintenance after loading', async () => {
  await using engine = await createEvaluationEngine({ embedder: 'none' });
  const space = await engine.open('one');
  const memory = { type: 'event', session: undefined, metadata: {} };
  const kept = await space.load([
    { ...memory, id: 'then', createdAt: day(0), content: 'The budget for the garden is $500' },
    { ...memory, id: 'again', createdAt: day(1), content: 'The budget for the garden is $500' },
    { ...memory, id: 'now', createdAt: day(800), content: 'The garden budget is now $650' },
  ]);
  expect([...kept]).toEqual([['again', 'then']]);
  const rank = async (query: string) =>
    ids(await space.rank(query, { strategy: 'hybrid', now: day(801), limit: 3 }));
  // Two years later the first is still there: maintenance compared, and let nothing fade.
  expect(await rank('the budget for the garden: $500')).toEqual(['now', 'then']);
  expect(await rank('what was the budget for the garden: $500')).toEqual(['then', 'now']);
  await space.close();
});

it('asks with the beginning of a question that is too long for a query', async () => {
  await using engine = await createEvaluationEngine({ embedder: 'none' });
  const space = await engine.open('one');
  const memory = { type: 'event', session: undefined, metadata: {}, createdAt: day(0) };
  await space.load([{ ...memory, id: 'coffee', content: 'dark roast coffee' }]);
  const question = `coffee ${'x'.repeat(40_000)}`;
  const options = { strategy: 'bm25', now: day(1), limit: 1, contextTokens: 100 };
  expect(ids(await space.rank(question, options))).toEqual(['coffee']);
  expect(await space.features?.(question, options)).toBeDefined();
  await space.close();
});

it('loads summaries of sessions, which `remember` refuses', async () => {
  await using engine = await createEvaluationEngine({ embedder: 'none' });
  const space = await engine.open('one');
  const memory = { session: 'monday', createdAt: day(0), metadata: { from: 'notes' } };
  const kept = await space.load([
    { ...memory, id: 'tea', type: 'event', content: 'Ann drinks green tea' },
    { ...memory, id: 'done', type: 'summary', content: 'Set up the grinder' },
    { ...memory, id: 'beans', type: 'event', content: 'The beans are Ethiopian' },
  ]);
  expect(kept.size).toBe(0);
  const options = { strategy: 'bm25', now: day(1), limit: 3 };
  expect(ids(await space.rank('grinder', options))).toEqual(['done']);
  expect(ids(await space.rank('Ethiopian beans', options))).toEqual(['beans']);
  await space.close();
});

const tea = {
  id: 'tea',
  content: 'Ann drinks tea',
  createdAt: day(0),
  session: undefined,
  type: 'event',
  metadata: {},
};

it('measures no strategy without a part of it: an embedder that fails on a question ends the evaluation', async () => {
  const embedder: Embedder = {
    ...{ model: 'mine', dimensions: 1, calibration: { floor: 0, ceiling: 1 } },
    thresholds: { conflict: 1, birthLink: 1, consolidation: 1, similarPair: 1 },
    async embed(texts, { purpose } = {}) {
      if (purpose === 'query') throw new Error('key expired');
      return texts.map(() => Float32Array.of(1));
    },
  };
  await using engine = await createEvaluationEngine({ embedder });
  const space = await engine.open('one');
  await space.load([tea]);
  const failed = {
    code: 'embedder_failed',
    message: expect.stringMatching(
      /^strategy hybrid, query "tea\?": the vector search failed: .*key expired/,
    ),
  };
  const options = { strategy: 'hybrid', now: day(1), limit: 1 };
  await expect(space.rank('tea?', options)).rejects.toMatchObject(failed);
  await expect(space.features?.('tea?', options)).rejects.toMatchObject(failed);
  // Words alone are all that it looks at.
  expect(ids(await space.rank('tea?', { ...options, strategy: 'bm25' }))).toEqual(['tea']);
  await space.close();
});

it('measures no strategy that cannot rank: vectors alone, and no embedder', async () => {
  await using engine = await createEvaluationEngine({ embedder: 'none' });
  const space = await engine.open('one');
  await space.load([tea]);
  const unable = {
    code: 'invalid_argument',
    message:
      'strategy vector could not rank: no embedder is configured; choose an embedder, or leave the strategy out',
  };
  const options = { strategy: 'vector', now: day(1), limit: 1 };
  await expect(space.rank('tea?', options)).rejects.toMatchObject(unable);
  await expect(space.features?.('tea?', options)).rejects.toMatchObject(unable);
  for (const strategy of ['hybrid', 'balanced']) {
    expect(ids(await space.rank('tea?', { ...options, strategy }))).toEqual(['tea']);
  }
  await space.close();
});

it.each([
  ['ambient', 'invalid_argument', /strategy ambient takes no query/],
  ['typo', 'unknown_strategy', /unknown strategy "typo"/],
])('refuses %s before a space is opened', async (name, code, message) => {
  await using engine = await createEvaluationEngine({ embedder: 'none' });
  const opened: string[] = [];
  const open: typeof engine.open = (space) => {
    opened.push(space);
    return engine.open(space);
  };
  const query = { id: 'q', query: 'tea', now: day(1), type: 'plain', relevant: ['tea'], stale: [] };
  const memory = { type: 'event', session: undefined, metadata: {}, createdAt: day(0) };
  const memories = [{ ...memory, id: 'tea', content: 'green tea' }];
  const spaces = new Map([['one', { memories, queries: [query] }]]);
  const options = { datasets: [{ name: 'd', spaces }], embedder: 'none' };
  const evaluated = (strategies: readonly string[]) =>
    evaluate({ ...options, strategies }, { ...engine, open });
  await expect(evaluated(['bm25', name])).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
  expect(opened).toEqual([]);
  expect(await evaluated(['bm25', 'placebo:random'])).toHaveLength(2);
});

it('measures a strategy that reads neither words nor vectors', async () => {
  const profiles = [
    { name: 'author', description: 'Who said it.', score: { op: 'signal', name: 'authorNamed' } },
  ] as const;
  await using engine = await createEvaluationEngine({ embedder: 'none', profiles });
  const space = await engine.open('one');
  const memory = { createdAt: day(0), session: undefined, type: undefined, metadata: {} };
  await space.load([{ ...memory, id: 'tea', content: 'I drink tea', author: 'Ann' }]);
  const options = { strategy: 'author', now: day(1), limit: 1 };
  expect(ids(await space.rank('What does Ann drink?', options))).toEqual(['tea']);
  await space.close();
});
