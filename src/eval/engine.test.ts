import { expect, it } from 'vitest';
import { createEvaluationEngine } from './engine.ts';
import type { Ranking } from './run.ts';

const ids = ({ hits }: Ranking) => hits.map(({ id }) => id);
const day = (number: number) => Date.UTC(2026, 0, 1 + number);

it('measures strategies that learn without teaching them', async () => {
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

it('says which ids stand for others, and notices what a store that is looked after would', async () => {
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

it('loads summaries of sessions, which nobody may remember', async () => {
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
