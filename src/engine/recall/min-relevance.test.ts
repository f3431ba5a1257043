import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../open.ts';
import { builtinEmbedder } from '../../providers/builtin/embedder.ts';
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
  'Ann met Bob at the market in May',
  'Nobody knows where the keys are',
];
const question = 'who drinks coffee in the morning?';

async function filled(options: Parameters<typeof live>[0] = {}) {
  const opened = await live(options);
  await opened.memory.rememberMany(
    statements.map((content, at) => ({
      id: `m${at}`,
      content,
      ...(at < 4 ? { sessionId: 's1', author: at % 2 === 0 ? 'Ann' : 'Bob' } : {}),
    })),
  );
  return opened;
}

const idsOf = ({ hits }: { readonly hits: readonly { readonly memory: { readonly id: string } }[] }) =>
  hits.map(({ memory }) => memory.id);

describe('minRelevance', () => {
  test.each([
    ['the reference store', undefined],
    ['SQLite in memory', () => openStore({ path: ':memory:' })],
  ])('leaves out exactly what matches less, then cuts: %s, also looking back', async (_, makeStore) => {
    const { memory, clock, pass } = await filled(makeStore ? { store: await makeStore() } : {});
    const known = new Date(clock.now());
    pass(1);
    await memory.remember('Carl drinks coffee at night', { id: 'later' });
    const questions = [question, 'What did Ann say about tea?', 'cello', 'quantum chromodynamics'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...questions),
        fc.integer({ min: 1, max: 10 }),
        fc.oneof(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1)),
        fc.boolean(),
        async (query, limit, drawn, back) => {
          const asked = { association: 'none', track: false, ...(back ? { asOf: { known } } : {}) } as const;
          const all = (await memory.recall(query, { ...asked, limit: 100 })).hits;
          // A whole number chooses a memory, whose own match is the floor.
          const minRelevance =
            Number.isInteger(drawn) && drawn > 1 ? (all[drawn % all.length]?.features['match'] ?? 0) : drawn;
          const { hits, trace } = await memory.recall(query, { ...asked, limit, minRelevance });
          const kept = all.filter(({ features }) => (features['match'] as number) >= minRelevance);
          expect(idsOf({ hits })).toEqual(idsOf({ hits: kept.slice(0, limit) }));
          expect(hits.map(({ score }) => score.value)).toEqual(
            kept.slice(0, limit).map(({ score }) => score.value),
          );
          const next = kept[limit]?.score.value ?? 0;
          expect(trace.upperBound).toBeGreaterThanOrEqual(next);
          expect(trace.profileHash).toBe(hits[0]?.score.profileHash ?? trace.profileHash);
          expect(trace.minRelevance).toBe(minRelevance === 0 ? undefined : minRelevance);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('keeps the hash of the formula, and says in the trace how many it left out', async () => {
    const { memory } = await filled();
    const plain = await memory.recall(question, { association: 'none' });
    expect(plain.trace).not.toHaveProperty('minRelevance');
    expect(plain.trace.stages.map(({ name }) => name)).not.toContain('floor');
    const floored = await memory.recall(question, { association: 'none', minRelevance: 0.3 });
    expect(floored.trace.profileHash).toBe(plain.trace.profileHash);
    expect(floored.hits.length).toBeGreaterThan(0);
    const row = floored.trace.stages.find(({ name }) => name === 'floor');
    expect([row?.candidates, row?.survivors]).toEqual([statements.length, floored.hits.length]);
  });

  test.each(BUILTIN_PROFILE_NAMES.filter((name) => name !== 'hybrid'))(
    'of %s is an error that names minScore; 0 and auto are none',
    async (strategy) => {
      const { memory } = await filled();
      const query = strategy === 'ambient' ? undefined : 'coffee';
      await expect(memory.recall(query, { strategy, minRelevance: 0.2 })).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { field: 'minRelevance' },
        message: expect.stringContaining('use minScore'),
      });
      const plain = await memory.recall(query, { strategy, track: false });
      for (const minRelevance of [0, 'auto'] as const) {
        const same = await memory.recall(query, { strategy, track: false, minRelevance });
        expect(idsOf(same)).toEqual(idsOf(plain));
      }
    },
  );

  test('is there for a profile that extends hybrid, and is within 0 and 1', async () => {
    const { memory } = await filled({
      profiles: [
        { name: 'mine', description: 'More words.', extends: 'hybrid', set: { 'weights.similarity': 1 } },
        {
          name: 'alike',
          description: 'Named alike.',
          parts: { match: 1 },
          score: { op: 'ref', name: 'match' },
        },
      ],
    });
    const { hits } = await memory.recall(question, { strategy: 'mine', minRelevance: 0.3 });
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.every(({ features }) => (features['match'] as number) >= 0.3)).toBe(true);
    // Any formula may name a part so; only that of hybrid is known to be a match.
    await expect(memory.recall({ strategy: 'alike', minRelevance: 0.3 })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    for (const minRelevance of [2, -0.1, Number.NaN, '0.5' as never]) {
      const wrong = { code: 'invalid_argument', message: expect.stringContaining('minRelevance') };
      await expect(memory.recall('coffee', { minRelevance })).rejects.toMatchObject(wrong);
      await expect(memory.context('coffee', { minRelevance, maxTokens: 500 })).rejects.toMatchObject(wrong);
    }
  });

  test('looks at the match, not at what a deep recall makes of the score', async () => {
    const { memory } = await filled();
    await memory.remember('Ann drinks black coffee every morning', { id: 'new', supersedes: ['m0'] });
    const asked = { deep: true, association: 'none' } as const;
    const old = (await memory.recall(question, asked)).hits.find(({ memory }) => memory.id === 'm0');
    const match = old?.features['match'] as number;
    expect(old?.score.value).toBeLessThan(0.6 * match);
    expect(idsOf(await memory.recall(question, { ...asked, minRelevance: match }))).toContain('m0');
  });
});

describe('the measured floor', () => {
  const floor = builtinEmbedder().calibration.minRelevance as number;

  test('is that of the embedder, where there is one', async () => {
    expect(floor).toBe(0.17);
    const { memory } = await filled();
    expect((await memory.recall(question, { minRelevance: 'auto' })).trace.minRelevance).toBe(floor);
    const { memory: unmeasured } = await filled({ embedder: 'none' });
    expect((await unmeasured.recall(question, { minRelevance: 'auto' })).trace).not.toHaveProperty(
      'minRelevance',
    );
    expect((await unmeasured.recall('coffee', { minRelevance: 1 })).trace.minRelevance).toBe(1);
  });

  test('is the default of a context with a query, and of nothing else', async () => {
    const { memory } = await filled();
    const budget = { maxTokens: 2000 } as const;
    expect((await memory.recall(question)).trace).not.toHaveProperty('minRelevance');
    const made = await memory.context(question, budget);
    expect(made.trace.minRelevance).toBe(floor);
    const hits = (await memory.recall(question, { limit: 100, minRelevance: floor })).hits;
    expect(made.items.map(({ id }) => id).sort()).toEqual(idsOf({ hits }).sort());
    const all = await memory.context(question, { ...budget, minRelevance: 0 });
    expect(all.trace).not.toHaveProperty('minRelevance');
    expect(all.items.length).toBeGreaterThan(made.items.length);
    for (const other of [
      await memory.context(budget),
      await memory.context('coffee', { ...budget, strategy: 'bm25' }),
    ]) {
      expect(other.trace).not.toHaveProperty('minRelevance');
    }
  });
});

describe('what comes in through links', () => {
  const linked = { association: 'propagated', strategy: 'hybrid' } as const;

  test('inherits relevance from what led to it, and is included at the floor itself', async () => {
    const { memory } = await filled();
    await memory.link('m0', 'm5', { weight: 0.5 });
    const all = (await memory.recall(question, { ...linked, limit: 100 })).hits;
    const matchOf = (id: string) => all.find(({ memory }) => memory.id === id)?.features['match'] as number;
    const inherited = 1.5 * 0.5 * matchOf('m0');
    expect(inherited).toBeGreaterThan(matchOf('m5') + 0.1);
    const asked = { ...linked, query: question, minRelevance: inherited };
    const { query, ...options } = asked;
    expect(idsOf(await memory.recall(query, options))).toContain('m5');
    const above = { ...options, minRelevance: inherited + 1e-9 };
    expect(idsOf(await memory.recall(query, above))).toContain('m0');
    expect(idsOf(await memory.recall(query, above))).not.toContain('m5');
    const why = await memory.whyNot('m5', { query, ...above });
    expect(why).toMatchObject({ outcome: 'requirement', stage: 'floor', relevance: { match: inherited } });
  });

  test('a full list admits an associate that the search left out for its match, by its own score', async () => {
    const { memory } = await live({
      profiles: [
        {
          name: 'weighty',
          description: 'Importance alone.',
          extends: 'hybrid',
          score: { op: 'signal', name: 'importance' },
        },
      ],
    });
    await memory.rememberMany([
      { id: 'first', content: 'Ann drinks coffee', importance: 0.5 },
      { id: 'second', content: 'Bob drinks coffee', importance: 0.49 },
      { id: 'linked', content: 'The printer is out of paper', importance: 1 },
    ]);
    await memory.link('first', 'linked', { weight: 0.6 });
    // What the link lends, 0.9 of 0.5, is less than the last direct hit has.
    const options = { strategy: 'weighty', limit: 2, minRelevance: 0.3 } as const;
    const { hits } = await memory.recall('drinks coffee', options);
    expect(idsOf({ hits })).toEqual(['linked', 'first']);
    expect(hits[0]).toMatchObject({ isAssociative: true, features: { combined: 1 } });
    expect(hits[0]?.features['match']).toBeLessThan(0.3);
  });

  test('a possible update is as relevant as it may rise', async () => {
    const { memory } = await live();
    await memory.remember('The budget of the garden project is 5,000 euros', { id: 'old' });
    await memory.remember('The budget of the garden project is 7,000 euros', { id: 'new' });
    const { hits } = await memory.recall('garden project budget', { minRelevance: 0.2 });
    expect(idsOf({ hits }).sort()).toEqual(['new', 'old']);
    expect(idsOf(await memory.recall('garden project budget', { minRelevance: 1 }))).toEqual([]);
  });

  test('a reranker sees only relevant hits, which are not checked again', async () => {
    const { model } = scriptedModel(() => ({ scores: [{ n: 1, score: 0 }] }));
    const { memory } = await filled({ languageModel: model });
    const { hits, trace } = await memory.recall(question, { minRelevance: 0.3, rerank: true });
    const plain = await memory.recall(question, { minRelevance: 0.3 });
    expect(idsOf({ hits }).sort()).toEqual(idsOf(plain).sort());
    const rows = new Map(trace.stages.map((row) => [row.name, row]));
    expect(rows.get('rerank')?.candidates).toBe(rows.get('floor')?.survivors);
  });
});

describe('whyNot', () => {
  test('names the floor, the match, and by how much it missed', async () => {
    const { memory } = await filled();
    const asked = { query: question, association: 'none' } as const;
    const { features } = await memory.explain('m4', asked);
    const match = features['match'] as number;
    const why = await memory.whyNot('m4', { ...asked, minRelevance: 0.25 });
    expect(match).toBeLessThan(0.25);
    expect(why).toMatchObject({
      outcome: 'requirement',
      stage: 'floor',
      relevance: { match, minRelevance: 0.25, missedBy: 0.25 - match },
    });
    expect(why.message).toBe(
      `its match ${match.toFixed(4)} is ${(0.25 - match).toFixed(4)} below the floor of relevance, minRelevance 0.25`,
    );
    // Any of the changes would have brought it over the floor.
    expect(why.changes.map(({ signal }) => signal)).toContain('similarity');
    expect(why.changes.map(({ signal }) => signal)).not.toContain('importance');
    // At its own match it is in.
    expect(await memory.whyNot('m4', { ...asked, minRelevance: match })).toMatchObject({
      outcome: 'returned',
    });
  });
});

describe('an empty answer', () => {
  test('says whether nothing relevant is known, or there is nothing at all', async () => {
    const { memory } = await filled();
    const strange = 'quantum chromodynamics of gluons';
    const irrelevant = {
      reason: 'irrelevant',
      message: `nothing relevant is known: ${statements.length} memories were looked at, and none matches the query by 0.9 or more`,
    };
    const { hits, nothing } = await memory.recall(strange, { minRelevance: 0.9 });
    expect([hits, nothing]).toEqual([[], irrelevant]);
    const made = await memory.context(strange, { minRelevance: 0.9, maxTokens: 500 });
    expect([made.text, made.nothing]).toEqual(['', irrelevant]);
    expect((await memory.recall(question)).nothing).toBeUndefined();
    expect((await memory.recall(question, { types: ['event'] })).nothing?.reason).toBe('no-memories');
    expect((await memory.recall('zzz', { strategy: 'bm25' })).nothing).toEqual({
      reason: 'no-match',
      message: 'nothing found',
    });
    // What the floor kept fell for its score: the floor is not to blame.
    const low = await memory.recall(question, { minRelevance: 0.01, minScore: 1 });
    const [best] = (await memory.recall(question, { minRelevance: 0.01 })).hits;
    expect(low.nothing).toEqual({
      reason: 'no-match',
      message: `nothing found: the best score is ${best?.score.value.toFixed(4)}, below minScore 1`,
    });
    // Nor is it where it has left out others.
    const match = best?.features['match'] as number;
    const both = await memory.recall(question, { minRelevance: match, minScore: 1 });
    expect(both.nothing).toEqual(low.nothing);
    const { memory: fresh } = await live();
    for (const minRelevance of [0, 0.2]) {
      expect((await fresh.recall(question, { minRelevance })).nothing).toEqual({
        reason: 'no-memories',
        message: 'nothing found: there are no memories to search here',
      });
    }
  });

  test('of one memory', async () => {
    const { memory } = await live();
    await memory.remember('Dana plays the cello');
    const { nothing } = await memory.recall('coffee', { minRelevance: 1 });
    expect(nothing?.message).toContain('1 memory was looked at');
  });
});
