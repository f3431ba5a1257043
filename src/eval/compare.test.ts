import { expect, test } from 'vitest';
import { compareRuns } from './compare.ts';
import { htmlReport } from './html/page.ts';
import { summarise } from './report.ts';
import type { EvaluatedQuery, EvaluationRun } from './run.ts';
import { formatReport } from './table.ts';

/** A run of questions whose answer holds the evidence at a rank each, 0 for not at all. */
function run(
  strategy: string,
  ranks: readonly number[],
  more: (at: number) => Partial<EvaluatedQuery> = () => ({}),
): EvaluationRun {
  const outcomes = ranks.map((rank, at): EvaluatedQuery => {
    const ranking = Array.from({ length: 5 }, (_, place) => (place + 1 === rank ? 'right' : `other${place}`));
    return {
      ...{ space: `space${at % 5}`, id: `q${at}`, query: '?', type: at % 2 === 0 ? 'even' : 'odd', ranking },
      ...{ relevant: ['right'], hits: [], sameAs: {}, milliseconds: 1 },
      ...more(at),
    };
  });
  const result = summarise(outcomes, { dataset: 'd', strategy, embedder: 'none', ks: [1] });
  return { result, outcomes, ks: [1] };
}

const ranks = (count: number, rankOf: (at: number) => number) =>
  Array.from({ length: count }, (_, at) => rankOf(at));

test('any strategy may be the baseline, and each type of question is compared too', () => {
  const runs = [
    run(
      'a',
      ranks(20, () => 2),
    ),
    run(
      'b',
      ranks(20, (at) => (at % 2 === 0 ? 1 : 2)),
    ),
  ];
  const differences = compareRuns(runs, { baseline: 'b' });
  const of = (type: string | undefined) =>
    differences.find((each) => each.metric === 'hit@1' && each.type === type);
  expect(new Set(differences.map(({ strategy, baseline }) => `${strategy}-${baseline}`))).toEqual(
    new Set(['a-b']),
  );
  expect(of(undefined)).toMatchObject({ n: 20, difference: -0.5, certain: true, spaces: { n: 5 } });
  expect(of('even')).toMatchObject({ n: 10, difference: -1, certain: true });
  expect(of('odd')).toMatchObject({ n: 10, difference: 0, p: 1, certain: false });
  expect(compareRuns(runs).find(({ metric }) => metric === 'hit@1')).toMatchObject({
    strategy: 'b',
    difference: 0.5,
  });
  expect(compareRuns([runs[0]!])).toEqual([]);
});

test('too few pairs have no interval, and no difference of them is certain', () => {
  const few = compareRuns([
    run(
      'a',
      ranks(9, () => 2),
    ),
    run(
      'b',
      ranks(9, () => 1),
    ),
  ]);
  expect(few[0]).not.toHaveProperty('interval');
  expect(few[0]).not.toHaveProperty('spaces');
  expect(few.every(({ certain }) => !certain)).toBe(true);
  const enough = compareRuns([
    run(
      'a',
      ranks(10, () => 2),
    ),
    run(
      'b',
      ranks(10, () => 1),
    ),
  ]);
  expect(enough.find(({ metric, type }) => metric === 'hit@1' && !type)).toMatchObject({ certain: true });
});

test('fewer than five spaces have no interval of their own', () => {
  const four = (at: number) => ({ space: `space${at % 4}` });
  const [difference] = compareRuns([
    run(
      'a',
      ranks(20, () => 2),
      four,
    ),
    run(
      'b',
      ranks(20, () => 1),
      four,
    ),
  ]);
  expect(difference).toHaveProperty('interval');
  expect(difference).not.toHaveProperty('spaces');
});

test('a gain in one conversation alone is not certain', () => {
  // Of 100 questions 60 gain, all in one of five spaces: over questions it is clear, over spaces it is not.
  const spaceOf = (at: number) => ({ space: at < 60 ? 'big' : `space${at % 4}`, type: 'one' });
  const [first, second] = [
    run(
      'a',
      ranks(100, () => 2),
      spaceOf,
    ),
    run(
      'b',
      ranks(100, (at) => (at < 60 ? 1 : 2)),
      spaceOf,
    ),
  ];
  const found = compareRuns([first, second]).find(({ metric }) => metric === 'hit@1')!;
  expect(found.interval!.low).toBeGreaterThan(0.4);
  expect(found.spaces).toMatchObject({ n: 5, low: 0 });
  expect(found.certain).toBe(false);
});

test('weights count in the difference as they do in the means', () => {
  const weigh = (at: number) => ({ weight: at < 10 ? 3 : 1 });
  const [a, b] = [
    run(
      'a',
      ranks(20, () => 2),
      weigh,
    ),
    run(
      'b',
      ranks(20, (at) => (at < 10 ? 1 : 2)),
      weigh,
    ),
  ];
  const found = compareRuns([a, b]).find(({ metric }) => metric === 'hit@1')!;
  expect(found.difference).toBeCloseTo(b.result.metrics['hit@1']! - a.result.metrics['hit@1']!, 12);
  expect(found.difference).toBeCloseTo(0.75, 12);
});

test('the heading of a table counts one query and several', () => {
  const report = (n: number) =>
    formatReport(
      [
        run(
          'a',
          ranks(n, () => 1),
        ).result,
      ],
      { differences: [] },
    );
  expect(report(1)).toMatch(/^d: 1 query, /m);
  expect(report(2)).toMatch(/^d: 2 queries, /m);
});

test('a table that is wider than the terminal is continued below, with the strategies again', () => {
  const results = ['a', 'placebo:shuffled'].map(
    (name) =>
      run(
        name,
        ranks(20, () => 1),
      ).result,
  );
  const whole = formatReport(results).split('\n');
  const titlesOf = (lines: readonly string[]) =>
    lines.filter((line) => line.startsWith('│ strategy')).flatMap((line) => line.match(/[\w@ >]*[\w@>]/g));
  const width = Math.max(...whole.map((line) => line.length));
  // As wide as the terminal is not too wide.
  expect(formatReport(results, { width }).split('\n')).toEqual(whole);
  for (const narrow of [width - 1, 48, 1]) {
    const lines = formatReport(results, { width: narrow }).split('\n');
    // A strategy and one column take what they take.
    if (narrow > 40) expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(narrow);
    expect(lines.filter((line) => line.startsWith('│ placebo:shuffled ')).length).toBeGreaterThan(1);
    expect(titlesOf(lines).filter((title) => title?.trim() !== 'strategy')).toEqual(
      titlesOf(whole).filter((title) => title?.trim() !== 'strategy'),
    );
  }
  expect(() => formatReport(results, { width: 0 })).toThrow(/^width: 0 must be a number from 1/);
});

test('two datasets of one name are each marked with their own differences only', () => {
  const rankAll = (strategy: string, rank: number) =>
    run(
      strategy,
      ranks(20, () => rank),
    );
  const runs = [rankAll('a', 1), rankAll('b', 2), rankAll('a', 1), rankAll('b', 1)];
  const differences = compareRuns(runs);
  const certain = differences.filter((each) => each.certain);
  expect(new Set(certain.map(({ datasetIndex }) => datasetIndex))).toEqual(new Set([0]));
  expect(new Set(differences.map(({ datasetIndex }) => datasetIndex))).toEqual(new Set([0, 1]));
  const marked = (section: string) => section.includes('▼');
  const table = formatReport(
    runs.map(({ result }) => result),
    { differences },
  );
  expect(table.split(/^(?=d: )/m).map(marked)).toEqual([true, false]);
  const html = htmlReport({ runs, differences, datasets: [] });
  const cells = html
    .split('<h2>')
    .slice(1)
    .map((section) => section.includes('<span class="down">▼'));
  expect(cells).toEqual([true, false]);
});

test.each<[string, object, RegExp]>([
  ['baseline', { baseline: 'hybird' }, /unknown strategy "hybird" \(did you mean "hybrid"\?\)/],
  ['baseline', { baseline: 'vector' }, /available: bm25, hybrid/],
  ['resamples', { resamples: 0 }, /whole number from 1/],
  ['rounds', { rounds: 1.5 }, /whole number from 1/],
  ['seed', { seed: 2 ** 32 }, /whole number from 0 to 4294967295/],
])('a %s that cannot be is refused, however few the questions', (field, options, message) => {
  const runs = [run('bm25', [1]), run('hybrid', [1])];
  const refused = { code: 'invalid_argument', message: expect.stringMatching(message), details: { field } };
  expect(() => compareRuns(runs, options)).toThrow(expect.objectContaining(refused));
});
