import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retention } from '../scoring/index.ts';
import { day, live } from '../testing/live-memory.ts';
import { verifyExplanation } from '../testing/verify-explanation.ts';

const coffee = [
  { id: 'roast', content: 'Prefers dark roast coffee' },
  { id: 'grinder', content: 'Owns a coffee grinder' },
  { id: 'tea', content: 'Drinks green tea in the evening' },
] as const;

describe('use reinforces what was returned, and nothing else', () => {
  test('direct hits gain stability by their spacing, are counted, and remember the session', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(coffee);
    pass(7);
    const { hits, trace } = await memory.recall('coffee', {
      strategy: 'retention',
      limit: 2,
      sessionId: 's1',
      association: 'none',
    });
    expect(hits.map((hit) => hit.memory.id).sort()).toEqual(['grinder', 'roast']);
    expect(trace.stages.map(({ name }) => name)).toContain('effects');
    // Scores in an answer are those before its effects.
    for (const hit of hits) expect(hit.memory.accessCount).toBe(0);
    const after = await memory.get('roast');
    expect(after).toMatchObject({
      accessCount: 1,
      sessions: ['s1'],
      lastAccessedAt: '2026-01-08T00:00:00.000Z',
    });
    expect(after?.stability).toBeCloseTo(0.25 + 0.1, 12);
    expect(await memory.get('tea')).toMatchObject({ accessCount: 0, stability: 0.25 });
    // A day later the same recall teaches little; three weeks later twice as much as a week, and no more.
    pass(1);
    await memory.recall('coffee', { strategy: 'retention', limit: 2, association: 'none' });
    expect((await memory.get('roast'))?.stability).toBeCloseTo(0.35 + 0.1 / 7, 12);
    pass(21);
    await memory.recall('coffee', { strategy: 'retention', limit: 2, association: 'none' });
    expect((await memory.get('roast'))?.stability).toBeCloseTo(0.35 + 0.1 / 7 + 0.2, 12);
  });

  test('pairs of direct hits are linked, from what is left of their link', async () => {
    const { memory, pass } = await live();
    const together = async () => (await memory.links('roast')).filter(({ kind }) => kind === 'co-retrieval');
    await memory.rememberMany(coffee);
    for (let round = 0; round < 2; round++)
      await memory.recall('coffee', { strategy: 'retention', limit: 2 });
    const [first] = await together();
    expect(first).toMatchObject({ id: 'grinder', kind: 'co-retrieval' });
    expect(first?.weight).toBeCloseTo(0.2, 12);
    pass(90);
    const [faded] = await together();
    expect(faded?.weight).toBeCloseTo(0.2 / Math.E, 12);
    // Reading does not write the decay back, so that it cannot compound.
    expect((await together())[0]).toEqual(faded);
    expect(faded?.storedWeight).toBeCloseTo(0.2, 12);
    await memory.recall('coffee', { strategy: 'retention', limit: 2 });
    expect((await together())[0]?.weight).toBeCloseTo(0.2 / Math.E + 0.1, 12);
  });

  test('ten uses in three sessions make a stable memory core, and a procedure that is core still never fades', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany([
      { id: 'fact', content: 'The deploy key lives in the vault', importance: 1 },
      {
        id: 'steps',
        content: 'To deploy, take the key from the vault and run the script',
        type: 'procedure',
        importance: 1,
      },
    ]);
    for (let use = 0; use < 10; use++) {
      expect((await memory.get('fact'))?.core).toBe(false);
      pass(14);
      await memory.recall('deploy key vault', { strategy: 'retention', sessionId: `s${use % 3}` });
    }
    expect(await memory.get('fact')).toMatchObject({ core: true, accessCount: 10, stability: 1 });
    const steps = await memory.get('steps');
    expect(steps?.core).toBe(true);
    expect(retention({ ...signals(steps!) }, { now: '2036-01-01' })).toBe(1);
    expect(retention({ ...signals((await memory.get('fact'))!) }, { now: '2036-01-01' })).toBe(0.6);
  });

  test('five-factor counts; other strategies, explain, whyNot and effects none leave nothing behind', async () => {
    const { memory, space, pass } = await live();
    await memory.rememberMany(coffee);
    pass(3);
    const before = await memory.list();
    for (const strategy of ['hybrid', 'balanced', 'lexical', 'scoped', 'bm25', 'vector'] as const) {
      await memory.recall('coffee', { strategy });
    }
    await memory.recall('coffee', { strategy: 'retention', effects: 'none' });
    await memory.explain('coffee', 'roast', { strategy: 'retention' });
    await memory.whyNot('coffee', 'tea', { strategy: 'retention', limit: 1 });
    expect(await memory.list()).toEqual(before);
    expect(await space.usage()).toEqual([]);
    await memory.recall('coffee', { strategy: 'five-factor', limit: 1 });
    const counted = (await memory.list()).memories.filter(({ accessCount }) => accessCount === 1);
    expect(counted).toHaveLength(1);
    expect(counted[0]?.lastAccessedAt).toBeUndefined();
  });

  test('an update or its undo does not take back what was learned meanwhile', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(coffee);
    await memory.update('roast', { content: 'Prefers very dark roast coffee' });
    pass(7);
    await memory.recall('dark roast', { strategy: 'retention', limit: 1 });
    await memory.undo();
    expect(await memory.get('roast')).toMatchObject({ content: 'Prefers dark roast coffee', accessCount: 1 });
  });

  test('the state can be rebuilt from the usage log', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            days: fc.integer({ min: 0, max: 40 }),
            query: fc.constantFrom('coffee', 'tea evening', 'grinder'),
            session: fc.constantFrom('a', 'b', undefined),
            strategy: fc.constantFrom('retention' as const, 'five-factor' as const),
          }),
          { maxLength: 8 },
        ),
        async (uses) => {
          const { memory, space, pass } = await live();
          await memory.rememberMany(coffee);
          for (const { days, query, session, strategy } of uses) {
            pass(days);
            await memory.recall(query, { strategy, sessionId: session, limit: 2 });
          }
          const copy = await live();
          await copy.memory.rememberMany(coffee);
          const { decideUse } = await import('../recall/reinforce.ts');
          for (const { sequence: _, ...usage } of await space.usage()) {
            await copy.space.use(usage, (reader) => decideUse(reader, usage));
          }
          expect(await copy.memory.list()).toEqual(await memory.list());
          const ids = coffee.map(({ id }) => id);
          expect(await copy.space.links(ids)).toEqual(await space.links(ids));
        },
      ),
      { numRuns: 30 },
    );
  });
});

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

  test('lent: neighbours and their neighbours come in with a share of the score of the direct hit', async () => {
    const { memory } = await chain(0.6);
    const { hits, trace } = await memory.recall('coffee machine', {
      limit: 10,
      association: { lentShare: 1 },
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
    ]);
    expect(found).toEqual([]);
    const narrow = await memory.recall('coffee machine', { limit: 1, association: { lentShare: 1 } });
    expect(narrow.hits.map((hit) => hit.memory.id)).toEqual(['a']);
  });

  test('the second hop is found although the first was seen already', async () => {
    const { memory } = await chain(0.6, { embedder: 'none' });
    const { hits } = await memory.recall('coffee machine', { limit: 10, association: { lentShare: 1 } });
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
      [0.5, ['a', 'b']],
      [0.55, ['a', 'b', 'c']],
    ] as const) {
      const { memory } = await chain(weight, { embedder: 'none' });
      const { hits } = await memory.recall('coffee machine', {
        association: { lentShare: 1, minimum: 0.01 },
      });
      expect(hits.map((hit) => hit.memory.id)).toEqual(expected);
    }
  });

  test('own: an associate counts for what it says itself, and a weak one is dropped', async () => {
    const { memory } = await chain(0.6, { embedder: 'none' });
    const own = await memory.recall('coffee machine', { association: 'own' });
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
    const { hits, evidenceChains } = await memory.recall('solar', { association: { lentShare: 1 } });
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
    const options = { scope: 'project:a', association: { lentShare: 1 } } as const;
    const ids = async (more = {}) =>
      (await memory.recall('coffee machine', { ...options, ...more })).hits.map((hit) => hit.memory.id);
    expect(await ids()).toEqual(['hit', 'cold']);
    expect((await ids({ includeExpired: true })).sort()).toEqual(['cold', 'ended', 'hit']);
    // A cold memory that was found through a link is warm again once a reinforcing recall returned it.
    await memory.recall('coffee machine', {
      ...options,
      strategy: 'retention',
      association: { mode: 'lent', lentShare: 1, minimum: 0.01 },
    });
    expect(await memory.get('cold')).toMatchObject({ tier: 'hot', coldSince: undefined });
  });

  test('neighbours in a session lend to each other without anybody linking them', async () => {
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
    expect(hits.map((hit) => hit.memory.id)).toEqual(['t1', 't2']);
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

describe('maintenance', () => {
  test('what is at its floor for a week becomes cold, by days and not by runs', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    await memory.rememberMany([
      { id: 'event', content: 'Saw a heron by the river', type: 'event', importance: 0 },
      { id: 'steps', content: 'How to fold a crane', type: 'procedure', importance: 0 },
    ]);
    for (let run = 0; run < 20; run++) expect((await memory.maintain()).cooled).toEqual([]);
    // S .1, B 1, β 45: e^(−t/4.5) reaches .02 after 17.6 days.
    pass(24);
    expect((await memory.maintain()).cooled).toEqual([]);
    pass(1);
    expect(await memory.maintain({ dryRun: true })).toMatchObject({ dryRun: true, cooled: ['event'] });
    expect((await memory.get('event'))?.tier).toBe('hot');
    expect((await memory.maintain()).cooled).toEqual(['event']);
    expect(await memory.get('event')).toMatchObject({ tier: 'cold', coldSince: '2026-01-26T00:00:00.000Z' });
    expect((await memory.maintain()).cooled).toEqual([]);
    expect((await memory.recall('heron')).hits).toEqual([]);
    expect((await memory.recall('heron river', { deep: true })).hits[0]).toMatchObject({
      viaDeepRecall: true,
    });
    pass(179);
    expect((await memory.maintain()).archived).toEqual([]);
    pass(1);
    expect((await memory.maintain()).archived).toEqual(['event']);
    expect(await memory.get('event')).toMatchObject({
      tier: 'stub',
      content: '[archived] Saw a heron by the river',
    });
    expect((await memory.recall('heron', { deep: true })).hits.map((hit) => hit.memory.id)).not.toContain(
      'event',
    );
    expect((await memory.history('event')).at(-1)?.before?.content).toBe('Saw a heron by the river');
    await memory.undo();
    expect(await memory.get('event')).toMatchObject({ tier: 'cold', content: 'Saw a heron by the river' });
  });

  test('what has expired is forgotten, core memories excepted', async () => {
    const { memory, pass } = await live();
    await memory.remember('The wifi password is swordfish', { id: 'wifi', expiresAt: '2026-01-10' });
    pass(8);
    expect((await memory.maintain()).expired).toEqual([]);
    pass(2);
    expect((await memory.maintain()).expired).toEqual(['wifi']);
    expect(await memory.get('wifi')).toBeUndefined();
    expect((await memory.history('wifi')).every(({ redacted }) => redacted)).toBe(true);
  });

  test('joins five faded memories of a kind when asked to, and takes it back', async () => {
    const { memory, pass } = await live();
    const visits = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
      id: `visit${at}`,
      content: `Went for a long run along the river on ${weekday}`,
      type: 'event',
      importance: 0.2 + at / 100,
    }));
    await memory.rememberMany([
      ...visits,
      { id: 'other', content: 'The tax return is due in May', type: 'event' },
    ]);
    pass(20);
    expect((await memory.maintain()).consolidated).toEqual([]);
    expect((await memory.maintain({ consolidate: true, dryRun: true })).consolidated).toHaveLength(1);
    const { consolidated } = await memory.maintain({ consolidate: true });
    expect(consolidated).toHaveLength(1);
    const joined = await memory.get(consolidated[0]!.id!);
    expect(joined).toMatchObject({
      type: 'event',
      source: 'consolidated',
      importance: expect.closeTo(0.24, 12),
      tier: 'hot',
    });
    for (const { id, content } of visits) {
      expect(joined?.content).toContain(content);
      expect((await memory.get(id))?.tier).toBe('cold');
      expect(await memory.links(id)).toContainEqual(
        expect.objectContaining({ id: joined?.id, kind: 'consolidation', weight: 0.8 }),
      );
    }
    expect((await memory.maintain({ consolidate: true })).consolidated).toEqual([]);
    // Deep recall finds the originals although they are cold.
    const deep = await memory.recall('run on Wednesday', { deep: true, strategy: 'lexical' });
    expect(deep.hits.map((hit) => hit.memory.id)).toContain('visit2');
    expect(await memory.get('visit2')).toMatchObject({
      coldSince: '2026-01-21T00:00:00.000Z',
      consolidatedAt: '2026-01-21T00:00:00.000Z',
    });
    await memory.undo();
    expect(await memory.get(joined!.id)).toBeUndefined();
    expect(await memory.get('visit2')).toMatchObject({
      tier: 'hot',
      coldSince: undefined,
      consolidatedAt: undefined,
    });
    expect((await memory.links('visit2')).filter(({ kind }) => kind === 'consolidation')).toEqual([]);
  });
});

function signals(memory: {
  type: string;
  core: boolean;
  stability: number;
  importance: number;
  createdAt: string;
  lastAccessedAt: string | undefined;
}) {
  const { type, core, stability, importance, createdAt, lastAccessedAt } = memory;
  return { type, core, stability, importance, createdAt, lastAccessedAt };
}
