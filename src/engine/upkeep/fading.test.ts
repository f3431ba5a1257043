import { describe, expect, it } from 'vitest';
import { type MemoryEngine, openMemory } from '../../index.ts';
import type { Store } from '../../store/store.ts';
import { interruptedEmbedder } from '../../testing/interrupted-embedder.ts';
import { live, liveFading, liveFadingOnDisk, liveOnDisk } from '../../testing/live-memory.ts';
import { createReferenceStore } from '../../testing/reference-store/index.ts';

const events = [
  { id: 'heron', content: 'Saw a heron by the river', type: 'event', importance: 0 },
  { id: 'crane', content: 'Folded a paper crane', type: 'event', importance: 0 },
];
const runs = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((weekday, at) => ({
  id: `run${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  type: 'event',
  importance: 0,
}));

describe('fading', () => {
  it('is off by default: nothing cools, however old it is', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany([...events, { content: 'The code is 7', id: 'code', expiresAt: '2026-02-01' }]);
    pass(3000);
    const report = await memory.maintain({ consolidate: true });
    expect(report).toMatchObject({
      fading: 'off',
      cooled: [],
      archived: [],
      consolidated: [],
      expired: ['code'],
    });
  });

  it('counts what a recall shows as used, even where its strategy learns nothing', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(events);
    for (let day = 0; day < 400; day += 10) {
      pass(10);
      expect((await memory.recall('heron')).hits).toHaveLength(1);
      await memory.maintain();
    }
    expect(await memory.get('heron')).toMatchObject({
      tier: 'hot',
      lastAccessedAt: undefined,
      accessCount: 0,
    });
    expect((await memory.get('crane'))?.tier).not.toBe('hot');
  });

  const rules = [
    { id: 'french', content: 'Always answer in French', type: 'rule' },
    { id: 'merger', content: 'Never mention the merger', type: 'rule' },
    { id: 'unasked', content: 'Folded a paper crane', type: 'event', importance: 0 },
  ];
  const seenBy = async (memory: MemoryEngine, ids = ['french', 'merger', 'unasked']) =>
    Promise.all(ids.map(async (id) => (await memory.get(id))?.seen !== undefined));

  it.each([
    ['pinned', (memory: MemoryEngine) => memory.pinned(), [true, true, false]],
    ['bootstrap', (memory: MemoryEngine) => memory.bootstrap(), [true, true, false]],
    ['startSession', (memory: MemoryEngine) => memory.startSession(), [true, true, true]],
    [
      'a context, with what must be in it,',
      (memory: MemoryEngine) => memory.context('french', { maxTokens: 500, mustInclude: ['merger'] }),
      [true, true, false],
    ],
    [
      'a context whose strategy learns',
      (memory: MemoryEngine) =>
        memory.context('french', {
          maxTokens: 500,
          mustInclude: ['merger'],
          strategy: 'retention',
          types: ['event'],
        }),
      [false, true, false],
    ],
  ] as const)('counts what %s hands out as used', async (_, show, expected) => {
    const { memory } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(rules);
    await show(memory);
    expect(await seenBy(memory)).toEqual(expected);
    const off = await live({ embedder: 'none' });
    await off.memory.rememberMany(rules);
    await show(off.memory);
    expect(await seenBy(off.memory)).toEqual([false, false, false]);
  });

  it('keeps a rule that is in every turn, and one in mustInclude of every context', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(rules);
    for (let days = 0; days < 400; days += 20) {
      pass(20);
      expect((await memory.pinned()).items.map(({ id }) => id)).toContain('french');
      await memory.context('french', { maxTokens: 500, mustInclude: ['unasked'] });
      await memory.maintain();
    }
    expect((await memory.get('french'))?.tier).toBe('hot');
    expect((await memory.get('unasked'))?.tier).toBe('hot');
  });

  it('counts nothing for recalls that must not write', async () => {
    const { memory, reopen, cleanUp } = await liveFadingOnDisk({ embedder: 'none' });
    await memory.rememberMany(rules);
    await memory.pinned({ track: false });
    await memory.bootstrap({ track: false });
    await memory.context('french', { maxTokens: 500, mustInclude: ['merger'], track: false });
    await memory.context('french', {
      maxTokens: 500,
      mustInclude: ['merger'],
      asOf: { valid: '2026-01-02' },
    });
    expect(await seenBy(memory)).toEqual([false, false, false]);
    await memory.close();
    const reading = await reopen({ readOnly: true });
    expect((await reading.pinned()).items).toHaveLength(2);
    expect(await seenBy(reading)).toEqual([false, false, false]);
    await reading.close();
    await cleanUp();
  });

  it('archives and prunes nothing cold that a recall still returns through a link', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany([
      { id: 'hub', content: 'Grinder of Ann', type: 'procedure' },
      { id: 'leaf', content: 'Serial number 4711', type: 'event', importance: 0 },
      { id: 'alone', content: 'It rained', type: 'event', importance: 0 },
    ]);
    await memory.link('hub', 'leaf', { weight: 0.9 });
    const pruned: string[] = [];
    for (let day = 30; day < 300; day += 30) {
      pass(30);
      await memory.maintain();
      const { hits } = await memory.recall('grinder ann');
      expect(hits.map(({ memory: { id } }) => id).toSorted()).toEqual(['hub', 'leaf']);
      if (day === 210) pruned.push(...(await memory.curate({ actions: ['prune'] })).pruned);
    }
    expect((await memory.get('leaf'))?.tier).toBe('cold');
    // Nobody asks any longer: it was used, so it is no casual mention, and is archived in its time.
    pass(179);
    expect((await memory.maintain()).archived).toEqual([]);
    pruned.push(...(await memory.curate({ actions: ['prune'] })).pruned);
    expect(pruned).toEqual(['alone']);
    pass(1);
    expect((await memory.maintain()).archived).toEqual(['leaf']);
  });

  it('writes nothing if it is off, or with track: false', async () => {
    const off = await live({ embedder: 'none' });
    await off.memory.rememberMany(events);
    await off.memory.recall('heron');
    expect((await off.memory.get('heron'))?.seen).toBeUndefined();
    const on = await liveFading({ embedder: 'none' });
    await on.memory.rememberMany(events);
    await on.memory.recall('heron', { track: false });
    expect((await on.memory.get('heron'))?.seen).toBeUndefined();
    await on.memory.recall('heron');
    expect((await on.memory.get('heron'))?.seen).toBe('2026-01-01T00:00:00.000Z');
  });

  it('follows the curve and the days of the space', async () => {
    const day = async (fading: object) => {
      const { memory, pass } = await liveFading({
        embedder: 'none',
        fading: { mode: 'retention', ...fading },
      });
      await memory.rememberMany(events);
      for (let days = 1; days < 2000; days++) {
        pass(1);
        if ((await memory.maintain({ dryRun: true })).cooled.length > 0) return days;
      }
      return Infinity;
    };
    // e^(−t/4.5) reaches .02 after 17.6 days, (1+t/4.5)^(−1/ln 2) after 63.3.
    expect(await day({})).toBe(25);
    expect(await day({ daysAtFloor: 0 })).toBe(18);
    expect(await day({ curve: 'power' })).toBe(71);
  });

  it.each([
    ['the reference store', async () => live()],
    ['SQLite', async () => liveOnDisk()],
  ])('is changed by configure, and back by undo, in %s', async (_, open) => {
    const { memory } = await open();
    expect(await memory.configure()).toMatchObject({ fading: { mode: 'off' }, timeZone: 'UTC' });
    await memory.configure({ fading: 'retention', timeZone: 'Europe/Berlin' });
    const settings = (await memory.stats()).settings;
    expect(settings).toMatchObject({
      fading: { mode: 'retention', curve: 'exponential', daysAtFloor: 7, daysCold: 180 },
      timeZone: 'Europe/Berlin',
    });
    await memory.undo();
    expect(await memory.configure({})).toMatchObject({ fading: { mode: 'off' }, timeZone: 'UTC' });
    for (const wrong of [
      { fading: 'on' },
      { fading: { mode: 'retention', days: 1 } },
      { timeZone: 'Mars' },
    ]) {
      await expect(memory.configure(wrong as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    expect(await memory.configure()).toMatchObject({ fading: { mode: 'off' }, timeZone: 'UTC' });
    await memory.close();
  });

  it.each([
    ['the reference store', async () => live()],
    ['SQLite', async () => liveOnDisk()],
  ])('takes no later change of the settings back with an earlier one, in %s', async (_, open) => {
    const { memory } = await open();
    await memory.remember('x');
    await memory.configure({ fading: 'retention' });
    await memory.configure({ timeZone: 'Europe/Berlin' });
    const undoable = async () =>
      (await memory.operations()).map((each) => [each.operation, each.undoable, each.because]);
    expect((await undoable()).slice(0, 2)).toEqual([
      [3, true, undefined],
      [2, false, 'changed'],
    ]);
    await expect(memory.undo({ operation: 2 })).rejects.toMatchObject({
      code: 'cannot_undo',
      message: 'the settings were changed again by operation 3; undo that first',
    });
    expect(await memory.configure()).toMatchObject({
      fading: { mode: 'retention' },
      timeZone: 'Europe/Berlin',
    });
    await memory.undo({ operation: 3 });
    expect((await undoable())[2]).toEqual([2, true, undefined]);
    await memory.undo({ operation: 2 });
    expect(await memory.configure()).toMatchObject({ fading: { mode: 'off' }, timeZone: 'UTC' });
    await memory.close();
  });

  it('is the same for whoever opens the space', async () => {
    const { memory, reopen, cleanUp } = await liveFadingOnDisk();
    await memory.close();
    await expect(reopen({ fading: 'off' })).rejects.toMatchObject({
      code: 'settings_mismatch',
      message: expect.stringMatching(/fading "retention" and is opened with "off"/),
    });
    const again = await reopen({ fading: undefined });
    expect((await again.configure()).fading.mode).toBe('retention');
    await again.close();
    await cleanUp();
  });

  it('is part of a look back', async () => {
    const store = createReferenceStore();
    let now = Date.UTC(2026, 0, 1);
    const memory = await openMemory({ path: 'x', space: 'a', store, embedder: 'none', clock: () => now });
    await memory.rememberMany(events);
    now += 1000;
    await memory.configure({ fading: 'retention' });
    const space = await store.openSpace('a');
    await using past = await space.asKnown(now - 1, async () => []);
    expect((await past.settings()).fading.mode).toBe('off');
    expect((await space.settings()).fading.mode).toBe('retention');
  });
});

describe('a run of maintenance', () => {
  it('does what its dry run says, what it consolidates included', async () => {
    const { memory, pass } = await liveFading();
    await memory.rememberMany([...runs, ...events]);
    pass(60);
    const dry = await memory.maintain({ dryRun: true, consolidate: true });
    expect(dry.consolidated.map(({ from }) => from.toSorted())).toEqual([runs.map(({ id }) => id)]);
    const wet = await memory.maintain({ consolidate: true });
    expect(wet.consolidated.map(({ from }) => from)).toEqual(dry.consolidated.map(({ from }) => from));
    expect(wet.examined).toBe(dry.examined);
    expect(wet.compared).toBe(dry.compared);
    expect(wet.cooled).toEqual(dry.cooled);
    expect(dry.cooled.length).toBeGreaterThan(0);
    expect(wet.similarPairs.length).toBe(dry.similarPairs.length);
  });

  it.each([
    ['the reference store', async () => liveFading()],
    ['SQLite', async () => liveFadingOnDisk()],
  ])('is undone as a whole, but for what was changed or forgotten since, in %s', async (_, open) => {
    const { memory, pass } = await open();
    await memory.rememberMany([...runs, ...events]);
    pass(60);
    const { run, consolidated } = await memory.maintain({ consolidate: true });
    expect(run).toEqual(expect.any(String));
    const made = consolidated[0]?.id as string;
    const operations = new Set<number>();
    for (const { id } of [...runs, ...events, { id: made }]) {
      for (const event of await memory.history(id)) if (event.run === run) operations.add(event.operation);
    }
    expect(operations.size).toBeGreaterThan(1);
    await memory.update('heron', { content: 'Saw two herons by the river' });
    await memory.forget('crane');
    const undone = await memory.undo({ run: run as string });
    expect(undone).toMatchObject({ verb: 'maintain', run });
    expect(undone.skipped?.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
      { id: 'crane', reason: 'forgotten' },
      { id: 'heron', reason: 'changed' },
    ]);
    expect(await memory.get(made)).toBeUndefined();
    for (const { id } of runs) {
      expect(await memory.get(id)).toMatchObject({
        tier: 'hot',
        coldSince: undefined,
        consolidatedAt: undefined,
      });
    }
    expect((await memory.get('heron'))?.content).toBe('Saw two herons by the river');
    await expect(memory.undo({ run: run as string })).rejects.toMatchObject({ code: 'cannot_undo' });
    await expect(memory.undo({ run: 'unknown' })).rejects.toMatchObject({ code: 'cannot_undo' });
    await memory.close();
  });

  it('is undone for memories that superseded what it forgot', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.remember('Saw a stork', { id: 'stork', ttl: '30d', importance: 0 });
    await memory.rememberMany(events.map((event) => ({ ...event, supersedes: 'stork' })));
    pass(60);
    const { run, cooled, expired } = await memory.maintain();
    expect({ cooled, expired }).toEqual({ cooled: ['crane', 'heron'], expired: ['stork'] });
    const undone = await memory.undo({ run });
    expect(undone.skipped).toEqual([]);
    expect(await memory.get('heron')).toMatchObject({ tier: 'hot', coldSince: undefined, supersedes: [] });
  });

  it('neither cools nor archives what its expiry erases or reinstates, and its dry run says so', async () => {
    const { memory, pass } = await liveFading();
    const { sessionId } = await memory.startSession();
    await memory.remember('The voucher is worth ten euros', { sessionId, ttl: '30d' });
    pass(2);
    await memory.startSession();
    const [summary] = (await memory.list({ types: ['summary'] })).memories;
    pass(200);
    const dry = await memory.maintain({ dryRun: true });
    expect(dry).toMatchObject({ cooled: [], archived: [], expired: [expect.any(String), summary?.id] });
    const { run: _, ...wet } = await memory.maintain();
    expect(wet).toEqual({ ...dry, dryRun: false });
  });

  it('does not archive what the expiry of a consolidation reinstates, and its dry run says so', async () => {
    const { memory, pass } = await liveFading();
    await memory.rememberMany(runs);
    const { consolidated } = await memory.maintain({ consolidate: runs.map(({ id }) => id) });
    const made = consolidated[0]?.id as string;
    await memory.update(made, { expiresAt: '2026-07-10' });
    pass(200);
    const dry = await memory.maintain({ dryRun: true });
    expect(dry).toMatchObject({ cooled: [], archived: [], expired: [made] });
    expect(await memory.maintain()).toMatchObject({ cooled: [], archived: [], expired: [made] });
    for (const { id } of runs) expect(await memory.get(id)).toMatchObject({ tier: 'hot' });
  });

  it.each([
    ['cool', 'used', {}, (memory: MemoryEngine) => memory.recall('heron', { strategy: 'retention' })],
    [
      'forget',
      'given more time',
      { expiresAt: '2026-02-01' },
      (memory: MemoryEngine) => memory.update('heron', { expiresAt: '2027-01-01' }),
    ],
  ])('does not %s a memory that is %s after it was read', async (_, __, fields, meanwhile) => {
    const inner = createReferenceStore();
    let isDone = true;
    const openSpace: Store['openSpace'] = async (...given) => {
      const space = await inner.openSpace(...given);
      return {
        ...space,
        async list(...asked) {
          const page = await space.list(...asked);
          if (!isDone) {
            isDone = true;
            await meanwhile(memory);
          }
          return page;
        },
      };
    };
    const { memory, pass } = await liveFading({ embedder: 'none', store: { ...inner, openSpace } });
    await memory.rememberMany([{ ...events[0]!, ...fields }]);
    pass(60);
    isDone = false;
    expect(await memory.maintain()).toMatchObject({ cooled: [], expired: [] });
    expect(isDone).toBe(true);
    expect(await memory.get('heron')).toMatchObject({ tier: 'hot' });
  });

  it('is undone again after it went on under the same id, and skips nothing that was undone before', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(events);
    pass(60);
    const { run } = await memory.maintain();
    await memory.undo({ run });
    expect((await memory.maintain({ run })).cooled).toHaveLength(2);
    const operations = (await memory.operations()).length;
    expect(await memory.undo({ run })).toMatchObject({ run, skipped: [] });
    expect(await memory.operations()).toHaveLength(operations + 1);
    expect(await memory.get('heron')).toMatchObject({ tier: 'hot' });
  });

  it('is undone under the number of its latest operation, and not at all once aborted', async () => {
    const inner = createReferenceStore();
    const interrupt = new AbortController();
    let isAborting = true;
    const openSpace: Store['openSpace'] = async (...given) => {
      const space = await inner.openSpace(...given);
      return {
        ...space,
        async run(id) {
          if (isAborting) interrupt.abort();
          return space.run(id);
        },
      };
    };
    const { memory, pass } = await liveFading({ store: { ...inner, openSpace } });
    await memory.rememberMany([...runs, ...events]);
    pass(60);
    const { run } = await memory.maintain({ consolidate: true });
    const operations = (await memory.operations()).filter((each) => each.run === run);
    expect(operations.length).toBeGreaterThan(1);
    await expect(memory.undo({ run, signal: interrupt.signal })).rejects.toMatchObject({ code: 'aborted' });
    expect(await memory.get('heron')).toMatchObject({ tier: 'cold' });
    isAborting = false;
    expect(await memory.undo({ run })).toMatchObject({
      operation: Math.max(...operations.map(({ operation }) => operation)),
      skipped: [],
    });
  });

  it('is undone by a plain undo if it was last', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(events);
    pass(60);
    const { run, cooled } = await memory.maintain();
    expect(cooled).toHaveLength(2);
    expect(await memory.undo()).toMatchObject({ run, skipped: [] });
    expect((await memory.get('heron'))?.tier).toBe('hot');
  });

  it.each([
    [
      'in part where some of it was',
      ['heron'],
      { verb: 'maintain', skipped: [{ id: 'heron', reason: 'changed' }] },
    ],
    ['not at all where all of it was', ['heron', 'crane'], { operation: 1, verb: 'remember' }],
  ])('is taken back by a plain undo %s changed for good', async (_, superseding, undone) => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.remember('Likes birds', { importance: 1 });
    await memory.remember('Saw a stork', { id: 'stork', importance: 0 });
    await memory.rememberMany(
      events.map((event) => (superseding.includes(event.id) ? { ...event, supersedes: 'stork' } : event)),
    );
    await memory.setImportance('stork', 1);
    pass(90);
    expect((await memory.maintain()).cooled.toSorted()).toEqual(['crane', 'heron']);
    // What superseded it is written again, by an operation that cannot be undone.
    await memory.forget('stork');
    expect(await memory.undo()).toMatchObject(undone);
  });

  it.each([
    ['the reference store', async () => live()],
    ['SQLite', async () => liveOnDisk()],
  ])('is taken back by a plain undo, but for what was forgotten since, in %s', async (_, open) => {
    const { memory } = await open();
    await memory.remember('Likes birds', { id: 'kept' });
    // Before what is made of them in the order of ids, as all are that have none of their own.
    const texts = runs.map(({ id, ...text }) => ({ ...text, id: `a ${id}` }));
    const ids = texts.map(({ id }) => id);
    await memory.rememberMany(texts);
    const { run, consolidated } = await memory.maintain({ consolidate: ids });
    const [gone = '', ...left] = ids;
    await memory.forget(gone);
    const undone = await memory.undo();
    expect(undone).toMatchObject({ verb: 'maintain', run });
    expect(undone.memories.map(({ id }) => id).toSorted()).toEqual(left);
    expect(undone.skipped).toEqual(
      [consolidated[0]?.id as string, gone].map((id) => ({ id, reason: 'forgotten' })),
    );
    expect(await memory.undo()).toMatchObject({ verb: 'remember', memories: [{ id: 'kept' }] });
    await expect(memory.undo()).rejects.toMatchObject({ message: 'there is nothing to undo' });
    await memory.close();
  });

  it('reports a memory that is forgotten while its undo embeds', async () => {
    const embedder = interruptedEmbedder({ heron: 0, crane: 45, birds: 90 });
    const { memory, pass } = await liveFading({ embedder });
    await memory.rememberMany(events.map(({ id, ...event }) => ({ ...event, id, content: id })));
    for (const days of [60, 7, 200]) {
      pass(days);
      await memory.maintain();
    }
    expect(await memory.get('heron')).toMatchObject({ tier: 'stub' });
    embedder.meanwhile = () => memory.forget('heron');
    const undone = await memory.undo();
    expect(undone.skipped).toEqual([{ id: 'heron', reason: 'forgotten' }]);
    expect(await memory.get('heron')).toBeUndefined();
    expect(await memory.get('crane')).toMatchObject({ tier: 'cold' });
  });

  it('is named by the error that ends it, and goes on under the same id', async () => {
    const { memory, pass } = await liveFading({ embedder: 'none' });
    await memory.rememberMany(events);
    pass(60);
    const interrupt = new AbortController();
    const progress = () => interrupt.abort();
    const error = await memory.maintain({ signal: interrupt.signal, progress }).then(
      () => undefined,
      (reason: { code: string; details?: { run?: string } }) => reason,
    );
    expect(error).toMatchObject({ code: 'aborted', details: { run: expect.any(String) } });
    const run = error?.details?.run as string;
    expect(await memory.maintain({ run })).toMatchObject({ run, cooled: ['crane', 'heron'] });
  });

  it('consolidates what it is given by name, whatever its age and where nothing fades', async () => {
    const { memory } = await live();
    await memory.rememberMany(runs);
    expect((await memory.maintain({ consolidate: true })).consolidated).toEqual([]);
    const { consolidated } = await memory.maintain({ consolidate: runs.map(({ id }) => id) });
    expect(consolidated.map(({ from }) => from.toSorted())).toEqual([runs.map(({ id }) => id)]);
  });

  it('embeds nothing that has a vector, and neither does an undo that changes no text', async () => {
    let embedded = 0;
    const { chooseEmbedder } = await import('../../providers/choose.ts');
    const builtin = (await chooseEmbedder('builtin'))!;
    const { memory, pass } = await liveFading({
      embedder: {
        ...builtin,
        embed(texts, options) {
          embedded += texts.length;
          return builtin.embed(texts, options);
        },
      },
    });
    await memory.rememberMany([...runs, ...events]);
    pass(60);
    embedded = 0;
    await memory.maintain();
    expect(embedded).toBe(0);
    await memory.undo();
    expect(embedded).toBe(0);
  });
});
