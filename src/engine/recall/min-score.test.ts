import { describe, expect, test } from 'vitest';
import { BUILTIN_PROFILE_NAMES } from '../../scoring/profiles/index.ts';
import { live } from '../../testing/live-memory.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';

const statements = [
  'Ann drinks dark coffee every morning',
  'Coffee is grown in Brazil',
  'Bob drinks tea in the morning',
  'The capital of France is Paris',
  'Dana plays the cello on Sundays',
  'The printer is out of paper',
];

async function filled(options: Parameters<typeof live>[0] = {}) {
  const opened = await live(options);
  await opened.memory.rememberMany(statements.map((content, at) => ({ id: `m${at}`, content })));
  return opened;
}

describe('minScore', () => {
  test.each(BUILTIN_PROFILE_NAMES)('of %s leaves out exactly the hits that score less', async (strategy) => {
    const { memory } = await filled();
    const query = strategy === 'ambient' ? undefined : 'who drinks coffee in the morning?';
    const asked = { strategy, track: false } as const;
    const all = await memory.recall(query, asked);
    expect(all.hits.length).toBeGreaterThan(1);
    expect(all.trace.stages.map(({ name }) => name)).not.toContain('floor');
    for (const hit of all.hits) {
      // Inclusive: at its own score a hit stays.
      const minScore = hit.score.value;
      const { hits, trace } = await memory.recall(query, { ...asked, minScore });
      const expected = all.hits.filter(({ score }) => score.value >= minScore);
      expect(hits.map(({ memory }) => memory.id)).toEqual(expected.map(({ memory }) => memory.id));
      const floor = trace.stages.filter(({ name }) => name === 'floor');
      expect(floor.map(({ candidates, survivors }) => [candidates, survivors])).toEqual([
        [all.hits.length, expected.length],
      ]);
      for (const left of all.hits.filter((each) => !expected.includes(each))) {
        if (!left.isAssociative) expect(trace.upperBound).toBeGreaterThanOrEqual(left.score.value);
      }
      const made = await memory.context(query, {
        ...asked,
        minScore,
        minRelevance: 0,
        maxTokens: 5000,
      } as never);
      expect(made.items.map(({ id }) => id).sort()).toEqual(expected.map(({ memory }) => memory.id).sort());
      for (const omitted of made.omitted) expect(omitted.reason).toBe('below-minimum-score');
    }
    expect((await memory.recall(query, { ...asked, minScore: 0 })).hits).toHaveLength(all.hits.length);
  });

  test('holds for associates, and for what a reranker puts first', async () => {
    const { model } = scriptedModel(() => ({
      scores: [
        { n: 1, score: 0.1 },
        { n: 2, score: 0.9 },
      ],
    }));
    const { memory } = await filled({ languageModel: model });
    await memory.link('m0', 'm5', { weight: 0.4 });
    const linked = { strategy: 'bm25', association: 'propagated' } as const;
    const all = await memory.recall('dark coffee', linked);
    const associates = all.hits.filter(({ isAssociative }) => isAssociative);
    expect(associates.length).toBeGreaterThan(0);
    const minScore = Math.max(...associates.map(({ score }) => score.value)) + 1e-6;
    const { hits } = await memory.recall('dark coffee', { ...linked, minScore });
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.every(({ score }) => score.value >= minScore)).toBe(true);
    const reranked = await memory.recall('dark coffee', {
      limit: 20,
      minScore,
      rerank: true,
      association: 'none',
    });
    expect(reranked.hits.length).toBeGreaterThan(0);
    expect(reranked.hits.every(({ score }) => score.value >= minScore)).toBe(true);
    const row = reranked.trace.stages.find(({ name }) => name === 'rerank');
    expect(row?.candidates).toBe(reranked.hits.length);
  });

  test('is within 0 and 1', async () => {
    const { memory } = await filled();
    for (const minScore of [2, -0.1, Number.NaN, '0.5' as never]) {
      const wrong = { code: 'invalid_argument', message: expect.stringContaining('minScore') };
      await expect(memory.recall('coffee', { minScore })).rejects.toMatchObject(wrong);
      await expect(memory.context('coffee', { minScore, maxTokens: 500 })).rejects.toMatchObject(wrong);
    }
    expect((await memory.recall('coffee', { minScore: 1 })).hits).toEqual([]);
  });

  test('is what whyNot names', async () => {
    const { memory } = await filled();
    const [hit] = (await memory.recall('coffee', { limit: 1, strategy: 'lexical' })).hits;
    const minScore = hit!.score.value + 0.01;
    expect(
      await memory.whyNot(hit!.memory.id, { query: 'coffee', strategy: 'lexical', minScore }),
    ).toMatchObject({
      outcome: 'outranked',
      stage: 'floor',
      needed: minScore,
      message: expect.stringMatching(/is below minScore/),
    });
  });

  test('is what whyNot asks for of a memory without a score, and of one that is not relevant enough', async () => {
    const { memory } = await filled();
    const byWords = { query: 'coffee', strategy: 'bm25', minScore: 0.5 } as const;
    const silent = await memory.whyNot('m4', byWords);
    expect(silent).toMatchObject({ outcome: 'no-score', score: 0, needed: 0.5 });
    expect(silent.changes.map(({ signal }) => signal)).toEqual(['lexical']);
    expect(silent.changes[0]!.to).toBeGreaterThanOrEqual(0.5);
    const asked = { query: 'coffee', minRelevance: 0.2 } as const;
    const refused = await memory.whyNot('m4', { ...asked, minScore: 0.6 });
    expect(refused).toMatchObject({ outcome: 'requirement', stage: 'floor', needed: 0.6 });
    // The more a score has to reach, the fewer changes of one signal suffice.
    const { changes } = await memory.whyNot('m4', asked);
    expect(refused.changes.length).toBeLessThan(changes.length);
  });

  test('keeps what has nothing to do with the question out of a context', async () => {
    const { memory } = await filled();
    const { items, omitted } = await memory.context('what is the capital of France?', {
      maxTokens: 2000,
      minRelevance: 0,
      minScore: 0.3,
    });
    expect(items.map(({ id }) => id)).toEqual(['m3']);
    expect(omitted.length).toBeGreaterThan(0);
    expect(new Set(omitted.map(({ reason }) => reason))).toEqual(new Set(['below-minimum-score']));
  });
});
