import { expect, it } from 'vitest';
import { createEvaluationEngine } from './engine.ts';

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
    expect(await space.rank('dark roast coffee', options)).toEqual(['coffee']);
  }
  // Had it been reinforced a dozen times, the first would have faded far less than the second by now.
  const ranked = await space.rank('dark roast coffee beans', {
    strategy: 'retention',
    now: day(98),
    limit: 2,
  });
  expect(ranked).toEqual(['beans', 'coffee']);
  await space.close();
});
