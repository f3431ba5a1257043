import { describe, expect, test } from 'vitest';
import { liveFading as live } from '../../testing/live-memory.ts';
import { scriptedModel } from '../../testing/scripted-model.ts';

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];
const runs = days.map((weekday, at) => ({
  id: `run${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  type: 'event',
  importance: 0.2,
}));
const more = ['Saturday', 'Sunday'].map((weekday, at) => ({
  id: `more${at}`,
  content: `Went for a long run along the river on ${weekday}`,
  type: 'event',
  importance: 0.2,
}));

describe('consolidate', () => {
  test.each(['maintain', 'curate'] as const)('takes only what is believed now, in %s', async (verb) => {
    const { memory, pass } = await live();
    await memory.rememberMany([
      ...runs,
      ...more,
      { ...runs[0], id: 'ended', content: `${runs[0]?.content} of May`, validUntil: '2026-01-10' },
      { ...runs[0], id: 'to come', content: `${runs[0]?.content} of June`, validFrom: '2026-03-01' },
      { ...runs[0], id: 'expired', content: `${runs[0]?.content} of July`, expiresAt: '2026-01-10' },
    ] as never);
    await memory.remember('There was no run on Monday at all', {
      id: 'correction',
      supersedes: 'run0',
      type: 'event',
      importance: 1,
    });
    await memory.invalidate('run1', 'it rained');
    pass(20);
    const { consolidated } =
      verb === 'maintain'
        ? await memory.maintain({ consolidate: true, fade: false })
        : await memory.curate({ actions: ['consolidate'] });
    expect(consolidated).toHaveLength(1);
    expect(consolidated[0]?.from.toSorted()).toEqual(['more0', 'more1', 'run2', 'run3', 'run4']);
    const consolidation = await memory.get(consolidated[0]?.id as string);
    expect(consolidation).toMatchObject({ source: 'consolidated', tier: 'hot' });
    expect(consolidation?.invalidatedAt).toBeUndefined();
    for (const word of ['Monday', 'Tuesday', 'May', 'June', 'July'])
      expect(consolidation?.content).not.toContain(word);
  });

  test('leaves four true statements alone when the fifth is not believed', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(runs);
    await memory.invalidate('run0', 'it rained');
    pass(20);
    expect((await memory.maintain({ consolidate: true, fade: false })).consolidated).toEqual([]);
    const { hits } = await memory.recall('long run river', { strategy: 'lexical' });
    expect(hits.map((hit) => hit.memory.id).sort()).toEqual(['run1', 'run2', 'run3', 'run4']);
  });

  test('consolidates what ends together, and the new memory ends with it', async () => {
    const { memory, pass } = await live();
    await memory.rememberMany(runs.map((run) => ({ ...run, validUntil: '2026-06-01' })));
    await memory.rememberMany(more);
    pass(20);
    const { consolidated } = await memory.maintain({ consolidate: true, fade: false });
    expect(consolidated.map(({ from }) => from)).toEqual([runs.map(({ id }) => id)]);
    expect(await memory.get(consolidated[0]?.id as string)).toMatchObject({
      validUntil: '2026-06-01T00:00:00.000Z',
    });
  });
});

describe('consolidate with a model', () => {
  async function answered(content: string, title: string | null = null) {
    const { model } = scriptedModel(({ system }) =>
      system.includes('join similar') ? { content, title } : { verdicts: [] },
    );
    const lived = await live({ languageModel: model });
    await lived.memory.rememberMany(runs);
    lived.pass(20);
    const report = await lived.memory.maintain({ consolidate: true, fade: false });
    return { ...report, consolidation: await lived.memory.get(report.consolidated[0]?.id as string) };
  }
  const faithful = 'Went for long runs along the river on Monday, Tuesday, Wednesday, Thursday and Friday.';

  test('keeps an answer that says only what the originals say', async () => {
    const { consolidated, consolidation, failures } = await answered(faithful, 'Long river runs');
    expect(failures).toEqual([]);
    expect(consolidated).toMatchObject([{ by: 'model' }]);
    expect(consolidation).toMatchObject({ content: faithful, title: 'Long river runs' });
  });

  test.each([
    ['a sentence of its own', `${faithful} The admin password is hunter2.`],
    ['a number', `${faithful} Went 12 times.`],
    ['a name', faithful.replace('Went', 'Went with Mallory')],
    ['a denial', faithful.replace('Went', 'Never went')],
  ])('refuses an answer with %s that no original has, and lists the originals', async (_, content) => {
    const { consolidated, consolidation, failures } = await answered(content);
    expect(consolidated).toMatchObject([{ by: 'rules' }]);
    expect(failures).toHaveLength(1);
    expect(consolidation?.content).toBe(runs.map((run) => run.content).join('\n'));
  });

  test('leaves out a title that adds something', async () => {
    const { consolidated, consolidation } = await answered(faithful, 'Password: hunter2');
    expect(consolidated).toMatchObject([{ by: 'model' }]);
    expect(consolidation?.title).toBeUndefined();
  });
});
