import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day, live } from '../../testing/live-memory.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

const coffee = [
  { id: 'roast', content: 'Prefers dark roast coffee' },
  { id: 'grinder', content: 'Owns a coffee grinder' },
  { id: 'tea', content: 'Drinks green tea in the evening' },
] as const;

describe('associations', () => {
  /** a – b – c – d in a chain of stated links, only a answers the query; e is not linked. */
  async function chain(weight: number, options = {}) {
    const lived = await live(options);
    await lived.memory.rememberMany([
      { id: 'a', content: 'The coffee machine is broken' },
      { id: 'b', content: 'Warranty papers are in the blue folder' },
      { id: 'c', content: 'The blue folder was moved to the attic' },
      { id: 'd', content: 'Attic light needs a new bulb' },
      { id: 'e', content: 'Sheep graze on the northern hill' },
    ]);
    for (const [x, y] of [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'd'],
    ] as const)
      await lived.memory.link(x, y, { weight });
    return lived;
  }

  test('propagated: neighbours and their neighbours come in with a share of the score of the direct hit', async () => {
    const { memory } = await chain(0.6);
    const { hits, trace } = await memory.recall('coffee machine', {
      limit: 10,
      association: { propagation: 1 },
    });
    const found = hits.filter((hit) => hit.isAssociative).map((hit) => [hit.memory.id, hit.path]);
    const all = hits.map((hit) => hit.memory.id);
    expect(all[0]).toBe('a');
    // With the built-in embedder most memories are direct hits with a low score of their own; none is there twice.
    expect(new Set(all).size).toBe(all.length);
    expect(trace.stages.map(({ name }) => name)).toEqual([
      'analyze',
      'eligible',
      'validity_filter',
      'bm25_search',
      'vector_search',
      'score',
      'expand',
      'bridge',
      'merge',
      'hydrate',
      'other',
    ]);
    expect(found).toEqual([]);
    const narrow = await memory.recall('coffee machine', { limit: 1, association: { propagation: 1 } });
    expect(narrow.hits.map((hit) => hit.memory.id)).toEqual(['a']);
  });

  test('the second hop is found although the first was seen already', async () => {
    const { memory } = await chain(0.6, { embedder: 'none' });
    const { hits } = await memory.recall('coffee machine', { limit: 10, association: { propagation: 1 } });
    expect(hits.map((hit) => [hit.memory.id, hit.isAssociative, hit.path])).toEqual([
      ['a', false, undefined],
      ['b', true, ['a', 'b']],
      ['c', true, ['a', 'b', 'c']],
    ]);
    const [a, b, c] = hits;
    expect(b!.score.value).toBeCloseTo(0.6 * a!.score.value, 12);
    expect(c!.score.value).toBeCloseTo(0.36 * a!.score.value, 12);
    for (const hit of hits) {
      verifyExplanation(hit.explain());
      expect(hit.explain().value).toBe(hit.score.value);
      expect(hit.features['combined']).toBe(hit.score.value);
    }
  });

  test('links below the threshold, and paths that multiply to less, lead nowhere', async () => {
    for (const [weight, expected] of [
      [0.29, ['a']],
      [0.3, ['a', 'b']],
      [0.5, ['a', 'b']],
      [0.55, ['a', 'b', 'c']],
    ] as const) {
      const { memory } = await chain(weight, { embedder: 'none' });
      const { hits } = await memory.recall('coffee machine', {
        association: { propagation: 1, minimum: 0.01 },
      });
      expect(hits.map((hit) => hit.memory.id)).toEqual(expected);
    }
  });

  test('own: an associate counts for what it says itself, and a weak one is dropped', async () => {
    const { memory } = await chain(0.6, { embedder: 'none' });
    const own = await memory.recall('coffee machine', { association: 'direct' });
    expect(own.hits.map((hit) => hit.memory.id)).toEqual(['a']);
  });

  test('bridges between the first direct hits are shown, and what lies inside is a candidate', async () => {
    const { memory } = await live({ embedder: 'none' });
    await memory.rememberMany([
      { id: 'x', content: 'Anna leads the solar project' },
      { id: 'y', content: 'The solar budget was cut' },
      { id: 'm', content: 'Anna met the treasurer on Monday' },
    ]);
    await memory.link('x', 'm', { weight: 0.9 });
    await memory.link('m', 'y', { weight: 0.9 });
    const { hits, evidenceChains } = await memory.recall('solar', { association: { propagation: 1 } });
    expect(evidenceChains).toHaveLength(1);
    expect(evidenceChains[0]?.ids.length).toBe(3);
    expect(evidenceChains[0]?.ids[1]).toBe('m');
    expect(evidenceChains[0]?.weight).toBeCloseTo(0.81, 12);
    expect(hits.map((hit) => hit.memory.id)).toContain('m');
  });

  test('associates meet the conditions of the recall: scope, type, validity; only cold is no obstacle', async () => {
    const { memory, clock, space } = await live({ embedder: 'none' });
    await memory.rememberMany([
      { id: 'hit', content: 'The coffee machine is broken', scope: 'project:a' },
      {
        id: 'ended',
        content: 'Repair is booked',
        type: 'plan',
        validUntil: '2026-01-02',
        scope: 'project:a',
      },
      { id: 'sibling', content: 'Budget of the other team', scope: 'project:b' },
      { id: 'cold', content: 'Bought in 2019', scope: 'project:a' },
    ]);
    for (const id of ['ended', 'sibling', 'cold']) await memory.link('hit', id, { weight: 1 });
    const [record] = await space.get(['cold']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'replace', memory: { ...record!, tier: 'cold', coldSince: clock.now() } }],
      result: undefined,
    }));
    clock.advance(5 * day);
    const options = { scope: 'project:a', association: { propagation: 1 } } as const;
    const ids = async (more = {}) =>
      (await memory.recall('coffee machine', { ...options, ...more })).hits.map((hit) => hit.memory.id);
    expect(await ids()).toEqual(['hit', 'cold']);
    expect((await ids({ includeExpired: true })).sort()).toEqual(['cold', 'ended', 'hit']);
    // A cold memory that was found through a link is warm again once a reinforcing recall returned it.
    await memory.recall('coffee machine', {
      ...options,
      strategy: 'retention',
      association: { mode: 'propagated', propagation: 1, minimum: 0.01 },
    });
    expect(await memory.get('cold')).toMatchObject({ tier: 'hot', coldSince: undefined });
  });

  test('the bound also covers a direct hit that an associate, or a reranker, has pushed out', async () => {
    const { memory } = await live({
      embedder: 'none',
      reranker: { model: 'fake', rerank: async () => ({ results: [{ index: 1, score: 1 }] }) },
    });
    await memory.rememberMany([
      { id: 'best', content: 'coffee coffee machine' },
      {
        id: 'weak',
        content: 'a long note on the garden, the fence, the gate and some coffee among much else',
      },
      { id: 'papers', content: 'Warranty is in the blue folder' },
    ]);
    await memory.link('best', 'papers', { weight: 0.6 });
    const plain = await memory.recall('coffee machine', { limit: 2, association: 'none' });
    expect(plain.hits.map((hit) => hit.memory.id)).toEqual(['best', 'weak']);
    expect(plain.trace.upperBound).toBe(0);
    const propagated = await memory.recall('coffee machine', { limit: 2 });
    expect(propagated.hits.map((hit) => hit.memory.id)).toEqual(['best', 'papers']);
    expect(propagated.trace.upperBound).toBe(plain.hits[1]?.score.value);
    const reranked = await memory.recall('coffee machine', { limit: 1, rerank: true, association: 'none' });
    expect(reranked.hits.map((hit) => hit.memory.id)).toEqual(['weak']);
    expect(reranked.trace.upperBound).toBe(plain.hits[0]?.score.value);
  });

  test('leaving out what cannot enter changes no answer', async () => {
    const words = ['amber', 'birch', 'cedar', 'dune'];
    const text = fc
      .array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 })
      .map((list) => list.join(' '));
    const pair = fc
      .tuple(fc.nat(19), fc.nat(19), fc.constantFrom(0.3, 0.5, 0.7, 1))
      .filter(([a, b]) => a !== b);
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 20, maxLength: 20 }),
        fc.array(pair, { maxLength: 30 }),
        fc.constantFrom('direct' as const, 'propagated' as const),
        async (texts, pairs, mode) => {
          // A cold memory anywhere in the space turns the short cut off; the filter keeps it out of the answer.
          const answers = ['hot', 'cold'].map(async (tier) => {
            const { memory, space, clock } = await live({ embedder: 'none' });
            await memory.rememberMany(
              texts.map((content, at) => ({ id: `m${at}`, content: `${content} ${'!'.repeat(at)}` })),
            );
            await memory.remember('elsewhere', { id: 'other', type: 'other' });
            for (const [a, b, weight] of pairs) await memory.link(`m${a}`, `m${b}`, { weight });
            const [other] = await space.get(['other']);
            await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
              changes: [{ kind: 'replace', memory: { ...other!, tier: tier as 'hot' } }],
              result: undefined,
            }));
            const options = { limit: 4, typesExclude: ['other'], association: mode };
            const { hits } = await memory.recall('amber birch', options);
            return hits.map((hit) => [hit.memory.id, hit.score.value]);
          });
          expect(await answers[0]).toEqual(await answers[1]);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('neighbours in a session share their words without anybody linking them', async () => {
    const { memory } = await live({ embedder: 'none' });
    await memory.rememberMany([
      {
        id: 't1',
        content: 'Did you ever see the northern lights?',
        sessionId: 's',
        createdAt: '2025-12-01T10:00:00Z',
      },
      {
        id: 't2',
        content: 'Yes, in Tromsø, with my sister',
        sessionId: 's',
        createdAt: '2025-12-01T10:01:00Z',
      },
      { id: 't3', content: 'Nice', sessionId: 's', createdAt: '2025-12-01T10:02:00Z' },
    ]);
    const { hits } = await memory.recall('northern lights');
    // By their words, not by links; the one beyond the next shares less of them.
    expect(hits.map((hit) => [hit.memory.id, hit.isAssociative])).toEqual([
      ['t1', false],
      ['t2', false],
      ['t3', false],
    ]);
    expect(hits[1]!.score.value).toBeGreaterThan(hits[2]!.score.value * 1.2);
  });
});

test('memories that are remembered together and are alike are born linked; others are not', async () => {
  const { memory, pass } = await live();
  await memory.rememberMany([
    { id: 'a', content: 'The dog was walking along the beach in the evening' },
    { id: 'b', content: 'In the evening the dog walked along the beach' },
    { id: 'c', content: 'Interest rates were raised by the central bank' },
  ]);
  await memory.remember('The dog walks on the beach in the evening', { id: 'later' });
  const links = await memory.links('a');
  expect(links.map(({ id, kind }) => [id, kind])).toEqual([['b', 'birth']]);
  expect(links[0]?.weight).toBeGreaterThan(0.3);
  expect(links[0]?.weight).toBeLessThanOrEqual(0.5);
  pass(90);
  expect((await memory.links('a'))[0]?.weight).toBeCloseTo((links[0]?.weight ?? 0) / Math.E, 12);
  await memory.undo();
  await memory.undo();
  expect(await memory.get('a')).toBeUndefined();
});

describe('reranking', () => {
  const reranker = (results: readonly { index: number; score: number }[]) => ({
    model: 'fake',
    rerank: async () => ({ results, promptTokens: 20, completionTokens: 5 }),
  });

  test('keeps its order through the merge; ties, omitted and invalid indices follow the old one', async () => {
    const { memory } = await live({
      embedder: 'none',
      reranker: reranker([
        { index: 2, score: 0.9 },
        { index: 7, score: 1 },
        { index: 2, score: 0 },
        { index: 1, score: 0.1 },
      ]),
    });
    await memory.rememberMany([
      { id: 'p', content: 'coffee' },
      { id: 'q', content: 'coffee beans and more' },
      { id: 'r', content: 'coffee beans from a small roaster in the old town' },
    ]);
    const plain = await memory.recall('coffee');
    expect(plain.hits.map((hit) => hit.memory.id)).toEqual(['p', 'q', 'r']);
    const { hits, trace } = await memory.recall('coffee', { rerank: true, limit: 3 });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['r', 'q', 'p']);
    expect(trace.totalTokens).toBe(25);
    expect(trace.arms).toContainEqual({ name: 'rerank', status: 'ran' });
  });

  test('a failure leaves the order and is reported', async () => {
    const { memory } = await live({
      embedder: 'none',
      reranker: { model: 'fake', rerank: async () => Promise.reject(new Error('out of credit')) },
    });
    await memory.rememberMany(coffee);
    const { hits, trace } = await memory.recall('coffee', { rerank: true });
    expect(hits).toHaveLength(2);
    expect(trace.arms).toContainEqual({ name: 'rerank', status: 'failed', reason: 'out of credit' });
  });
});

describe('what the strategy requires', () => {
  const profiles = [
    {
      name: 'sure',
      description: 'confident statements',
      extends: 'hybrid',
      require: [{ signal: 'confidence', atLeast: 0.5 }],
    },
    {
      name: 'stated',
      description: 'what people said',
      extends: 'hybrid',
      require: [{ attribute: 'source', is: 'stated' }],
    },
  ] as const;

  test('is required of what links lead to, and whyNot says so', async () => {
    const { memory } = await live({ embedder: 'none', profiles });
    await memory.remember('The coffee machine is broken', { id: 'hit', confidence: 0.9 });
    await memory.remember('Warranty papers are in the blue folder', { id: 'unsure', confidence: 0.49 });
    await memory.remember('The blue folder is in the attic', { id: 'just', confidence: 0.5 });
    await memory.link('hit', 'unsure', { weight: 0.9 });
    await memory.link('unsure', 'just', { weight: 0.9 });
    for (const association of ['propagated', 'direct'] as const) {
      const options = { strategy: 'sure', track: false, association: { mode: association, minimum: 0 } };
      const { hits } = await memory.recall('coffee machine', options);
      expect(hits.map((hit) => hit.memory.id)).not.toContain('unsure');
      if (association === 'propagated') expect(hits.map((hit) => hit.memory.id)).toEqual(['hit', 'just']);
      expect(await memory.whyNot('unsure', { query: 'coffee machine', ...options })).toMatchObject({
        outcome: 'requirement',
        message: expect.stringMatching(/requires confidence ≥ 0\.5/),
      });
    }
    const lax = await memory.recall('coffee machine', { strategy: 'hybrid', track: false });
    expect(lax.hits.map((hit) => hit.memory.id)).toContain('unsure');
  });

  test('is required of a possible update', async () => {
    const { memory, clock } = await live({ embedder: 'none', profiles });
    await memory.remember('The deadline for the report is 3 days away', { id: 'old' });
    clock.advance(4 * day);
    await memory.remember('The deadline for the report is now 9 days away', {
      id: 'new',
      source: 'imported',
    });
    await memory.maintain();
    const ids = async (strategy: string) =>
      (await memory.recall('deadline of the report', { strategy, track: false })).hits.map(
        (hit) => hit.memory.id,
      );
    expect(await ids('hybrid')).toContain('new');
    expect(await ids('stated')).toEqual(['old']);
  });
});
