import { describe, expect, test } from 'vitest';
import type { Reranker } from '../../providers/reranker.ts';
import { rerankItems } from './rerank.ts';

type Results = Awaited<ReturnType<Reranker['rerank']>>['results'];

function judging(results: Results, seen: string[][] = []): Reranker {
  return {
    model: 'test',
    async rerank(_, passages) {
      seen.push([...passages]);
      return { results, promptTokens: 7, completionTokens: 3 };
    },
  };
}

const items = ['a', 'b', 'c', 'd'];
const rerank = (reranker: Reranker, most = 3, signal?: AbortSignal) =>
  rerankItems(reranker, 'query', items, (item) => `passage ${item}`, most, signal);

describe('reranking', () => {
  test('the reranker sees the first passages, and its scores are their order', async () => {
    const seen: string[][] = [];
    const order = [
      { index: 0, score: 0.1 },
      { index: 2, score: 0.9 },
      { index: 1, score: 0.5 },
    ];
    const answer = await rerank(judging(order, seen));
    expect(seen).toEqual([['passage a', 'passage b', 'passage c']]);
    expect(answer).toMatchObject({ items: ['c', 'b', 'a', 'd'], examined: 3, failure: undefined });
    expect(answer).toMatchObject({ promptTokens: 7, completionTokens: 3 });
  });

  test('what is private is not shown to it', async () => {
    const asked: string[] = [];
    const reranker: Reranker = {
      model: 'test',
      async rerank(query) {
        asked.push(query);
        return { results: [] };
      },
    };
    await rerankItems(reranker, 'code <private>4711</private>?', items, (item) => item, 3, undefined);
    expect(asked).toEqual(['code [REDACTED]?']);
  });

  test.each([Number.NaN, '05', -1, 0.5, undefined])(
    'a count that is none, %j, counts nothing',
    async (count) => {
      const reranker = {
        model: 'test',
        rerank: async () => ({ results: [], promptTokens: count, completionTokens: count }),
      } as Reranker;
      expect(await rerank(reranker)).toMatchObject({ promptTokens: 0, completionTokens: 0 });
    },
  );

  test('ties keep the old order; what is left out follows, then what was not shown', async () => {
    const tied = [
      { index: 2, score: 0.5 },
      { index: 1, score: 0.5 },
    ];
    expect((await rerank(judging(tied))).items).toEqual(['b', 'c', 'a', 'd']);
    expect((await rerank(judging([]))).items).toEqual(['a', 'b', 'c', 'd']);
  });

  test.each([
    [
      'the first word on a passage counts',
      [
        { index: 1, score: 1 },
        { index: 1, score: -1 },
        { index: 0, score: 0 },
      ],
    ],
    [
      'an index that is no passage says nothing',
      [
        { index: 1, score: 1 },
        { index: 3, score: 9 },
      ],
    ],
    [
      'nor one below zero or between two',
      [
        { index: -1, score: 9 },
        { index: 0.5, score: 9 },
        { index: 1, score: 1 },
      ],
    ],
    [
      'nor a score that is not a finite number',
      [
        { index: 2, score: Number.NaN },
        { index: 1, score: 1 },
        { index: 0, score: Infinity },
      ],
    ],
  ] as const)('%s', async (_, results) => {
    expect((await rerank(judging(results))).items).toEqual(['b', 'a', 'c', 'd']);
  });

  test.each([
    ['an error', new Error('no quota'), 'no quota'],
    ['anything else', 'refused', 'refused'],
  ])('what it throws leaves the order and is reported: %s', async (_, thrown, failure) => {
    const failing: Reranker = { model: 'test', rerank: async () => Promise.reject(thrown) };
    expect(await rerank(failing)).toMatchObject({ items, examined: 0, failure });
  });

  test.each([
    ['nothing', undefined],
    ['a list', [{ index: 0, score: 1 }]],
    ['the names of another library', { results: [{ index: 0, relevance_score: 1 }] }],
    ['no results', { results: [null, undefined, 'a'] }],
    ['numbers as texts', { results: [{ index: '0', score: '1' }] }],
    ['passages that there are not', { results: [{ index: 3, score: 1 }] }],
  ])('an answer of which nothing can be read is a failure that says so: %s', async (_, answer) => {
    const reranker = { model: 'mine', rerank: async () => answer } as unknown as Reranker;
    const { failure, ...rest } = await rerank(reranker);
    expect(rest).toEqual({ items, sent: 3, examined: 0, promptTokens: 0, completionTokens: 0 });
    expect(failure).toMatch(/^the reranker mine returned no score of a passage: .*index, score/);
  });

  test('what such an answer cost is counted, and one result that can be read is enough', async () => {
    const useless = judging([{ index: 9, score: 1 }]);
    expect(await rerank(useless)).toMatchObject({ examined: 0, promptTokens: 7, completionTokens: 3 });
    const holes = [null, { index: 1, score: 1 }] as unknown as Results;
    expect(await rerank(judging(holes))).toMatchObject({ items: ['b', 'a', 'c', 'd'], failure: undefined });
  });

  test('an aborted recall is aborted, and not a failed reranking', async () => {
    const controller = new AbortController();
    const aborting: Reranker = {
      model: 'test',
      async rerank() {
        controller.abort();
        throw new Error('stopped');
      },
    };
    await expect(rerank(aborting, 3, controller.signal)).rejects.toMatchObject({ code: 'aborted' });
  });
});
