import { expect, test } from 'vitest';
import { openStore } from '../open.ts';
import { live } from '../testing/live-memory.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { formatRecall } from './hits-text.ts';
import { createPaint } from './paint.ts';

test('prints "at most" before a number of candidates that is an upper bound', async () => {
  const { memory, clock } = await live({ store: await openStore({ path: ':memory:' }) });
  const words = ['amber', 'birch', 'cedar', 'dune', 'ember', 'fjord', 'grove', 'heath', 'island', 'jetty'];
  const random = seededRandom(1);
  const word = () => words[Math.floor(random() * words.length)];
  await memory.rememberMany(
    Array.from({ length: 80 }, (_, at) => ({ content: `${word()} ${word()} ${word()} ${at}` })),
  );
  const view = {
    query: 'amber birch',
    explain: false,
    trace: true,
    now: clock.now(),
    paint: createPaint(false, {}, false),
    columns: 100,
  };
  const printed = async (limit: number) => {
    const strategy: string = 'hybrid';
    const asked = { strategy, limit, minRelevance: 0.1, association: 'none', track: false } as const;
    const answer = await memory.recall(view.query, asked);
    return { hits: answer.hits.length, text: formatRecall(answer, view) };
  };
  const all = await printed(80);
  expect(all.hits).toBeGreaterThan(16);
  expect(all.text).toContain(`80 memories → ${all.hits} candidates → ${all.hits} hits · `);
  expect(all.text).not.toMatch(/at most|≤/);
  // Only memories that may be among the best are examined.
  const { text } = await printed(1);
  const [, count = ''] = text.match(/^80 memories → at most (\d+) candidates → 1 hit · /m) ?? [];
  expect(Number(count)).toBeGreaterThanOrEqual(all.hits);
  expect(text).toMatch(new RegExp(`^floor +80 +≤ ${count} `, 'm'));
  expect(text).toMatch(new RegExp(`^score +≤ ${count} +1 `, 'm'));
});

test('an empty answer says once what was not searched, with escaped control characters', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  await memory.remember('amber');
  const strategy: string = 'vector';
  const answer = await memory.recall('birch', { strategy });
  const view = {
    query: 'birch',
    explain: false,
    trace: false,
    now: clock.now(),
    paint: createPaint(false, {}, false),
    columns: 100,
  };
  const [line, ...rest] = formatRecall(answer, view).split('\n');
  expect(line).toBe(
    'nothing found. Not everything was searched: the vector search could not run: no embedder is configured',
  );
  expect(rest.join('\n')).not.toContain('vector search');
  const hostile = { ...answer, nothing: { reason: 'unsearched', message: 'no \u001b[31mred' } } as const;
  expect(formatRecall(hostile, view)).not.toContain('\u001b');
});

test('an answer says how a date in the question was read', async () => {
  const { memory, clock } = await live({ embedder: 'none' });
  await memory.remember('amber');
  const view = { query: 'amber', explain: false, trace: false, now: clock.now() } as const;
  const plain = { ...view, paint: createPaint(false, {}, false), columns: 100 };
  const lines = async (query: string) =>
    formatRecall(await memory.recall(query), plain)
      .split('\n')
      .filter((line) => line.startsWith('date: '));
  expect(await lines('amber since March 2025 or before 2024')).toEqual([
    'date: "since March 2025" is 2025-03-01 to before 2026-01-02',
    'date: "before 2024" is before 2024-01-01',
  ]);
  expect(await lines('amber')).toEqual([]);
});
