import { expect, it } from 'vitest';
import { formatExplanation, type Memory, type MemoryEngine, SalienceError } from '../../src/index.ts';
import { verifyExplanation } from '../../src/testing/verify-explanation.ts';

export interface Opened extends AsyncDisposable {
  readonly memory: MemoryEngine;
}

/** What a memory promises, wherever it is kept: each opening is an empty one, at 2026-01-01T00:00:00Z. */
export function memoryBehaviour(open: () => Promise<Opened>): void {
  const verb = (title: string, work: (memory: MemoryEngine) => Promise<void>) =>
    it(title, async () => {
      await using opened = await open();
      await work(opened.memory);
    });
  const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => (SalienceError.isInstance(error) ? error.code : error),
    );

  verb('remembers with every field, and gives it back', async (memory) => {
    const { id, outcome } = await memory.remember('Prefers dark roast', {
      id: 'a/ü?#%2F&=x',
      type: 'preference',
      title: 'Coffee',
      tags: ['coffee', 'x,y'],
      metadata: { cups: 2, nested: { list: [1, null, 'x'] } },
      importance: 0.7,
      confidence: 0.9,
      validUntil: new Date('2026-06-01T00:00:00Z'),
      sourceRef: 'chat:7',
    });
    expect(outcome).toBe('created');
    expect(await memory.get(id)).toMatchObject({
      id: 'a/ü?#%2F&=x',
      space: memory.space,
      scope: 'global',
      type: 'preference',
      title: 'Coffee',
      content: 'Prefers dark roast',
      tags: ['coffee', 'x,y'],
      metadata: { cups: 2, nested: { list: [1, null, 'x'] } },
      importance: 0.7,
      importanceSource: 'caller',
      validUntil: '2026-06-01T00:00:00.000Z',
      createdAt: '2026-01-01T00:00:00.000Z',
      revisionCount: 1,
      tier: 'hot',
      sourceRef: 'chat:7',
    });
    expect(await memory.get('never')).toBeUndefined();
  });

  verb('recalls with scores that do not mix, features and verified explanations', async (memory) => {
    await memory.rememberMany([
      { id: 'tea', content: 'Ann drinks green tea in the morning' },
      { id: 'coffee', content: 'Ben drinks coffee', importance: 0.9 },
      { id: 'bus', content: 'The bus leaves at nine' },
    ]);
    const { hits, trace, evidenceChains } = await memory.recall('who drinks tea in the morning?', {
      limit: 2,
    });
    expect(hits.map(({ memory: { id } }) => id)).toEqual(['tea', 'coffee']);
    expect(evidenceChains).toEqual([{ ids: ['tea', 'coffee'], weight: expect.any(Number) }]);
    const [best, next] = hits;
    expect(best!.score.value).toBeGreaterThan(next!.score.value);
    expect(() => best!.score < next!.score).toThrow(/compareScores/);
    expect(best!.score).toMatchObject({ strategy: 'hybrid', profileHash: trace.profileHash });
    expect(best!.features['combined']).toBe(best!.score.value);
    expect(best!.snippet).toContain('tea');
    const tree = best!.explain();
    verifyExplanation(tree);
    expect(tree.value).toBe(best!.score.value);
    expect(formatExplanation(tree, 'text')).toContain('contextLexical');
    const explained = await memory.explain('tea', { query: 'who drinks tea in the morning?' });
    expect(explained.explanation).toEqual(tree);
    expect(trace).toMatchObject({ strategy: 'hybrid', completeness: 'exact' });
    expect(await memory.whyNot('bus', { query: 'tea', strategy: 'bm25' })).toMatchObject({
      id: 'bus',
      outcome: 'no-score',
      stage: 'score',
    });
    expect((await memory.recall(undefined, { strategy: 'ambient' })).hits).toHaveLength(3);
    const hybrid = (await memory.strategies()).find(({ name }) => name === 'hybrid');
    expect(hybrid).toMatchObject({ takesQuery: true, limit: 10, takesFloor: true });
    const compared = await memory.compare('tea', { strategies: ['bm25', 'ambient'], limit: 2 });
    expect(compared.rankings).toMatchObject([
      { strategy: 'bm25', takesQuery: true, hits: [{ rank: 1, memory: await memory.get('tea') }] },
      { strategy: 'ambient', takesQuery: false, hits: [{ rank: 1 }, { rank: 2 }] },
    ]);
    expect(compared.agreement).toMatchObject([{ between: ['bm25', 'ambient'], shared: expect.any(Number) }]);
  });

  verb('builds contexts that fit, of scores that do not mix', async (memory) => {
    await memory.rememberMany([
      { id: 'tea', content: 'Ann drinks green tea in the morning' },
      { id: 'bus', content: 'The bus leaves at nine' },
      { id: 'rule', content: 'Never wake Ann before eight', type: 'rule' },
    ]);
    const built = await memory.context('who drinks tea?', { maxTokens: 200, mustInclude: ['bus'] });
    expect(built).not.toHaveProperty('missing');
    expect(built.items.map(({ id }) => id)).toEqual(expect.arrayContaining(['tea', 'bus']));
    expect(built.text).toContain('Ann drinks green tea in the morning');
    expect(built.messages).toBeUndefined();
    expect(built.tokens).toBeLessThanOrEqual(200);
    expect(built.trace.stages.map(({ name }) => name)).toContain('pack');
    const [hit] = (await memory.recall('who drinks tea?')).hits;
    const tea = built.items.find(({ id }) => id === 'tea');
    const { strategy, profileHash, value } = hit!.score;
    expect(tea!.score).toMatchObject({ strategy, profileHash, value });
    expect(tea!.memory).toEqual(await memory.get('tea'));
    expect(() => tea!.score < hit!.score).toThrow(/compareScores/);
    const tight = await memory.context('who drinks tea?', { maxTokens: 1, sections: ['facts'] });
    expect(tight).toMatchObject({ text: '', items: [] });
    expect(tight.omitted.find(({ id }) => id === 'tea')).toMatchObject({
      reason: 'does-not-fit',
      message: expect.stringContaining('tokens'),
      tokens: expect.any(Number),
    });
    const start = await memory.bootstrap({ format: 'messages' });
    expect(start.items[0]).toMatchObject({ id: 'rule', section: 'rules', score: { strategy: 'ambient' } });
    expect(start).toMatchObject({ maxTokens: 30_000, messages: [{ role: 'system' }, { role: 'user' }] });
    const pinned = await memory.pinned({ maxTokens: 100 });
    expect(pinned.items[0]).toMatchObject({ id: 'rule' });
    expect(pinned.maxTokens).toBe(100);
    expect(await codeOf(memory.context('tea', { window: 100 }))).toBe('invalid_argument');
    expect(await codeOf(memory.context('tea', { maxTokens: 99, mustInclude: ['x'] }))).toBe('not_found');
  });

  verb('filters, and sees a scope and its ancestors', async (memory) => {
    await memory.rememberMany([
      { id: 'root', content: 'tea everywhere', tags: ['hot'] },
      { id: 'a', content: 'tea of a', scope: 'team:a', type: 'event' },
      { id: 'b', content: 'tea of b', scope: 'team:b', tags: ['hot', 'dark'] },
    ]);
    const found = async (options: Parameters<MemoryEngine['recall']>[1]) =>
      (await memory.recall('tea', options)).hits.map(({ memory: { id } }) => id).sort();
    expect(await found({ scope: 'team:a' })).toEqual(['a', 'root']);
    expect(await found({ types: ['event'] })).toEqual(['a']);
    expect(await found({ typesExclude: ['event'] })).toEqual(['b', 'root']);
    expect(await found({ tags: ['hot', 'dark'] })).toEqual(['b']);
    const ids = async (options: Parameters<MemoryEngine['list']>[0]) =>
      (await memory.list(options)).memories.map(({ id }) => id).sort();
    expect(await ids({ scope: 'team:b', tags: ['hot'] })).toEqual(['b', 'root']);
    const first = await memory.list({ limit: 2 });
    const second = await memory.list({ limit: 2, cursor: first.nextCursor });
    expect([...first.memories, ...second.memories]).toHaveLength(3);
    expect(second.nextCursor).toBeUndefined();
    expect(second).toMatchObject({ position: 2, total: 3 });
    const sorted = await memory.list({ sort: 'created', direction: 'asc', offset: 1, limit: 1 });
    expect(sorted).toMatchObject({ memories: [{ id: 'a' }], position: 1, total: 3 });
    expect(await ids({ createdAfter: new Date('2100-01-01'), core: false })).toEqual([]);
    expect(await ids({ createdBefore: '2100-01-01', tier: 'hot', core: false })).toHaveLength(3);
    expect(await memory.list({ around: 'b', limit: 1, count: false })).not.toHaveProperty('total');
  });

  verb('takes the moment from the caller', async (memory) => {
    await memory.remember('On leave', { id: 'leave', type: 'plan', validUntil: '2026-02-01' });
    expect((await memory.recall('leave', { now: '2026-01-15' })).hits).toHaveLength(1);
    expect((await memory.recall('leave', { now: new Date('2026-03-01') })).hits).toHaveLength(0);
    expect((await memory.recall('leave', { now: '2026-03-01', includeExpired: true })).hits).toHaveLength(1);
    const written = await memory.remember('Back', { now: '2025-12-31T12:00:00Z' });
    expect(await memory.get(written.id)).toMatchObject({ createdAt: '2025-12-31T12:00:00.000Z' });
  });

  verb('filters by metadata, and looks back', async (memory) => {
    await memory.remember('Ship it', {
      id: 'ship',
      metadata: { status: 'open', priority: 4 },
      now: '2025-12-01',
    });
    await memory.remember('Tidy up', {
      id: 'tidy',
      metadata: { status: 'open', priority: 1 },
      now: '2025-12-01',
    });
    await memory.update('ship', { content: 'Ship it on Monday' });
    const metadata = { status: 'open', priority: { atLeast: 3 } };
    expect((await memory.list({ metadata })).memories.map(({ id }) => id)).toEqual(['ship']);
    expect((await memory.recall('ship', { metadata })).hits.map((hit) => hit.memory.id)).toEqual(['ship']);
    const known = new Date('2025-12-15T00:00:00Z');
    expect(await memory.get('ship', { asOf: { known } })).toMatchObject({ content: 'Ship it' });
    const { memories } = await memory.list({ asOf: { known }, metadata });
    expect(memories).toMatchObject([{ content: 'Ship it' }]);
    const { hits } = await memory.recall('ship', { asOf: { known } });
    expect(hits[0]?.memory.content).toBe('Ship it');
    expect(await memory.get('ship')).toMatchObject({ content: 'Ship it on Monday' });
  });

  verb('shows weights as of the moment at which something was true', async (memory) => {
    await memory.remember('Lives in Oslo', { id: 'old', weight: 0.6 });
    await memory.remember('Moved to Bergen', { id: 'new', supersedes: 'old', validUntil: '2027-06-01' });
    for (const [valid, effectiveWeight] of [
      ['2027-01-01', 0.1],
      ['2028-01-01', 0.6],
    ] as const) {
      expect(await memory.get('old', { asOf: { valid } })).toMatchObject({ effectiveWeight });
      const { memories } = await memory.list({ asOf: { valid } });
      expect(memories.find(({ id }) => id === 'old')).toMatchObject({ effectiveWeight });
    }
  });

  verb('updates, undoes and keeps the history', async (memory) => {
    await memory.remember('Lives in Bonn', { id: 'home', title: 'Home' });
    const changed = await memory.update('home', { content: 'Lives in Ulm', title: null });
    expect(changed).toMatchObject({ content: 'Lives in Ulm', revisionCount: 2 });
    expect(changed.title).toBeUndefined();
    const undone = await memory.undo();
    expect(undone).toMatchObject({
      verb: 'update',
      memories: [{ id: 'home', memory: { content: 'Lives in Bonn' } }],
    });
    const history = await memory.history('home');
    expect(history.map(({ verb: name }) => name)).toEqual(['remember', 'update', 'undo']);
    expect(history[1]).toMatchObject({
      before: { content: 'Lives in Bonn' },
      at: '2026-01-01T00:00:00.000Z',
    });
    await memory.undo({ operation: history[0]!.operation });
    expect(await memory.get('home')).toBeUndefined();
    expect(await memory.history('never')).toEqual([]);
  });

  verb('says what holds, what does not, and what was said about a topic', async (memory) => {
    await memory.remember('Drinks tea', { id: 'tea', topicKey: 'drink', now: '2025-12-01' });
    expect(await memory.invalidate('tea', 'a joke')).toMatchObject({ id: 'tea', invalidReason: 'a joke' });
    expect((await memory.recall('tea')).hits).toEqual([]);
    await memory.reinstate('tea');
    await memory.remember('Drinks coffee', { id: 'coffee', supersedes: 'tea' });
    const beliefs = await memory.beliefs('drink');
    expect(beliefs.map((each) => [each.memory.id, each.believed])).toEqual([
      ['tea', false],
      ['coffee', true],
    ]);
    const { before, memory: middle, after } = await memory.timeline('coffee');
    expect([before.length + after.length, middle.id]).toEqual([1, 'coffee']);
    expect(await memory.conflicts({ limit: 5 })).toEqual([]);
    expect(await codeOf(memory.resolve('99', 'delete'))).toBe('not_found');
    await memory.saveSummary('We spoke of drinks', { scope: 'project:x' });
    expect(await codeOf(memory.endSession('The end'))).toBe('not_found');
    expect((await memory.list({ types: ['summary'] })).memories).toMatchObject([{ scope: 'project:x' }]);
  });

  verb('starts a session with what matters, goes on with it, and ends it', async (memory) => {
    expect(await memory.currentSession()).toBeUndefined();
    expect((await memory.startSession({ now: '2025-12-01' })).memories).toEqual([]);
    await memory.endSession('We met', { now: '2025-12-01' });
    await memory.remember('Never deploy on Fridays', { id: 'friday', type: 'rule' });
    const { sessionId, isNew, summaries, memories } = await memory.startSession();
    expect(isNew).toBe(true);
    expect(summaries.map(({ content }) => content)).toEqual(['We met']);
    const { hits } = await memory.recall(undefined, { strategy: 'ambient', typesExclude: ['summary'] });
    expect(memories.map((hit) => hit.memory.id)).toEqual(['friday']);
    expect(memories[0]!.score).toMatchObject({
      strategy: 'ambient',
      profileHash: hits[0]!.score.profileHash,
      value: hits[0]!.score.value,
    });
    verifyExplanation(memories[0]!.explain());
    expect(memories[0]!.explain().value).toBe(memories[0]!.score.value);
    expect(memories[0]!.features['combined']).toBe(memories[0]!.score.value);
    expect(await memory.currentSession()).toBe(sessionId);
    expect(await memory.currentSession({ now: '2026-01-03' })).toBeUndefined();
    expect(await memory.startSession()).toMatchObject({ sessionId, isNew: false });
    expect(await memory.endSession('All said')).toMatchObject({ sessionId, outcome: 'created' });
    expect(await memory.currentSession()).toBeUndefined();
  });

  verb('observes, is told what helped and what counts, and tidies up', async (memory) => {
    const observed = await memory.observe(
      [
        { id: 'q', role: 'user', content: 'I moved to Ulm', name: 'Ann', at: '2025-12-31' },
        { role: 'assistant', content: 'Noted.' },
      ],
      { scope: 'team:a', tags: ['chat'], metadata: { from: 'app' } },
    );
    expect(observed).toMatchObject({ judgedBy: 'rules', failures: [], usage: { calls: 0 } });
    const [id = ''] = observed.created;
    expect(await memory.get(id)).toMatchObject({ type: 'event', scope: 'team:a', tags: ['chat'] });
    expect(await memory.setImportance(id, 0.9)).toMatchObject({
      importance: 0.9,
      importanceSource: 'person',
    });
    expect((await memory.feedback(id, -1)).usefulness).toBeCloseTo(1 / 3);
    expect((await memory.feedback(id, 'up')).usefulness).toBeCloseTo(2 / 3);
    expect((await memory.feedback(id, 1, { voter: 'ann' })).usefulness).toBeCloseTo(3 / 4);
    expect(await memory.markUsed([id, 'never'], { effect: 'count' })).toEqual([id]);
    expect(await memory.get(id)).toMatchObject({ accessCount: 1 });
    expect(await memory.curate({ actions: ['prune'], dryRun: true })).toMatchObject({
      dryRun: true,
      pruned: [],
    });
    expect(await codeOf(memory.setImportance('never', 0.5))).toBe('not_found');
    expect(await codeOf(memory.setImportance(id, 2))).toBe('invalid_argument');
  });

  verb('forgets for good', async (memory) => {
    await memory.remember('A secret', { id: 'secret' });
    await memory.forget('secret');
    expect(await memory.get('secret')).toBeUndefined();
    expect(JSON.stringify(await memory.history('secret'))).not.toContain('A secret');
    expect(await codeOf(memory.forget('secret'))).toBe('not_found');
  });

  verb('links and unlinks', async (memory) => {
    await memory.rememberMany([
      { id: 'x', content: 'tea' },
      { id: 'y', content: 'cake' },
    ]);
    await memory.link('x', 'y', { weight: 0.6 });
    expect(await memory.links('y')).toEqual([
      { id: 'x', kind: 'stated', weight: 0.6, storedWeight: 0.6, at: '2026-01-01T00:00:00.000Z' },
    ]);
    const { hits } = await memory.recall('tea', { strategy: 'bm25', association: 'propagated' });
    expect(hits.find(({ memory: { id } }) => id === 'y')).toMatchObject({
      isAssociative: true,
      path: ['x', 'y'],
    });
    await memory.unlink('x', 'y', { kinds: ['birth'] });
    await memory.unlink('x', 'y', { kinds: [] });
    expect(await memory.links('x')).toHaveLength(1);
    await memory.unlink('x', 'y');
    expect(await memory.links('x')).toEqual([]);
  });

  verb('takes lists that are empty, and any list of statements', async (memory) => {
    await memory.rememberMany(new Set([{ content: 'One' }, { content: 'Two' }]) as never);
    expect((await memory.list({ types: [] })).memories).toEqual([]);
    expect((await memory.list({ tags: [] })).memories).toHaveLength(2);
    expect(await memory.markUsed([])).toEqual([]);
    expect((await memory.observe([])).created).toEqual([]);
    const listed = (await memory.list()).memories;
    for (const { id } of listed) await memory.forget(id);
    expect(await memory.importMemories(new Set(listed) as never)).toHaveLength(2);
    for (const write of [memory.rememberMany, memory.importMemories])
      for (const wrong of ['x', 7, null])
        expect(await codeOf(write(wrong as never))).toBe('invalid_argument');
  });

  verb('refuses values that JSON would turn into others, and writes nothing', async (memory) => {
    const { id } = await memory.remember('Stays', { expiresAt: '2027-01-01', metadata: { kept: 1 } });
    const before = await memory.get(id);
    const never = new Date(Number.NaN);
    for (const changes of [{ expiresAt: never }, { validFrom: never }, { validUntil: never }])
      expect(await codeOf(memory.update(id, changes))).toBe('invalid_time');
    for (const kept of [Number.NaN, Number.POSITIVE_INFINITY, [undefined], () => 1, 1n, '\ud800'])
      expect(await codeOf(memory.update(id, { metadata: { kept } as never }))).toMatch(
        /^invalid_(argument|text)$/,
      );
    expect(await codeOf(memory.update(id, { role: Number.NaN as never }))).toBe('invalid_argument');
    expect(await codeOf(memory.list({ createdAfter: never }))).toBe('invalid_time');
    expect(await codeOf(memory.list({ now: never }))).toBe('invalid_time');
    expect(await memory.get(id)).toEqual(before);
    for (const asOf of [new Date('2025-01-01'), new Map(), 7, '2025-01-01'])
      expect(await codeOf(memory.recall('stays', { asOf: asOf as never }))).toBe('invalid_argument');
  });

  verb('names the same place of what is wrong in a list', async (memory) => {
    const fine = { content: 'Fine' };
    const placeOf = (wrong: readonly unknown[], work: (list: never) => Promise<unknown>) =>
      work(wrong as never).then(
        () => 'done',
        ({ details: { field, index } }: SalienceError) => (index === undefined ? [field] : [field, index]),
      );
    for (const [wrong, field] of [
      [{ content: 5 }, 'content'],
      [{ content: '' }, 'content'],
      [{}, 'content'],
      [null, 'memory'],
      ['Tea', 'memory'],
      [{ content: 'Tea', importance: 3 }, 'importance'],
      [{ content: 'Tea', colour: 'green' }, 'memory.colour'],
      [{ content: 'Tea', tags: ['a', 5] }, 'tags[1]'],
      [{ content: 'Tea', relations: [{ from: 'a' }] }, 'relations[0].name'],
    ] as const) {
      expect(await placeOf([fine, wrong], memory.rememberMany)).toEqual([field, 1]);
      expect(await placeOf([wrong], memory.rememberMany)).toEqual([field]);
    }
    await memory.remember('There', { id: 'there' });
    const [exported] = (await memory.list()).memories;
    expect(await placeOf([exported, null], memory.importMemories)).toEqual(['memory', 1]);
    expect(await placeOf([exported, { ...exported, importance: 9 }], memory.importMemories)).toEqual([
      ...['importance', 1],
    ]);
    const said = { role: 'user', content: 'Tea' };
    expect(await placeOf([said, { role: 'user' }], memory.observe)).toEqual(['messages[1].content']);
    expect(await placeOf([said, null], memory.observe)).toEqual(['messages[1]']);
    expect(await placeOf(['there', 5], memory.markUsed)).toEqual(['ids[1]']);
    expect(await placeOf(['there', 5], memory.forget)).toEqual(['ids[1]']);
    expect((await memory.list()).total).toBe(1);
  });

  verb('takes a condition without a value for an error, and forgets nothing', async (memory) => {
    await memory.rememberMany([
      { id: 'ann', content: 'Ann drinks tea', metadata: { user: 'ann' } },
      { id: 'ben', content: 'Ben drinks tea', metadata: { user: 'ben' } },
    ]);
    // As a caller writes it whose variable is not set.
    const filter = { types: ['fact'], metadata: { user: undefined as never } };
    for (const work of [
      () => memory.recall('tea', filter),
      () => memory.context('tea', { maxTokens: 100, ...filter }),
      () => memory.list(filter),
      () => memory.compare('tea', { strategies: ['bm25', 'hybrid'], ...filter }),
      () => memory.whyNot('ann', { query: 'tea', ...filter }),
      () => memory.forget(filter),
    ])
      await expect(work(), String(work)).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { field: 'metadata.user' },
      });
    // Metadata that are stored are written as JSON, as anywhere.
    await memory.update('ann', { metadata: { user: 'ann', team: undefined as never } });
    expect(await memory.get('ann')).toMatchObject({ metadata: { user: 'ann' } });
    expect((await memory.list()).total).toBe(2);
  });

  verb('takes an option of forgetting for no filter, and forgets nothing', async (memory) => {
    await memory.rememberMany([{ content: 'One' }, { content: 'Two' }]);
    for (const wrong of [{ limit: 1 }, { dryRun: false }, { ids: undefined }, { type: 'fact' }])
      await expect(
        memory.forget({ types: ['fact'], ...wrong } as never),
        JSON.stringify(wrong),
      ).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { field: `filter.${Object.keys(wrong)[0]}` },
      });
    for (const wrong of [undefined, null, 5, new Set(['a'])])
      expect(await codeOf(memory.forget(wrong as never))).toBe('invalid_argument');
    expect((await memory.list()).total).toBe(2);
  });

  verb('learns from use, unless it is told not to', async (memory) => {
    await memory.remember('Drinks tea', { id: 'tea' });
    await memory.recall('tea', { strategy: 'five-factor', track: false });
    expect(await memory.get('tea')).toMatchObject({ accessCount: 0 });
    await memory.recall('tea', { strategy: 'five-factor' });
    expect(await memory.get('tea')).toMatchObject({ accessCount: 1 });
  });

  verb('maintains, counts, checks and computes anew', async (memory) => {
    await memory.remember('Gone tomorrow', { id: 'soon', expiresAt: '2026-01-02', type: 'event' });
    const dry = await memory.maintain({ now: '2026-01-03', dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, expired: ['soon'] });
    expect(await memory.maintain({ now: '2026-01-03' })).toMatchObject({ expired: ['soon'] });
    await memory.remember('Stays', { type: 'event' });
    expect(await memory.stats()).toMatchObject({ name: memory.space, memories: 1, byType: { event: 1 } });
    await memory.reindex();
    expect(await memory.check()).toEqual([]);
    expect(await memory.health()).toMatchObject({ problems: [], warnings: expect.any(Array) });
  });

  verb('restores what was listed, every field but its place in the order as it was', async (memory) => {
    await memory.rememberMany([
      { id: 'p', content: 'one', tags: ['t'], importance: 0.9 },
      { id: 'q', content: 'two', title: 'T' },
    ]);
    await memory.update('q', { content: 'three' });
    const { memories } = await memory.list();
    for (const { id } of memories) await memory.forget(id);
    // Those of one moment stand in the order in which they are inserted, and a list begins with the newest.
    expect(await memory.importMemories(memories.toReversed())).toHaveLength(2);
    const withoutOrdinal = (each: Memory) => ({ ...each, ordinal: 0 });
    expect((await memory.list()).memories.map(withoutOrdinal)).toEqual(memories.map(withoutOrdinal));
  });

  verb('refuses what is wrong with the same errors, and writes nothing', async (memory) => {
    await memory.remember('There', { id: 'there' });
    expect(await codeOf(memory.remember('Again', { id: 'there' }))).toBe('already_exists');
    expect(await codeOf(memory.remember(''))).toBe('invalid_argument');
    expect(await codeOf(memory.remember('x', { importance: 2 }))).toBe('invalid_argument');
    expect(await codeOf(memory.remember('x', { scope: '../x' }))).toBe('invalid_scope');
    expect(await codeOf(memory.remember('x', { validFrom: 'soon' }))).toBe('invalid_time');
    expect(await codeOf(memory.remember('x\u0000'))).toBe('invalid_text');
    expect(await codeOf(memory.remember('x'.repeat(40_000)))).toBe('content_too_large');
    expect(await codeOf(memory.rememberMany([{ content: 'fine' }, { content: '' }]))).toBe(
      'invalid_argument',
    );
    expect(await codeOf(memory.recall(' '))).toBe('blank_query');
    expect(await codeOf(memory.recall('x', { strategy: 'nope' }))).toBe('unknown_strategy');
    expect(await codeOf(memory.recall('x', { parameters: { nope: 1 } }))).toBe('invalid_parameter');
    expect(await codeOf(memory.list({ limit: 0 }))).toBe('invalid_argument');
    expect(await codeOf(memory.list({ cursor: 'nonsense' }))).toBe('invalid_argument');
    expect(await codeOf(memory.update('never', { content: 'x' }))).toBe('not_found');
    expect(await codeOf(memory.link('there', 'never'))).toBe('not_found');
    expect(await codeOf(memory.explain('never', { query: 'x' }))).toBe('not_found');
    expect(await codeOf(memory.undo({ operation: 99_999 }))).toBe('cannot_undo');
    expect((await memory.stats()).memories).toBe(1);
  });

  verb('takes no value for another one that is written alike', async (memory) => {
    await memory.rememberMany([
      { id: 'a', content: 'One', tags: ['x'] },
      { id: 'b', content: 'Two', tags: ['[]'] },
    ]);
    const { list, entities, remember, update } = memory as unknown as Record<
      'list' | 'entities' | 'remember' | 'update',
      (...given: readonly unknown[]) => Promise<unknown>
    >;
    expect((await memory.list({ tags: ['[]'] })).memories.map(({ id }) => id)).toEqual(['b']);
    expect((await memory.list({ tags: [] })).memories).toHaveLength(2);
    for (const scope of [null, 5]) expect(await codeOf(list({ scope }))).toBe('invalid_scope');
    const date = new Date(0);
    for (const work of [
      () => list({ inScope: { of: 'a' }, types: null }),
      () => list({ types: null }),
      () => list({ types: 'fact' }),
      () => list({ types: [null] }),
      () => list({ tags: [null] }),
      () => list({ topicKey: null }),
      () => list({ sessionId: null }),
      () => list({ limit: '5' }),
      () => list({ metadata: { at: date } }),
      () => entities(null),
      () => remember('Dated', { metadata: { at: date } }),
      () => remember('Dated', { title: date }),
      () => update('a', { metadata: { x: { validFrom: date } } }),
      () => update('a', undefined),
      () => update('a', null),
      () => update('a', 'One'),
    ])
      expect([await codeOf(work()), String(work)]).toEqual([
        expect.stringMatching(/^invalid_(argument|scope)$/),
        String(work),
      ]);
    expect(await memory.get('a')).toMatchObject({ revisionCount: 1 });
    expect((await memory.stats()).memories).toBe(2);
    await memory.update('a', { validFrom: date });
    expect((await memory.list({ createdAfter: date })).memories).toHaveLength(2);
  });

  verb('ends when its signal says so, and when it was closed', async (memory) => {
    const signal = AbortSignal.abort();
    expect(await codeOf(memory.recall('tea', { signal }))).toBe('aborted');
    expect(await codeOf(memory.remember('tea', { signal }))).toBe('aborted');
    expect((await memory.list()).memories).toEqual([]);
    await memory.close();
    expect(await codeOf(memory.list())).toBe('closed');
  });
}
