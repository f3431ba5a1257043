import { describe, expect, test } from 'vitest';
import type { Embedder } from '../../providers/embedder.ts';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { live } from '../../testing/live-memory.ts';

/** Fails, or knows no word, as soon as it is told to. */
function turning() {
  const state: { answer: 'vectors' | 'nothing' | 'error' } = { answer: 'vectors' };
  const embed: Embedder['embed'] = async (texts) => {
    if (state.answer === 'error') throw new Error('no network');
    return texts.map(() => (state.answer === 'vectors' ? Float32Array.of(1, 0) : undefined));
  };
  return { state, embedder: { ...angleEmbedder({}), model: 'turning', embed } };
}

describe('an answer without hits', () => {
  const failed =
    'Not everything was searched: the vector search failed: the embedder turning failed: no network';
  const blank =
    'Not everything was searched: the vector search could not run: turning knows no word of the query';

  test.each([
    ['vector', 'error', 'tea', { reason: 'unsearched', message: `nothing found. ${failed}` }],
    ['vector', 'nothing', 'tea', { reason: 'unsearched', message: `nothing found. ${blank}` }],
    [
      'hybrid',
      'error',
      'locomotive',
      { reason: 'unsearched', message: expect.stringContaining(`.99 or more. ${failed}`) },
    ],
    ['bm25', 'error', 'locomotive', { reason: 'no-match', message: 'nothing found' }],
    ['hybrid', 'nothing', 'locomotive', { reason: 'irrelevant' }],
  ] as const)(
    'of %s, where the embedder answers with %s, to %s',
    async (strategy, answer, query, nothing) => {
      const { state, embedder } = turning();
      const { memory } = await live({ embedder });
      await memory.remember('Anna likes tea');
      state.answer = answer;
      const floor = strategy === 'hybrid' ? { minRelevance: 0.99 } : {};
      const { hits, nothing: found } = await memory.recall(query, { strategy, ...floor });
      expect(hits).toEqual([]);
      expect(found).toMatchObject(nothing);
      const context = await memory.context(query, { strategy, maxTokens: 200, ...floor });
      expect(context.nothing).toEqual(found);
    },
  );

  test('says so where there is no embedder', async () => {
    const { memory } = await live({ embedder: 'none' });
    await memory.remember('Anna likes tea');
    const { nothing } = await memory.recall('tea', { strategy: 'vector' });
    const message =
      'nothing found. Not everything was searched: the vector search could not run: no embedder is configured';
    expect(nothing).toEqual({ reason: 'unsearched', message });
    const { memory: empty } = await live({ embedder: 'none' });
    expect((await empty.recall('tea', { strategy: 'vector' })).nothing?.reason).toBe('no-memories');
  });

  test.each([
    [{ metadata: { by: 'ann' } }, 'metadata'],
    [{ types: ['event'] }, 'type'],
    [{ typesExclude: ['fact'], tags: ['x'] }, 'type and tags'],
    [{ scope: 'project:b', types: ['event'], tags: ['x'] }, 'scope, type and tags'],
    [{ inScope: 'project:b' }, 'scope'],
    [{ asOf: { valid: '2020-01-01' } }, 'time'],
  ])('of a filter %j names it', async (filter, named) => {
    const { memory } = await live();
    const message = 'nothing found: there are no memories to search here';
    const before = await memory.recall('tea', { types: ['event'] });
    expect(before.nothing).toEqual({ reason: 'no-memories', message });
    await memory.remember('Anna likes tea', { validFrom: '2025-01-01' });
    const { nothing } = await memory.recall('tea', filter);
    expect(nothing).toEqual({
      reason: 'no-memories',
      message: `nothing found: no memory here passes the filter by ${named}`,
    });
    expect((await memory.context('tea', { ...filter, maxTokens: 200 })).nothing).toEqual(nothing);
    expect((await memory.recall('tea', { tags: [], metadata: {} })).hits).toHaveLength(1);
  });

  test('tells nobody who asks from a scope whether there are memories in others', async () => {
    const { memory } = await live();
    const asked = { scope: 'project:a', types: ['event'] };
    const before = await memory.recall('tea', asked);
    await memory.remember('Anna likes tea', { scope: 'project:b' });
    expect((await memory.recall('tea', asked)).nothing).toEqual(before.nothing);
  });

  test('names the best score below minScore, and the search that failed, but no reranker', async () => {
    const { state, embedder } = turning();
    const rerank = async () => Promise.reject(new Error('no quota'));
    const { memory } = await live({ embedder, reranker: { model: 'failing', rerank } });
    await memory.remember('Anna likes tea');
    const asked = { strategy: 'hybrid', rerank: true, minScore: 0.99 } as const;
    const searched = await memory.recall('tea', asked);
    expect(searched.trace.arms).toContainEqual(expect.objectContaining({ name: 'rerank', status: 'failed' }));
    expect(searched.nothing).toMatchObject({ reason: 'no-match' });
    state.answer = 'error';
    const { nothing } = await memory.recall('green tea', asked);
    expect(nothing?.reason).toBe('unsearched');
    expect(nothing?.message).toMatch(/^nothing found: the best score is 0\.\d+, below minScore 0\.99\. /);
    expect(nothing?.message).toContain(failed);
    expect(nothing?.message).not.toContain('rerank');
  });
});
