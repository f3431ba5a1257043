import { describe, expect, test } from 'vitest';
import type { Embedder } from '../../providers/embedder.ts';
import { resolveProfile } from '../../scoring/profile.ts';
import { builtinProfile } from '../../scoring/profiles/index.ts';
import { createAnalyzer } from '../../text/analyze.ts';
import { prepareQuery } from './prepare.ts';

const analyzer = createAnalyzer();
const vector = Float32Array.of(1, 0);

function embedder(embed: Embedder['embed']): Embedder {
  return { model: 'test-2', dimensions: 2, embed } as Partial<Embedder> as Embedder;
}

const working = embedder(async () => [vector]);

function prepare(
  strategy: string,
  query: string | undefined,
  given: Embedder | undefined = working,
  signal?: AbortSignal,
) {
  return prepareQuery(query, resolveProfile(builtinProfile(strategy)), { analyzer, embedder: given }, signal);
}

const statuses = ({ arms }: Awaited<ReturnType<typeof prepare>>) =>
  arms.map(({ name, status }) => [name, status]);

describe('a query for one strategy', () => {
  test('has its distinct terms in order, and its vector', async () => {
    const prepared = await prepare('hybrid', 'zebras and apples, zebra');
    expect(prepared.query.terms).toEqual([...new Set(analyzer.analyze('zebras apples'))].toSorted());
    expect(prepared.query.terms).toHaveLength(2);
    expect(prepared.query).toMatchObject({ vector });
    expect(prepared.query.substring).toBeUndefined();
    expect(statuses(prepared)).toEqual([
      ['lexical', 'ran'],
      ['vector', 'ran'],
    ]);
  });

  test('what is private is looked for by its words, and not shown to the embedder', async () => {
    const seen: string[] = [];
    const watching = embedder(async (texts) => {
      seen.push(...texts);
      return [vector];
    });
    const { query } = await prepare('hybrid', 'the <private>swordfish</private> door', watching);
    expect(seen).toEqual(['the [REDACTED] door']);
    expect(query.terms).toContain('swordfish');
  });

  test('without a term it is looked for as a text, trimmed', async () => {
    expect((await prepare('lexical', ' the ')).query).toMatchObject({ terms: [], substring: 'the' });
  });

  test('what a strategy does not read is not made', async () => {
    const refusing = embedder(async () => {
      throw new Error('nobody reads it');
    });
    const words = await prepare('bm25', 'tea', refusing);
    expect(words.query.vector).toBeUndefined();
    expect(statuses(words)).toEqual([
      ['lexical', 'ran'],
      ['vector', 'not-used'],
    ]);
    expect(statuses(await prepare('vector', 'tea'))).toEqual([
      ['lexical', 'not-used'],
      ['vector', 'ran'],
    ]);
  });

  test('it is embedded as a query, once', async () => {
    const seen: unknown[] = [];
    const watching = embedder(async (texts, options) => {
      seen.push([texts, options?.purpose]);
      return [vector];
    });
    await prepare('hybrid', 'tea', watching);
    expect(seen).toEqual([[['tea'], 'query']]);
  });

  test.each([
    ['which coffee did she drink before?', true],
    ['which coffee does she drink?', false],
  ])('%s asks for the past: %s', async (query, past) => {
    expect((await prepare('hybrid', query)).past).toBe(past);
  });
});

describe('a strategy without a query', () => {
  test.each([undefined, ''])('takes %j', async (query) => {
    const prepared = await prepare('ambient', query);
    expect(prepared).toMatchObject({ query: { terms: [] }, past: false });
    expect(statuses(prepared)).toEqual([
      ['lexical', 'not-used'],
      ['vector', 'not-used'],
    ]);
  });

  test('refuses one', async () => {
    await expect(prepare('ambient', 'tea')).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('a query that cannot be asked', () => {
  test.each([undefined, '', ' \n'])('%j is blank', async (query) => {
    await expect(prepare('hybrid', query)).rejects.toMatchObject({ code: 'blank_query' });
  });

  test.each([42, null, ['tea'], { query: 'tea' }])('%j is not a text', async (query) => {
    await expect(prepare('hybrid', query as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^query: expected a string, not /),
    });
  });

  test('half of a surrogate pair is no text', async () => {
    await expect(prepare('hybrid', 'tea \ud83d')).rejects.toMatchObject({
      code: 'invalid_text',
      details: { field: 'query' },
    });
  });
});

describe('a vector that cannot be made is reported, and words are searched', () => {
  test.each([
    ['no embedder', undefined, 'off'],
    ['one that fails', embedder(async () => Promise.reject(new Error('no network'))), 'failed'],
    ['one that fails with nothing', embedder(async () => Promise.reject(null)), 'failed'],
    ['one that knows no word of it', embedder(async () => [undefined]), 'blank'],
  ] as const)('%s', async (_, given, status) => {
    const prepared = await prepareQuery(
      'tea',
      resolveProfile(builtinProfile('hybrid')),
      { analyzer, embedder: given },
      undefined,
    );
    expect(prepared.query).toMatchObject({ terms: ['tea'], vector: undefined });
    const arm = prepared.arms.find(({ name }) => name === 'vector');
    expect(arm).toMatchObject({ status, reason: expect.stringMatching(/./) });
    if (status === 'failed') expect(arm?.reason).toMatch(/^(no network|null was thrown, with no message)$/);
  });

  test.each([['x'], [[null]], [[{ from: 5, to: 1 }]], [[{ text: 'May', start: 5, end: 1 }]]])(
    'dates that are none, such as %j, are not looked for',
    async (answer) => {
      const dates = async () => answer as never;
      const resolved = resolveProfile(builtinProfile('hybrid'));
      const { query, arms } = await prepareQuery(
        'tea in May',
        resolved,
        { analyzer, embedder: working, dates },
        undefined,
      );
      expect(query.dates).toBeUndefined();
      expect(arms).toContainEqual({
        name: 'dates',
        status: 'failed',
        reason: expect.stringContaining('return a list of { text, start, end }'),
      });
    },
  );

  test('where words are not read either, nothing was searched', async () => {
    const tools = { analyzer, embedder: undefined };
    const reasonOf = async (name: string) => {
      const { arms } = await prepareQuery('tea', resolveProfile(builtinProfile(name)), tools, undefined);
      return arms.find((arm) => arm.name === 'vector')?.reason;
    };
    expect(await reasonOf('hybrid')).toContain('words alone were searched');
    expect(await reasonOf('vector')).not.toContain('words alone');
  });

  test('but an aborted recall is aborted', async () => {
    const controller = new AbortController();
    const aborting = embedder(async () => {
      controller.abort();
      throw new Error('stopped');
    });
    await expect(prepare('hybrid', 'tea', aborting, controller.signal)).rejects.toMatchObject({
      code: 'aborted',
    });
  });
});
