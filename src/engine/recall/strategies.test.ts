import { describe, expect, test } from 'vitest';
import { live } from '../../testing/live-memory.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const statements = [
  { id: 'roast', content: 'Ann prefers dark roast coffee', importance: 0.8, confidence: 1 },
  { id: 'shop', content: 'The coffee shop by the river closes at six', importance: 0.2, confidence: 0.5 },
];

describe('five-factor', () => {
  test('every hit has the five parts, which make up its score, and is counted', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(statements);
    pass(14);
    await memory.feedback('shop', 'up');
    const first = await memory.recall('coffee', { strategy: 'five-factor' });
    expect(first.hits).toHaveLength(2);
    for (const hit of first.hits) {
      const { relevance = 0, recency = 0, usefulness = 0, confidence = 0, frequency = 0 } = hit.features;
      expect(recency).toBeCloseTo(Math.exp(-0.05 * 14), 12);
      expect(usefulness).toBe(hit.memory.id === 'shop' ? 2 / 3 : 0.5);
      expect(confidence).toBe(hit.memory.id === 'shop' ? 0.5 : 1);
      expect(frequency).toBe(0);
      const sum = 0.4 * relevance + 0.25 * recency + 0.2 * usefulness + 0.1 * confidence + 0.05 * frequency;
      expect(hit.score.value).toBeCloseTo(sum, 12);
      expect(hit.features['combined']).toBe(hit.score.value);
      verifyExplanation(hit.explain());
    }
    const { hits } = await memory.recall('coffee', { strategy: 'five-factor', track: false });
    expect(hits.map(({ features }) => features['frequency'])).toEqual([1 / 50, 1 / 50]);
  });

  test('the floor of relevance keeps out what has nothing to do with the question', async () => {
    const { memory } = await live();
    await memory.rememberMany([...statements, { id: 'tax', content: 'The tax return is due in May' }]);
    const ask = async (relevanceFloor: number) =>
      (
        await memory.recall('dark roast', {
          strategy: 'five-factor',
          track: false,
          parameters: { relevanceFloor },
        })
      ).hits.map((hit) => hit.memory.id);
    expect(await ask(0)).toHaveLength(3);
    expect(await ask(0.5)).toEqual(['roast']);
  });
});

describe('balanced', () => {
  test.each([
    'balanced',
    'personal-assistant',
    'support-desk',
    'coding-agent',
    'research-notes',
    'news',
  ] as const)(
    '%s: the three parts of every hit, up to 20 of them, and nothing left behind',
    async (strategy) => {
      const { memory, space, pass } = await live();
      const filler = Array.from({ length: 30 }, (_, at) => ({ content: `Coffee number ${at}` }));
      await memory.rememberMany([...statements, ...filler]);
      pass(14);
      const { hits } = await memory.recall('dark roast coffee', { strategy });
      expect(hits).toHaveLength(20);
      const roast = hits.find((hit) => hit.memory.id === 'roast');
      expect(roast?.features).toMatchObject({ importance: 0.8, semantic: expect.any(Number) });
      if (strategy === 'balanced') expect(roast?.features['recency']).toBe(0.5);
      for (const hit of hits) verifyExplanation(hit.explain());
      expect(await space.usage()).toEqual([]);
    },
  );
});

describe('the language model as the reranker', () => {
  test('orders the direct hits where a recall asks for it, and its tokens are in the trace', async () => {
    const { model, requests } = scriptedModel(({ prompt }) => ({
      scores: [...prompt.matchAll(/"n":(\d+),"passage":"([^"]*)"/g)].map(([, n, passage = '']) => ({
        n: Number(n),
        score: passage.includes('river') ? 1 : 0.2,
      })),
    }));
    const { memory } = await live({ languageModel: model });
    await memory.rememberMany(statements);
    const plain = await memory.recall('dark roast coffee');
    expect(plain.hits[0]?.memory.id).toBe('roast');
    expect(requests).toEqual([]);
    const { hits, trace } = await memory.recall('dark roast coffee', { rerank: true });
    expect(hits[0]?.memory.id).toBe('shop');
    const row = trace.stages.find(({ name }) => name === 'rerank');
    expect(row?.promptTokens).toBeGreaterThan(100);
    expect(trace.totalTokens).toBe(row!.promptTokens + row!.completionTokens);
  });

  test('a failing one leaves the order, and the trace says why; another reranker comes first', async () => {
    const { model } = scriptedModel(() => {
      throw new Error('overloaded');
    });
    const { memory } = await live({ languageModel: model });
    await memory.rememberMany(statements);
    const { hits, trace } = await memory.recall('dark roast coffee', { rerank: true });
    expect(hits[0]?.memory.id).toBe('roast');
    expect(trace.arms).toContainEqual({
      name: 'rerank',
      status: 'failed',
      reason: expect.stringContaining('overloaded'),
    });
    const reranker = { model: 'mine', rerank: async () => ({ results: [{ index: 1, score: 1 }] }) };
    const other = await live({ languageModel: model, reranker });
    await other.memory.rememberMany(statements);
    const answer = await other.memory.recall('dark roast coffee', { rerank: true });
    expect(answer.hits[0]?.memory.id).toBe('shop');
  });
});
