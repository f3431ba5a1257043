import { expect, test } from 'vitest';
import { angleEmbedder } from '../../testing/angle-embedder.ts';
import { day, liveFading as live } from '../../testing/live-memory.ts';
import { verifyExplanation } from '../../testing/verify-explanation.ts';

/** Five runs that were consolidated into one memory, on the day that they were. */
async function fiveRuns() {
  const lived = await live();
  const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  await lived.memory.rememberMany(
    days.map((weekday, at) => ({
      id: `visit${at}`,
      content: `Went for a long run along the river on ${weekday}`,
      type: 'event',
      importance: 0.2,
    })),
  );
  lived.pass(20);
  const before = await lived.memory.recall('run on Wednesday', { strategy: 'lexical', limit: 20 });
  const { consolidated, run } = await lived.memory.maintain({ consolidate: true });
  const at = '2026-01-21T00:00:00.000Z';
  return { ...lived, before, at, id: consolidated[0]?.id as string, run: run as string };
}

test('what was consolidated comes back in a deep recall alone, at half its score, and says so', async () => {
  const { memory, before, id, at } = await fiveRuns();
  const plain = await memory.recall('run on Wednesday', { strategy: 'lexical', limit: 20 });
  expect(plain.hits.map((hit) => hit.memory.id)).toEqual([id]);
  expect(await memory.whyNot('visit2', { query: 'run on Wednesday', strategy: 'lexical' })).toMatchObject({
    outcome: 'excluded',
    message: expect.stringContaining(`consolidated into another memory at ${at}`),
  });
  const deep = await memory.recall('run on Wednesday', { strategy: 'lexical', limit: 20, deep: true });
  expect(deep.hits).toHaveLength(6);
  for (const hit of deep.hits) {
    const original = hit.memory.id !== id;
    expect(hit.viaDeepRecall).toBe(original);
    verifyExplanation(hit.explain());
    if (!original) continue;
    // Its words are as rare as before but for the consolidation, so that the score is compared within this answer.
    const full = await memory.recall('run on Wednesday', {
      strategy: 'lexical',
      limit: 20,
      deep: true,
      deepRecallPenalty: 1,
    });
    const whole = full.hits.find((each) => each.memory.id === hit.memory.id);
    expect(hit.score.value).toBeCloseTo((whole?.score.value as number) / 2, 12);
  }
  expect(before.hits).toHaveLength(5);
});

test('consolidated and past its time: a quarter', async () => {
  const { memory, clock, space } = await live({ embedder: 'none' });
  const plan = { type: 'plan', content: 'Fly to Lisbon' };
  await memory.rememberMany([
    { ...plan, id: 'now' },
    { ...plan, content: 'Fly to Lisbon!', id: 'past', validUntil: '2026-01-02' },
    { ...plan, content: 'Fly to Lisbon?', id: 'consolidated' },
    { ...plan, content: 'Fly to: Lisbon', id: 'both', validUntil: '2026-01-02' },
    { ...plan, content: 'Fly, to Lisbon', id: 'later' },
  ]);
  const moments = { consolidated: clock.now(), both: clock.now(), later: clock.now() + 9 * day } as const;
  for (const [id, consolidatedAt] of Object.entries(moments)) {
    const [record] = await space.get([id]);
    await space.write({ verb: 'maintain', at: clock.now() }, async () => ({
      changes: [{ kind: 'replace', memory: { ...record!, consolidatedAt } }],
      result: undefined,
    }));
  }
  clock.advance(5 * day);
  const scores = async (options: object) => {
    const { hits } = await memory.recall('Lisbon', { strategy: 'bm25', association: 'none', ...options });
    expect(hits.length).toBeGreaterThan(1);
    for (const hit of hits) {
      const full = ['now', 'later'].includes(hit.memory.id);
      expect(hit.viaDeepRecall).toBe('deep' in options && !full);
    }
    const full = hits.find((hit) => hit.memory.id === 'now')?.score.value as number;
    return Object.fromEntries(hits.map((hit) => [hit.memory.id, hit.score.value / full]));
  };
  expect(await scores({})).toEqual({ now: 1, later: 1 });
  expect(await scores({ includeExpired: true })).toEqual({ now: 1, later: 1, past: 1 });
  expect(await scores({ deep: true })).toEqual({ now: 1, later: 1, consolidated: 0.5 });
  const all = { deep: true, includeExpired: true };
  expect(await scores(all)).toEqual({ now: 1, later: 1, consolidated: 0.5, past: 0.5, both: 0.25 });
  expect(await scores({ ...all, deepRecallPenalty: 0.1 })).toMatchObject({
    both: expect.closeTo(0.01, 12),
  });
});

test('links neither bring back what was consolidated nor lead through it, unless the recall is deep', async () => {
  const { memory, id } = await fiveRuns();
  await memory.remember('The river is closed for swimming', { id: 'river' });
  await memory.link('river', 'visit2', { weight: 1 });
  const ids = async (options: object) => {
    const { hits } = await memory.recall('closed for swimming', {
      strategy: 'bm25',
      association: { mode: 'propagated', propagation: 1, minimum: 0.01 },
      ...options,
    });
    return hits.map((hit) => [hit.memory.id, hit.isAssociative, hit.viaDeepRecall]);
  };
  expect(await ids({})).toEqual([['river', false, false]]);
  const deep = await ids({ deep: true });
  expect(deep).toContainEqual(['visit2', true, true]);
  expect(deep).toContainEqual([id, true, false]);
});

test('a deep recall that uses what was consolidated leaves it replaced', async () => {
  const { memory, at } = await fiveRuns();
  await memory.recall('run on Wednesday', { strategy: 'retention', deep: true });
  const used = await memory.get('visit2');
  expect(used?.accessCount).toBe(1);
  expect(used).toMatchObject({ tier: 'cold', coldSince: at, consolidatedAt: at });
  const { hits } = await memory.recall('run on Wednesday', { strategy: 'lexical' });
  expect(hits.map((hit) => hit.memory.id)).not.toContain('visit2');
});

test('an export keeps when a memory was consolidated, and restores it', async () => {
  const { memory, at } = await fiveRuns();
  const { memories } = await memory.list({ limit: 100 });
  const copy = await live();
  await copy.memory.importMemories(memories);
  expect(await copy.memory.get('visit2')).toMatchObject({ tier: 'cold', consolidatedAt: at });
});

type Lived = Pick<Awaited<ReturnType<typeof fiveRuns>>, 'memory' | 'pass'>;

/** Changes of one original, `visit2`, and what they leave of it when the run that consolidated it is undone. */
const changes: readonly (readonly [string, (lived: Lived) => Promise<unknown>, object])[] = [
  ['voted on', ({ memory }) => memory.feedback('visit2', 'up'), { usefulness: 2 / 3 }],
  ['tagged', ({ memory }) => memory.update('visit2', { tags: ['sport'] }), { tags: ['sport'] }],
  [
    'reworded',
    ({ memory }) => memory.update('visit2', { content: 'Went for a short run on Sunday' }),
    { content: 'Went for a short run on Sunday' },
  ],
  [
    'archived',
    async ({ memory, pass }) => {
      // The consolidation is used and stays hot.
      for (let week = 0; week < 26; week++) {
        pass(7);
        await memory.recall('run along the river');
      }
      const { archived } = await memory.maintain();
      expect(archived).toContain('visit2');
    },
    { content: 'Went for a long run along the river on Wednesday' },
  ],
];

test.each(changes)(
  'an original that was %s since is recalled again once its run is undone',
  async (_, change, left) => {
    const { memory, pass, id, run } = await fiveRuns();
    await change({ memory, pass });
    const undone = await memory.undo({ run });
    expect(undone.skipped).toEqual([]);
    expect(undone.memories.map((each) => each.id)).toContain('visit2');
    const hot = { tier: 'hot', coldSince: undefined, consolidatedAt: undefined };
    expect(await memory.get(id)).toBeUndefined();
    expect(await memory.get('visit2')).toMatchObject({ ...hot, ...left });
    const recalled = async () =>
      (await memory.recall('run', { strategy: 'lexical', limit: 20 })).hits.map((hit) => hit.memory.id);
    expect(await recalled()).toContain('visit2');
    // Undoing the later change does not consolidate it again.
    await memory.undo();
    expect(await memory.get('visit2')).toMatchObject({
      ...hot,
      content: 'Went for a long run along the river on Wednesday',
      tags: [],
      usefulness: 0.5,
    });
    expect(await recalled()).toContain('visit2');
  },
);

test('a consolidation has nothing that belongs to one of its originals alone', async () => {
  const { memory, pass } = await live();
  const { sessionId } = await memory.startSession();
  const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
  const ids = weekdays.map((_, at) => `visit${at}`);
  await memory.rememberMany(
    weekdays.map((weekday, at) => ({
      id: `visit${at}`,
      content: `Went for a long run along the river on ${weekday}`,
      type: 'event',
      importance: 0.2,
      sessionId,
      metadata: { distance: at },
      sourceRef: `diary.md#${weekday}`,
    })),
  );
  await memory.recall('run on Monday', { strategy: 'retention', sessionId });
  expect(await memory.get('visit0')).toMatchObject({ sessionId, bornIn: sessionId, sessions: [sessionId] });
  pass(60);
  const { consolidated } = await memory.maintain({ consolidate: ids, fade: false });
  const made = await memory.get(consolidated[0]?.id as string);
  expect(made).toMatchObject({ derivedFrom: ids, metadata: {}, sessions: [] });
  for (const field of ['sessionId', 'bornIn', 'sourceRef'] as const) expect(made?.[field]).toBeUndefined();
});

test('similar memories are found behind any number of older ones that belong to no group', async () => {
  const event = { type: 'event', importance: 0.2 };
  const similar = [0, 1, 2, 3, 4].map((at) => ({ ...event, id: `similar${at}`, content: `Similar ${at}` }));
  const embedder = angleEmbedder(Object.fromEntries(similar.map(({ content }, at) => [content, at])));
  const { memory, pass } = await live({ embedder });
  // The embedder knows no word of these.
  await memory.rememberMany(Array.from({ length: 2000 }, (_, at) => ({ ...event, content: `Apart ${at}` })));
  await memory.rememberMany(similar);
  pass(20);
  const { consolidated } = await memory.curate({ actions: ['consolidate'] });
  expect(consolidated.map(({ from }) => from)).toEqual([similar.map(({ id }) => id)]);
});
