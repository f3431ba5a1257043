import { describe, expect, test } from 'vitest';
import { createSqliteStore } from '../../stores/sqlite/index.ts';
import { liveFading as live } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';

describe('prune', () => {
  async function cold(options: Parameters<typeof live>[0] = {}) {
    const lived = await live({ embedder: 'none', ...options });
    const { memory, pass } = lived;
    const event = { type: 'event' };
    await memory.rememberMany([
      { ...event, id: 'casual', content: 'It rained on the way', importance: 0.1 },
      { ...event, id: 'plain', content: 'Met Tom at the station', importance: 0.4 },
      { ...event, id: 'used', content: 'The bakery closes at six', importance: 0.1 },
      { ...event, id: 'voted down', content: 'The office is in Bergen', importance: 0.1 },
      { ...event, id: 'replaced', content: 'The door code is 11', importance: 0.1 },
      { ...event, id: 'replacing', content: 'The door code is 12', importance: 0.1, supersedes: 'replaced' },
    ]);
    await memory.markUsed(['used', 'voted down'], { effect: 'count' });
    await memory.feedback('voted down', 'down');
    pass(90);
    await memory.maintain();
    return lived;
  }

  test('removes what is cold for 90 days, and casual or voted down; undo restores it', async () => {
    const { memory, pass } = await cold();
    await memory.remember('It rains today', { id: 'hot', importance: 0 });
    pass(89);
    expect((await memory.curate({ actions: ['prune'] })).pruned).toEqual([]);
    pass(1);
    const dry = await memory.curate({ actions: ['prune'], dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, deduplicated: [], consolidated: [] });
    expect([...dry.pruned].sort()).toEqual(['casual', 'voted down']);
    expect(await memory.get('casual')).toBeDefined();
    expect((await memory.curate({ actions: ['prune'] })).pruned).toEqual(dry.pruned);
    expect(await memory.get('casual')).toBeUndefined();
    expect((await memory.history('casual')).at(-1)?.before?.content).toBe('It rained on the way');
    expect((await memory.curate({ actions: ['prune'] })).pruned).toEqual([]);

    const undone = await memory.undo();
    expect(undone.memories.map(({ id }) => id).sort()).toEqual(['casual', 'voted down']);
    expect(await memory.get('voted down')).toMatchObject({
      tier: 'cold',
      content: 'The office is in Bergen',
    });
    // The vote counts on.
    expect((await memory.feedback('voted down', 'up', { voter: 'ben' })).usefulness).toBe(0.5);
  });

  test('keeps the ends of relations that a remaining memory states', async () => {
    const { memory, pass } = await live({ embedder: 'none' });
    const cast = { type: 'entity', importance: 0 };
    for (const id of ['ann', 'rome', 'oslo', 'bob'])
      await memory.remember(`About ${id}`, { ...cast, id, title: id });
    await memory.relate('ann', 'lives_in', 'rome');
    // Stays with its own end, though it states only what would go with it.
    await memory.update('rome', { relations: [{ from: 'bob', name: 'visited', to: 'oslo' }] });
    pass(90);
    await memory.maintain();
    await memory.setImportance((await memory.list({ types: ['fact'] })).memories[0]!.id, 1);
    pass(90);
    const dry = await memory.curate({ actions: ['prune'], dryRun: true });
    expect(dry.pruned).toEqual([]);
    expect((await memory.curate({ actions: ['prune'] })).pruned).toEqual([]);
    expect((await memory.neighbours('ann')).relations).toHaveLength(1);

    await memory.forget((await memory.list({ types: ['fact'] })).memories[0]!.id);
    const { pruned } = await memory.curate({ actions: ['prune'] });
    expect([...pruned].sort()).toEqual(['ann', 'bob', 'oslo', 'rome']);
  });

  test('a pruned statement can be remembered again', async () => {
    const { memory, pass } = await cold();
    pass(90);
    await memory.curate({ actions: ['prune'] });
    expect(await memory.remember('It rained on the way', { type: 'event' })).toMatchObject({
      outcome: 'created',
    });
  });

  test.each([
    ['the reference store', createReferenceStore],
    ['SQLite', () => createSqliteStore({ directory: ':memory:' })],
  ])(
    'votes on what was pruned count for no new memory of its id, and come back with it, in %s',
    async (_, makeStore) => {
      await using store = makeStore();
      const { memory, pass } = await cold({ store });
      const votes = async () =>
        (await memory.list({ limit: 100 })).memories.find(({ id }) => id === 'voted down')?.votes;
      expect(await votes()).toEqual([{ voter: 'user', vote: -1 }]);
      pass(90);
      const { pruned, run } = await memory.curate({ actions: ['prune'] });
      expect(pruned).toContain('voted down');
      await memory.remember('The office is in Bergen', { id: 'voted down' });
      expect(await votes()).toBeUndefined();
      expect((await memory.feedback('voted down', 'up', { voter: 'ben' })).usefulness).toBe(2 / 3);
      expect(await votes()).toEqual([{ voter: 'ben', vote: 1 }]);
      await memory.undo();
      await memory.undo();
      await memory.undo({ run });
      expect(await votes()).toEqual([{ voter: 'user', vote: -1 }]);
      expect((await memory.feedback('voted down', 'up', { voter: 'ben' })).usefulness).toBe(0.5);
    },
  );
});

describe('deduplicate', () => {
  test('relations with a copy move to the kept memory', async () => {
    const { memory } = await live();
    await memory.remember('Ann', { id: 'ann', title: 'Ann', type: 'entity' });
    await memory.remember('The plan of the harbour', { id: 'a' });
    const original = (await memory.get('a'))!;
    const relation = { name: 'follows', weight: 1, confidence: 0.8 };
    await memory.importMemories([
      { ...original, id: 'b', relations: [{ ...relation, from: 'b', to: 'ann' }] },
      { ...original, id: 'c' },
    ]);
    await memory.relate('ann', 'wrote', 'b');
    await memory.relate('ann', 'wrote', 'c', { content: 'Ann wrote the third copy' });
    const before = (await memory.list()).memories;
    const shown = async () =>
      (await memory.neighbours('ann')).relations.map(({ from, name, to }) => `${from} ${name} ${to}`);
    expect(await shown()).toEqual(['ann wrote b', 'ann wrote c', 'b follows ann']);
    const { deduplicated } = await memory.curate({ actions: ['deduplicate'] });
    expect(deduplicated).toEqual([{ kept: 'a', replaced: ['b', 'c'] }]);
    expect(await shown()).toEqual(['a follows ann', 'ann wrote a']);
    // A copy is hidden, and says what it said.
    expect((await memory.get('b'))?.relations).toEqual([{ ...relation, from: 'b', to: 'ann' }]);
    await memory.undo();
    expect((await memory.list()).memories).toEqual(before);
  });

  test('a kept memory that itself states a relation with another copy states it of the kept one', async () => {
    const { memory } = await live({ embedder: 'none' });
    const describes = { from: 'ann', name: 'describes', weight: 1, confidence: 0.8 };
    await memory.remember('Ann', { id: 'ann', title: 'Ann', type: 'entity' });
    await memory.remember('The plan of the harbour', { id: 'a' });
    await memory.remember('Ann keeps a diary', { id: 'd', importance: 0.7 });
    const [plan, diary] = [await memory.get('a'), await memory.get('d')];
    await memory.importMemories([
      { ...plan!, id: 'b' },
      { ...diary!, id: 'e', importance: 0.2, accessCount: 3, relations: [{ ...describes, to: 'b' }] },
    ]);
    await memory.curate({ actions: ['deduplicate'] });
    expect(await memory.get('e')).toMatchObject({
      supersedes: ['d'],
      importance: 0.7,
      relations: [{ ...describes, to: 'a' }],
    });
  });

  test('the kept memory states the relations of its copies, with the longest period and the highest weight', async () => {
    const { memory, pass } = await live();
    const works = { from: 'ann', name: 'works_at', to: 'acme', confidence: 0.8 };
    await memory.rememberMany(['ann', 'acme'].map((id) => ({ id, content: id, title: id, type: 'entity' })));
    await memory.remember('Ann works at Acme', { id: 'a', relations: [{ ...works, weight: 0.7 }] });
    const original = (await memory.get('a'))!;
    const until = '2026-01-02T00:00:00.000Z';
    await memory.importMemories([
      { ...original, id: 'b', relations: [{ ...works, weight: 0.9, validUntil: until }] },
    ]);
    pass(10);
    await memory.curate({ actions: ['deduplicate'] });
    expect((await memory.get('a'))?.relations).toEqual([{ ...works, weight: 0.9 }]);
    expect((await memory.neighbours('ann')).relations).toHaveLength(1);
  });

  test('copies that an import brought are merged', async () => {
    const { memory, space } = await live();
    const { id } = await memory.remember('Ann drinks her tea without milk', { id: 'a', importance: 0.3 });
    const original = (await memory.get(id))!;
    // An export brings memories back as they are, copies too.
    await memory.importMemories([
      { ...original, id: 'b', importance: 0.8, importanceSource: 'person' },
      { ...original, id: 'c', accessCount: 3 },
      { ...original, id: 'other', type: 'preference' },
      { ...original, id: 'elsewhere', scope: 'project:x' },
    ]);
    const dry = await memory.curate({ actions: ['deduplicate'], dryRun: true });
    expect(dry.deduplicated).toEqual([{ kept: 'c', replaced: ['a', 'b'] }]);
    expect((await memory.get('c'))?.supersedes).toEqual([]);
    expect((await memory.curate({ actions: ['deduplicate'] })).deduplicated).toEqual(dry.deduplicated);
    expect(await memory.get('c')).toMatchObject({
      supersedes: ['a', 'b'],
      importance: 0.8,
      importanceSource: 'person',
      accessCount: 3,
    });
    const ids = async () => (await memory.recall('tea without milk')).hits.map((hit) => hit.memory.id).sort();
    expect(await ids()).toEqual(['c', 'elsewhere', 'other']);
    expect((await memory.curate({ actions: ['deduplicate'] })).deduplicated).toEqual([]);
    const { sequence } = await space.info();
    await memory.undo();
    expect(await ids()).toEqual(['a', 'b', 'c', 'elsewhere', 'other']);
    expect((await space.info()).sequence).toBe(sequence + 1);
  });

  test('keeps the surest of copies that are used equally often', async () => {
    const { memory } = await live({ embedder: 'none' });
    const { id } = await memory.remember('The door code is 4711', { id: 'a', confidence: 0.4 });
    const original = (await memory.get(id))!;
    await memory.importMemories([
      { ...original, id: 'b', confidence: 0.9 },
      { ...original, id: 'c', confidence: 0.6 },
    ]);
    const { deduplicated } = await memory.curate({ actions: ['deduplicate'] });
    expect(deduplicated).toEqual([{ kept: 'b', replaced: ['c', 'a'] }]);
    expect((await memory.get('b'))?.confidence).toBe(0.9);
  });

  test.each([
    ['a hot one before a cold one', { tier: 'cold', coldSince: '2025-12-01' }, {}, { tier: 'hot' }],
    ['a core one before one that fades', {}, { core: true }, { tier: 'hot', core: true }],
    [
      'a core one before a hot one, and makes it hot',
      {},
      { core: true, tier: 'cold', coldSince: '2025-12-01' },
      { tier: 'hot', core: true, coldSince: undefined },
    ],
  ] as const)('keeps %s, however often the other was used', async (_, used, unused, left) => {
    const { memory } = await live({ embedder: 'none' });
    const { id } = await memory.remember('The door code is 4711', { id: 'unused', importance: 0 });
    const original = (await memory.get(id))!;
    await memory.undo();
    await memory.importMemories([
      { ...original, id: 'used', accessCount: 5, ...used },
      { ...original, ...unused },
    ]);
    const { deduplicated } = await memory.curate({ actions: ['deduplicate'] });
    expect(deduplicated).toEqual([{ kept: 'unused', replaced: ['used'] }]);
    expect(await memory.get('unused')).toMatchObject(left);
    const { hits } = await memory.recall('door code', { track: false });
    expect(hits.map((hit) => hit.memory.id)).toEqual(['unused']);
  });

  test('stays cold if all copies are', async () => {
    const { memory } = await live({ embedder: 'none' });
    const { id } = await memory.remember('The door code is 4711', { importance: 0 });
    const original = (await memory.get(id))!;
    await memory.undo();
    const cold = { tier: 'cold', coldSince: '2025-12-01T00:00:00.000Z' } as const;
    await memory.importMemories(['a', 'b'].map((copy) => ({ ...original, ...cold, id: copy })));
    const { deduplicated } = await memory.curate({ actions: ['deduplicate'] });
    expect(deduplicated).toEqual([{ kept: 'a', replaced: ['b'] }]);
    expect(await memory.get('a')).toMatchObject({ ...cold, seen: undefined });
  });

  test('near-duplicates that overlap are merged only if one says all that the other says', async () => {
    const { model } = scriptedModel(({ prompt }) => ({
      verdicts: [...prompt.matchAll(/"pair":(\d+)/g)].map(([, pair]) => ({
        pair: Number(pair),
        reason: '',
        verdict: 'OVERLAP',
      })),
    }));
    const { memory } = await live({ languageModel: model });
    await memory.rememberMany([
      { id: 'short', content: 'Anna flies to Lisbon on Monday morning', importance: 0.9 },
      { id: 'long', content: 'Anna flies to Lisbon on Monday morning, early' },
      { id: 'different', content: 'Anna flies to Lisbon on Tuesday morning' },
    ]);
    await memory.maintain({ useModel: false });
    expect((await memory.curate({ actions: ['deduplicate'] })).deduplicated).toEqual([]);
    const report = await memory.curate();
    expect(report.judged.length).toBeGreaterThan(1);
    expect(report).toMatchObject({
      judgedBy: 'scripted',
      deduplicated: [{ kept: 'long', replaced: ['short'] }],
      pruned: [],
      consolidated: [],
    });
    expect((await memory.get('long'))?.importance).toBe(0.9);
    expect((await memory.recall('Lisbon')).hits.map((hit) => hit.memory.id).sort()).toEqual([
      'different',
      'long',
    ]);
  });

  test.each([
    ['the one that says more, as hot and core as the other', 'Anna flies to Lisbon on Monday, early', 'cold'],
    ['of two that say the same, the core one', 'Anna flies to Lisbon on Monday!', 'core'],
  ])('of near-duplicates that overlap it keeps %s', async (_, other, kept) => {
    const { model } = scriptedModel(() => ({ verdicts: [{ pair: 1, reason: '', verdict: 'OVERLAP' }] }));
    const { memory, space, clock, pass } = await live({ languageModel: model });
    await memory.remember(other, { id: 'cold' });
    pass(1);
    await memory.remember('Anna flies to Lisbon on Monday', { id: 'core' });
    expect((await memory.maintain()).judged).toHaveLength(1);
    const [cold, core] = await space.get(['cold', 'core']);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [
        { kind: 'replace', memory: { ...cold!, tier: 'cold', coldSince: clock.now() } },
        { kind: 'replace', memory: { ...core!, core: true } },
      ],
      result: undefined,
    }));
    const replaced = kept === 'core' ? ['cold'] : ['core'];
    expect((await memory.curate({ actions: ['deduplicate'] })).deduplicated).toEqual([{ kept, replaced }]);
    expect(await memory.get(kept)).toMatchObject({ tier: 'hot', core: true, coldSince: undefined });
    expect((await memory.recall('Lisbon')).hits.map((hit) => hit.memory.id)).toEqual([kept]);
  });
});

describe('copies that are not yet valid', () => {
  /** `a` and `b` say the same from next year on; `b` may supersede `a`, directly or through `c`. */
  async function moving(chain: 'none' | 'direct' | 'through another') {
    const { memory } = await live({ embedder: 'none' });
    const validFrom = '2027-01-01';
    await memory.remember('The office moves to Berlin', { id: 'a', validFrom });
    if (chain === 'through another') {
      await memory.remember('The office moves to Rome', {
        id: 'c',
        validFrom: '2026-12-31',
        supersedes: 'a',
      });
    }
    const supersedes = { none: [], direct: ['a'], 'through another': ['c'] }[chain];
    await memory.remember('The office moves to Bonn', { id: 'b', validFrom, supersedes });
    await memory.update('b', { content: 'The office moves to Berlin' });
    await memory.remember('Anna likes tea', { id: 'd' });
    await memory.remember('Anna likes milk', { id: 'e' });
    await memory.update('e', { content: 'Anna likes tea' });
    return memory;
  }

  test('are merged once', async () => {
    const memory = await moving('none');
    const { deduplicated } = await memory.curate();
    expect(deduplicated).toEqual([
      { kept: 'd', replaced: ['e'] },
      { kept: 'a', replaced: ['b'] },
    ]);
    const operations = await memory.operations();
    expect((await memory.curate({ dryRun: true })).deduplicated).toEqual([]);
    expect((await memory.curate()).deduplicated).toEqual([]);
    expect(await memory.operations()).toEqual(operations);
  });

  test.each(['direct', 'through another'] as const)(
    'do not supersede each other if one supersedes the other: %s',
    async (chain) => {
      const memory = await moving(chain);
      const dry = await memory.curate({ dryRun: true });
      expect(dry.deduplicated).toEqual([{ kept: 'd', replaced: ['e'] }]);
      expect((await memory.curate()).deduplicated).toEqual(dry.deduplicated);
      expect(await memory.get('a')).toMatchObject({ supersedes: [] });
    },
  );
});

test('an unknown action is refused before anything is done', async () => {
  const { memory } = await live();
  await expect(memory.curate({ actions: ['prune', 'burn' as never] })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
});

describe('a dry run of several actions', () => {
  /** Five faded memories that are similar, of which so many more say what the first says. */
  async function faded(copies: number) {
    const lived = await live();
    for (let at = 0; at < 5; at++) {
      const content = `Ann keeps the key in the cellar, number ${at}`;
      await lived.memory.remember(content, { id: `k${at}`, importance: 0, type: 'event' });
    }
    for (let at = 0; at < copies; at++) {
      const id = `k${4 - at}`;
      await lived.memory.update(id, { content: 'Ann keeps the key in the cellar, number 0' });
    }
    lived.pass(14);
    return lived;
  }

  const done = async ({ memory }: Awaited<ReturnType<typeof faded>>, options = {}) => {
    const report = await memory.curate(options);
    const consolidated = report.consolidated.map(({ from }) => from);
    return { pruned: report.pruned, deduplicated: report.deduplicated, consolidated };
  };

  test('does not report a consolidation of a memory that a copy would have superseded', async () => {
    const lived = await faded(1);
    const dry = await done(lived, { dryRun: true });
    expect(dry).toEqual({
      pruned: [],
      deduplicated: [{ kept: 'k0', replaced: ['k4'] }],
      consolidated: [],
    });
    expect(await done(lived)).toEqual(dry);
  });

  test('judges a kept memory as it will be after deduplication', async () => {
    const lived = await faded(0);
    // As important as this one, it has not faded.
    await lived.memory.remember('Ann keeps the key in the cellar, number 5', {
      id: 'k5',
      importance: 1,
      type: 'event',
    });
    await lived.memory.update('k5', { content: 'Ann keeps the key in the cellar, number 0' });
    const dry = await done(lived, { dryRun: true });
    expect(dry.deduplicated).toHaveLength(1);
    expect(dry.consolidated).toEqual([]);
    expect(await done(lived)).toEqual(dry);
  });

  test('does not report the same memory as consolidated and as superseded, whatever the order', async () => {
    const lived = await faded(1);
    const actions = ['consolidate', 'deduplicate', 'prune'] as const;
    const dry = await done(lived, { actions, dryRun: true });
    expect(dry).toEqual({ pruned: [], deduplicated: [], consolidated: [['k0', 'k1', 'k2', 'k3', 'k4']] });
    expect(await done(lived, { actions })).toEqual(dry);
  });

  test('does not report cold copies as pruned if they would have been merged before', async () => {
    const lived = await faded(1);
    lived.pass(60);
    await lived.memory.maintain();
    lived.pass(90);
    const dry = await done(lived, { dryRun: true });
    expect(dry).toEqual({
      pruned: ['k3', 'k2', 'k1'],
      deduplicated: [{ kept: 'k0', replaced: ['k4'] }],
      consolidated: [],
    });
    expect(await done(lived)).toEqual(dry);
  });
});
