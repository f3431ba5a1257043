import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { compareRuns } from '../compare.ts';
import type { Dataset } from '../dataset.ts';
import { type EvaluationEngine, evaluate } from '../run.ts';
import { rankDistribution, worstLosses } from './losses.ts';
import { htmlReport } from './page.ts';

const evil = '<script>alert("x")</script><img src=http://example.com onerror=a>';
const memories = ['a', 'b', 'c'].map((id) => ({
  ...{ id, content: `${id} ${evil}`, createdAt: 0, session: undefined, type: undefined, metadata: {} },
}));
const dataset: Dataset = {
  name: `set ${evil}`,
  spaces: new Map(
    Array.from({ length: 5 }, (_, at) => [
      `space/${at}`,
      {
        memories,
        queries: Array.from({ length: 4 }, (_, number) => ({
          ...{ id: `q${number}${evil}`, query: `who? ${evil}`, now: 0, type: `kind ${evil}`, stale: [] },
          relevant: ['c'],
        })),
      },
    ]),
  ),
};

/** `down` ranks what is right last, every other strategy first. */
const engine: EvaluationEngine = {
  open: async () => ({
    load: async () => new Map(),
    rank: async (_, { strategy, limit }) => ({
      hits: (strategy === 'down' ? ['a', 'b', 'c'] : ['c', 'b', 'a'])
        .slice(0, limit)
        .map((id, at) => ({ id, score: 1 - at / 10 })),
      milliseconds: 1,
    }),
    close: async () => {},
  }),
};

async function report(strategies: readonly string[]) {
  const datasets = [dataset];
  const runs = await evaluate({ datasets, strategies, embedder: 'none', ks: [1, 2] }, engine);
  const about = { command: `salience eval '${evil}'`, version: '1.2.3' };
  return { runs, html: htmlReport({ runs, datasets, differences: compareRuns(runs), about }) };
}

test('the page loads nothing, and its policy allows its own styles alone', async () => {
  const { html } = await report(['up', 'down', 'placebo:random']);
  const style = /<style>([\s\S]*)<\/style>/.exec(html)![1]!;
  const hash = createHash('sha256').update(style).digest('base64');
  expect(html).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'"`);
  // No element that loads or runs, no attribute that does, no style beside the sheet.
  expect(html).not.toMatch(/<(?:script|img|link|iframe|object|embed|base|form|image|use|foreignObject)\b/i);
  expect(html).not.toMatch(/<[^>]*\s(?:src|href|style|on\w+)=/i);
  expect(style).not.toMatch(/@import|url\(/);
  expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
});

test('every element that opens closes', async () => {
  const { html } = await report(['up', 'down']);
  const open: string[] = [];
  for (const [, close, name, self] of html.matchAll(/<(\/?)([a-z][\w-]*)[^>]*?(\/?)>/gi)) {
    if (self || name === 'meta') continue;
    if (close) expect(open.pop()).toBe(name);
    else open.push(name as string);
  }
  expect(open).toEqual([]);
});

test('it shows differences, ranks, losses and how it was made', async () => {
  const { html } = await report(['up', 'down']);
  expect(html).toContain('<p class="dim">version 1.2.3</p>');
  expect(html).toContain('<pre>salience eval &#39;');
  expect(html).toContain('down: −1.000 [−1.000, −1.000]');
  expect(html).toMatch(/<td>0\.000 <span class="down">▼<\/span><\/td>/);
  expect(html).toContain('Where down loses most against up (ndcg@2)');
  expect(html.match(/<li>/g)).toHaveLength(10);
  expect(html).toContain('first evidence at 3 with down, at 1 with up');
  expect(html).toMatch(/<blockquote>evidence <code>c<\/code>: c &lt;script/);
  expect(html).toMatch(/<blockquote>first of down <code>a<\/code>: a &lt;script/);
});

test('one strategy alone has neither differences nor losses', async () => {
  const { html } = await report(['up']);
  expect(html).not.toMatch(/Difference from|loses most/);
  expect(html).toContain('Rank of the first evidence');
});

test('it shows forbidden hits and empty answers', async () => {
  const queries = [
    { ...{ id: 'q1', query: '?', now: 0, type: 'plain', stale: [] }, relevant: ['c'], mustNot: ['a'] },
    { ...{ id: 'q2', query: '?', now: 0, type: 'plain', stale: [] }, relevant: ['c'] },
  ];
  const datasets = [{ name: 'd', spaces: new Map([['s', { memories, queries }]]) }];
  const silent: EvaluationEngine = {
    open: async (space) => {
      const opened = await engine.open(space);
      const rank: typeof opened.rank = async (query, options) =>
        options.strategy === 'silent' ? { hits: [] } : opened.rank(query, options);
      return { ...opened, rank };
    },
  };
  const strategies = ['down', 'silent'];
  const runs = await evaluate({ datasets, strategies, embedder: 'none', ks: [1, 3] }, silent);
  const html = htmlReport({ runs, datasets, differences: [] });
  // No question is without an answer: the column of those that have one does not depend on it.
  expect(html).toMatch(
    /<th>forbidden above evidence<\/th><th>forbidden returned<\/th><th>answer, yet no hit<\/th>/,
  );
  expect(html).toContain('<td>1 of 1</td><td>1 @1, 1 @3</td><td>0 of 2</td>');
  expect(html).toContain('<td>0 of 1</td><td>0 @1, 0 @3</td><td>2 of 2</td>');
});

test('an excerpt ends between characters', async () => {
  const long = memories.map((memory) => ({ ...memory, content: `${'x'.repeat(298)}👍🏽 and more` }));
  const spaces = [...dataset.spaces].map(
    ([name, { queries }]) => [name, { queries, memories: long }] as const,
  );
  const datasets = [{ ...dataset, spaces: new Map(spaces) }];
  const runs = await evaluate({ datasets, strategies: ['up', 'down'], embedder: 'none', ks: [1] }, engine);
  const html = htmlReport({ runs, datasets, differences: [] });
  expect(html).toContain(`${'x'.repeat(298)}…</blockquote>`);
});

test('losses are the questions that got worse, the worst first', async () => {
  const { runs } = await report(['up', 'down']);
  const [up, down] = [runs[0]!, runs[1]!];
  expect(
    worstLosses(down, up, 'hit@1', 3).map(({ loss, rank, rankBefore }) => [loss, rank, rankBefore]),
  ).toEqual(Array(3).fill([1, 3, 1]));
  expect(worstLosses(up, down, 'hit@1', 3)).toEqual([]);
});

test('questions that the headline leaves out are no losses and have no rank', async () => {
  const spaces = new Map(
    [...dataset.spaces].map(([name, { queries }]) => {
      const asked = queries.map((query, at) => (at === 0 ? { ...query, type: 'adversarial' } : query));
      return [name, { memories, queries: asked }] as const;
    }),
  );
  const datasets = [{ ...dataset, spaces }];
  const strategies = ['up', 'down'];
  const totals = await Promise.all(
    [undefined, []].map(async (excludeTypes) => {
      const runs = await evaluate({ datasets, strategies, embedder: 'none', ks: [1], excludeTypes }, engine);
      const html = htmlReport({ runs, datasets, differences: [] });
      return [
        worstLosses(runs[1]!, runs[0]!, 'hit@1', 100).length,
        /rank 1<[\s\S]*?>(\d+)<\/text>/.exec(html.slice(html.indexOf('Rank of the first')))?.[1],
      ];
    }),
  );
  expect(totals).toEqual([
    [15, '15'],
    [20, '20'],
  ]);
});

test('every question is counted at one rank', () => {
  const at = (rank: number) => ({
    ranking: Array.from({ length: 60 }, (_, place) => (place + 1 === rank ? 'right' : `m${place}`)),
    relevant: ['right'],
  });
  const counts = rankDistribution([1, 2, 3, 4, 5, 6, 10, 11, 20, 21, 50, 51, 0].map(at));
  expect(counts.map(({ label, count }) => `${label}: ${count}`)).toEqual([
    ...['1: 1', '2: 1', '3: 1', '4–5: 2', '6–10: 2', '11–20: 2', '21–50: 2', '51+: 1', 'none: 1'],
  ]);
});
