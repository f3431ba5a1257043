import { describe, expect, it } from 'vitest';
import { type Comparison, openMemory } from '../index.ts';
import { createFakeClock } from '../testing/fake-clock.ts';
import { formatComparison } from './comparison-text.ts';
import { displayWidth } from './terminal-text.ts';

const paint = (_: unknown, text: string) => text;

async function comparison(options = {}): Promise<Comparison> {
  await using memory = await openMemory({
    path: ':memory:',
    space: 'alice',
    embedder: 'none',
    clock: createFakeClock().now,
  });
  await memory.rememberMany([
    { id: 'a', content: 'Prefers dark roast coffee, and would walk a mile for one', type: 'preference' },
    { id: 'b', content: 'Bought a\ncoffee grinder\u202e on Sunday', type: 'event' },
    { id: 'c', content: '日本のコーヒーが好きで、毎朝必ず一杯飲むことにしています。coffee' },
  ]);
  return await memory.compare('coffee', options);
}

describe('formatComparison', () => {
  it.each([
    [100, 4],
    [80, 3],
    [40, 1],
    [Number.POSITIVE_INFINITY, 4],
  ])('fits %d columns, with %d rankings beside each other', async (columns, beside) => {
    const all = await comparison();
    const text = formatComparison(all, { paint, columns });
    for (const line of text.split('\n').filter((each) => !each.includes('could not rank:')))
      expect(displayWidth(line)).toBeLessThanOrEqual(Math.min(columns, 100));
    const [titles = ''] = text.split('\n');
    expect(titles.trim().split(/ {2,}/)).toHaveLength(beside);
    for (const { strategy } of all.rankings) expect(text).toContain(strategy);
  });

  it('shows ranks, hits of one strategy alone, failures and strategies without a query, but no scores', async () => {
    const chosen = await comparison({ strategies: ['bm25', 'vector', 'ambient'], limit: 2 });
    const text = formatComparison(chosen, { paint, columns: 100 });
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^ +bm25 +vector +ambient \(no query\)$/);
    expect(lines[1]).toMatch(/^ +1 {2}\* \S.* +\(could not rank\) +\S/);
    expect(lines[2]).toMatch(/^ +2 {2}\* /);
    expect(lines[3]).toMatch(/^ alone {2}2 of 2$/);
    expect(text).toContain('vector could not rank: no embedder is configured');
    expect(text).not.toMatch(/\u202e|score/);
    expect(lines.at(-2)).toMatch(/^1 bm25 +· +-?\d\.\d\d$/);
    expect(lines.at(-1)).toMatch(/^2 ambient +\d\.\d\d +·$/);
  });

  it('tells the whole reason why a strategy could not rank, however narrow the terminal', async () => {
    const failure =
      'the formula needs lastAccessedAt at score.age, and it is unknown; put "missing" on the decay';
    const rankings = [{ strategy: 'mine', takesQuery: true, failure, arms: [] }];
    const text = formatComparison({ query: 'x', limit: 10, rankings, agreement: [] }, { paint, columns: 40 });
    expect(text.split('\n')).toContain(`mine could not rank: ${failure}`);
  });

  it('writes a dash if agreement is undefined, and keeps stored text in its cell', async () => {
    const rankings = ['one', 'two'].map((strategy) => ({
      strategy,
      takesQuery: true,
      hits: [],
      alone: [],
      arms: [],
    }));
    const agreement = [{ between: ['one', 'two'] as const, shared: 0 }];
    const text = formatComparison({ query: 'x', limit: 10, rankings, agreement }, { paint, columns: 80 });
    expect(text).toContain('(nothing found)');
    expect(text.split('\n').slice(-2)).toEqual(['1 one  ·  –', '2 two  –  ·']);
  });
});
